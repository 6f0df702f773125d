package diagnose

import (
	"fmt"
	"strings"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// poolAdvice is about closes that follow idle age: look first or stay below,
// retry what still slips through, and tell who runs the path.
func (j *judgement) poolAdvice() []string {
	advice := j.clientAdvice()
	advice[0] = "First: " + advice[0]
	if j.facts.Age == AgeEarly {
		advice = append(advice, fmt.Sprintf("For the API's owner: the path ends idle connections before the %s that keep_alive expects. Ask whether that is meant; if so, correct keep_alive.",
			human(j.l.in.Spec.KeepAlive)))
	}
	return advice
}

// clientAdvice is what to change in the application's client, the best change
// first. It is never empty.
func (j *judgement) clientAdvice() []string {
	if j.client == nil {
		return append([]string{j.below("keep the client's longest idle time") + "."}, j.commonClients()...)
	}
	c, ok := clients.Lookup(j.client.decl.Kind)
	if !ok || j.limit() <= 0 {
		return append([]string{j.below("keep "+j.client.name+"'s longest idle time") + "."}, j.retryAdvice()...)
	}
	advice := j.settings(c)
	if len(advice) == 0 {
		advice = append(advice, withCaveats("leave "+c.Name+"'s idle limits as they are: it stops or looks before the path closes.", c))
	}
	return append(advice, j.retryAdvice()...)
}

// settings are the client's settings that are too long for the path, from old
// to new. Looking first is the change of one number that the application has
// already; an idle limit keeps away from the close altogether.
func (j *judgement) settings(c clients.Client) []string {
	decl, limit := j.client.decl, j.limit()
	why := j.because()
	var advice []string
	looks := c.ValidateAfter(decl)
	if code := clients.Setting(c.Settings.Validate, limit); code != "" && j.client.band != nil && tooLong(looks, limit) {
		advice = append(advice, fmt.Sprintf("%s's validate_after %s -> %s: `%s`. %s. A close that crosses the request still slips through.",
			c.Name, limitText(looks), human(limit), code, why))
	}
	stops := c.MaxIdle(decl, j.l.path().Advertised)
	if c.Settings.MaxIdle == "" || !tooLong(stops, limit) {
		return advice
	}
	text := fmt.Sprintf("%s's max_idle %s -> %s", c.Name, limitText(stops), human(limit))
	if code := clients.Setting(c.Settings.MaxIdle, limit); code != "" {
		text += ": `" + code + "`"
	} else {
		text += " (its own setting counts whole seconds and cannot say that)"
	}
	if len(advice) > 0 {
		text = "Or " + text + ": it then uses no connection that is near its end."
	} else {
		text += ". " + why + "."
	}
	return append(advice, withCaveats(text, c))
}

// withCaveats ends an advice with what its client's settings do not do.
func withCaveats(text string, c clients.Client) string {
	return strings.Join(append([]string{text}, c.Settings.Caveats...), " ")
}

// tooLong reports whether a limit lets a connection grow older than safe.
func tooLong(l probes.Limit, safe time.Duration) bool {
	switch l.Mode {
	case probes.LimitAlways:
		return false
	case probes.LimitAfter:
		return l.After > safe
	case probes.LimitDefault, probes.LimitNone:
		return true
	}
	return true
}

// limitText words a limit as the config does.
func limitText(l probes.Limit) string {
	switch l.Mode {
	case probes.LimitAfter:
		return human(l.After)
	case probes.LimitAlways:
		return "always"
	case probes.LimitDefault, probes.LimitNone:
		return "none"
	}
	return "none"
}

// because is what the limit follows from.
func (j *judgement) because() string {
	return fmt.Sprintf("The path closes after %s (measured); the rest is a margin for round trip and ticks", human(j.l.path().Timeout))
}

// below says how low, and from what that follows.
func (j *judgement) below(what string) string {
	limit := j.limit()
	if limit <= 0 {
		return what + " below what was measured to survive; a longer ladder would tell how low"
	}
	return fmt.Sprintf("%s at or below %s, which is the measured %s less a margin for round trip and ticks",
		what, human(limit), human(j.l.path().Timeout))
}

// limit is the longest idle time that is safe on the measured path.
func (j *judgement) limit() time.Duration { return j.l.path().Safe() }

// retryAdvice names the missing entry, or warns of one that goes too far. The
// client cannot tell a request that was never read from one that was read and
// dropped: both are one error.
func (j *judgement) retryAdvice() []string {
	v := j.client
	switch {
	case v.entry == "" || v.cover == probes.CoverCovered:
		return nil
	case v.cover == probes.CoverUnsafe:
		return []string{fmt.Sprintf("Then restrict `%s` in the retry list to idempotent methods: a %s may have been executed already.", v.entry, j.method())}
	}
	layer := ""
	if v.decl.Retry != nil && v.decl.Retry.Layer != "" {
		layer = fmt.Sprintf(" (the layer %s sees this one)", v.decl.Retry.Layer)
	}
	return []string{fmt.Sprintf("Then add `%s` to the retry list%s, for idempotent methods only: %s", v.entry, layer, j.executed())}
}

// executed says whether this request, and others with the same error, may have
// been executed.
func (j *judgement) executed() string {
	if j.at.Reason.Resend() == probes.ResendSafe {
		return "this request was never accepted, but the same error also follows requests that the server had read and may have executed."
	}
	return "the request may have been executed."
}

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
	return []string{
		text + " Looking at the connection before use does not help: nothing was sent when it was forgotten.",
		"Then repeat only what is idempotent: where only the acknowledgements were lost, the request has been executed.",
	}
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

// commonClients tells what clients with their defaults would meet.
func (j *judgement) commonClients() []string {
	var bands []string
	for _, decl := range clients.Common() {
		c, _ := clients.Lookup(decl.Kind)
		if band := clients.BandOn(decl, j.l.path()); band != nil {
			bands = append(bands, fmt.Sprintf("%s at %s", c.Name, bandText(*band)))
		}
	}
	if len(bands) == 0 {
		return []string{"No client is declared; none of the known ones would use a closed connection here with its defaults."}
	}
	return []string{"No client is declared. With their defaults these would use a connection that is closed already: " + strings.Join(bands, "; ") + "."}
}
