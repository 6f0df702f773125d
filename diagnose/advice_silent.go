package diagnose

import (
	"fmt"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// silentAdvice is about a path that forgets: looking cannot help, only packets
// that keep the connection known, or not being idle for so long.
func (j *judgement) silentAdvice() []step {
	advice := j.silentChange()
	bound := j.l.path().Timeout
	if survived := j.l.idle.Survived; survived > 0 && survived < bound {
		advice[0].text += fmt.Sprintf(" The real bound lies between %s, which worked, and %s.", human(survived), human(bound))
	}
	advice[0].text += " Looking at the connection before use does not help: nothing was sent when it was forgotten."
	advice = append(advice, next("repeat only what is idempotent: where only the acknowledgements were lost, the request has been executed."))
	if proxy := j.proxyAdvice(); proxy != "" {
		advice = append(advice, next(proxy))
	}
	return advice
}

// silentChange is what to change in the client, from old to new; either of two
// ways will do. It is never empty.
func (j *judgement) silentChange() []step {
	v, limit, bound := j.client, j.limit(), human(j.l.path().Timeout)
	if v == nil && limit > 0 {
		return []step{next(fmt.Sprintf("keep the longest idle time at or below %s, or send TCP keep-alive at least that often.", human(limit)))}
	}
	if v == nil || limit <= 0 {
		return []step{next(fmt.Sprintf("keep the longest idle time below %s, or send TCP keep-alive more often than that.", bound))}
	}
	c, ok := clients.Lookup(v.decl.Kind)
	if !ok {
		return []step{next(fmt.Sprintf("keep %s's longest idle time at or below %s.", v.name, human(limit)))}
	}
	packets := probes.Limit{Mode: probes.LimitNone}
	if v.decl.TCPKeepAlive > 0 {
		packets = probes.Limit{Mode: probes.LimitAfter, After: v.decl.TCPKeepAlive}
	}
	stops := c.MaxIdle(v.decl, j.l.path().Advertised)
	reach := j.rung.obs.Path.TCPEnds != probes.TCPEndsBeforePeer // whether its TCP keep-alive goes as far as the API
	if !tooLong(stops, limit) {
		return []step{next(fmt.Sprintf("leave %s's max_idle of %s as it is: it stops before the path forgets, at %s.", v.name, limitText(stops), bound))}
	}
	tried := !tooLong(packets, limit) // perch's connections carried them, and were forgotten
	var ways []step
	forgets := fmt.Sprintf(" The path forgets what is idle for %s.", bound)
	if tried && reach {
		forgets += fmt.Sprintf(" TCP keep-alive every %s did not keep it: the path does not count such packets, or TCP ends before it.", limitText(packets))
	}
	if code := clients.Setting(c.Settings.MaxIdle, limit); code != "" {
		ways = append(ways, next(fmt.Sprintf("set %s's idle limit (max_idle in perch's config) %s -> %s: `%s`.%s", v.name, limitText(stops), human(limit), code, forgets)))
	}
	if code := clients.Setting(c.Settings.TCPKeepAlive, limit); code != "" && reach && !tried {
		text := fmt.Sprintf("set %s's tcp_keep_alive %s -> %s: `%s`.", v.name, limitText(packets), human(limit), code)
		if len(ways) > 0 {
			return append(ways, alternative(text))
		}
		return []step{next(text + forgets)}
	}
	if len(ways) == 0 {
		return []step{next(fmt.Sprintf("%s: %s has no setting that keeps it below the %s after which the path forgets.", anew(c, limit), v.name, bound))}
	}
	return ways
}

// setting writes one of the declared client's settings in parentheses; empty
// where there is none. A zero duration leaves the placeholder to the reader.
func (j *judgement) setting(pick func(clients.Settings) string, d time.Duration) string {
	if j.client == nil {
		return ""
	}
	c, ok := clients.Lookup(j.client.decl.Kind)
	template := pick(c.Settings)
	if !ok || template == "" {
		return ""
	}
	if d <= 0 {
		d = max(j.l.in.Spec.Timeouts.Response, time.Second)
	}
	if s := clients.Setting(template, d); s != "" {
		return " (`" + s + "`)"
	}
	return ""
}
