package diagnose

import (
	"fmt"
	"strings"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// silentAdvice is about a path that forgets: looking cannot help, only packets
// that keep the connection known, or not being idle for so long.
func (j *judgement) silentAdvice() []string {
	text := "First: " + j.silentChange()
	bound := j.l.path().Timeout
	if survived := j.l.idle.Survived; survived > 0 && survived < bound {
		text += fmt.Sprintf(" The real bound lies between %s, which worked, and %s.", human(survived), human(bound))
	}
	advice := []string{
		text + " Looking at the connection before use does not help: nothing was sent when it was forgotten.",
		"Then repeat only what is idempotent: where only the acknowledgements were lost, the request has been executed.",
	}
	if proxy := j.proxyAdvice(); proxy != "" {
		advice = append(advice, proxy)
	}
	return advice
}

// silentChange is what to change in the client, from old to new; either of two
// ways will do.
func (j *judgement) silentChange() string {
	v, limit, bound := j.client, j.limit(), human(j.l.path().Timeout)
	if v == nil || limit <= 0 {
		return fmt.Sprintf("keep the longest idle time below %s, or send TCP keep-alive more often than that.", bound)
	}
	c, ok := clients.Lookup(v.decl.Kind)
	if !ok {
		return fmt.Sprintf("keep %s's longest idle time at or below %s.", v.name, human(limit))
	}
	packets := probes.Limit{Mode: probes.LimitNone}
	if v.decl.TCPKeepAlive > 0 {
		packets = probes.Limit{Mode: probes.LimitAfter, After: v.decl.TCPKeepAlive}
	}
	stops := c.MaxIdle(v.decl, j.l.path().Advertised)
	reach := j.rung.obs.Path.TCPEnds != probes.TCPEndsBeforePeer // whether its TCP keep-alive goes as far as the API
	switch {
	case !tooLong(stops, limit):
		return fmt.Sprintf("leave %s's max_idle of %s as it is: it stops before the path forgets, at %s.", v.name, limitText(stops), bound)
	case reach && !tooLong(packets, limit):
		return fmt.Sprintf("leave %s's tcp_keep_alive of %s as it is: the path forgets only what is silent for %s.", v.name, limitText(packets), bound)
	}
	var ways []string
	if code := clients.Setting(c.Settings.MaxIdle, limit); code != "" {
		ways = append(ways, fmt.Sprintf("max_idle %s -> %s: `%s`", limitText(stops), human(limit), code))
	}
	if code := clients.Setting(c.Settings.TCPKeepAlive, limit); code != "" && reach {
		ways = append(ways, fmt.Sprintf("tcp_keep_alive %s -> %s: `%s`", limitText(packets), human(limit), code))
	}
	if len(ways) == 0 {
		return fmt.Sprintf("%s has no setting that keeps it below the %s after which the path forgets: %s.", v.name, bound, anew(c, limit))
	}
	return fmt.Sprintf("%s's %s. The path forgets what is idle for %s.", v.name, strings.Join(ways, "; or "), bound)
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
