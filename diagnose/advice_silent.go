package diagnose

import (
	"fmt"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// silentAdvice is about a path that forgets: looking cannot help, only packets
// that keep the connection known, or not being idle for so long.
func (j *judgement) silentAdvice() []string {
	bound, limit := j.l.path().Timeout, j.limit()
	text := fmt.Sprintf("First: send TCP keep-alive more often than every %s%s, or keep the longest idle time below it%s.", human(bound),
		j.setting(func(s clients.Settings) string { return s.TCPKeepAlive }, limit),
		j.setting(func(s clients.Settings) string { return s.MaxIdle }, limit))
	text += j.silentChanges()
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

// silentChanges are the declared client's settings that are too long, from old
// to new; either will do.
func (j *judgement) silentChanges() string {
	v, limit := j.client, j.limit()
	if v == nil || limit <= 0 {
		return ""
	}
	c, ok := clients.Lookup(v.decl.Kind)
	packets := probes.Limit{Mode: probes.LimitNone}
	if v.decl.TCPKeepAlive > 0 {
		packets = probes.Limit{Mode: probes.LimitAfter, After: v.decl.TCPKeepAlive}
	}
	stops := c.MaxIdle(v.decl, j.l.path().Advertised)
	if !ok || !tooLong(packets, limit) || !tooLong(stops, limit) {
		return fmt.Sprintf(" %s does so already.", v.name)
	}
	if c.Settings.MaxIdle == "" && c.Settings.TCPKeepAlive == "" {
		return fmt.Sprintf(" %s has no setting for either: %s.", v.name, anew(c, limit))
	}
	return fmt.Sprintf(" For %s that is tcp_keep_alive %s -> %s, or max_idle %s -> %s.",
		v.name, limitText(packets), human(limit), limitText(stops), human(limit))
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
