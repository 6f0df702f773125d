package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// poolAdvice is about closes that follow idle age: stay below or look first,
// retry what still slips through, and tell who runs the path.
func (j *judgement) poolAdvice() []string {
	advice := j.clientAdvice()
	advice[0] = "First: " + advice[0]
	if proxy := j.proxyAdvice(); proxy != "" {
		advice = append(advice, proxy)
	}
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
		advice = append(advice, "leave "+c.Name+"'s idle limits as they are: it stops or looks before the path closes.")
	}
	if len(c.Settings.Caveats) > 0 {
		advice = slices.Insert(advice, 1, "Mind: "+strings.Join(c.Settings.Caveats, " "))
	}
	return append(advice, j.retryAdvice()...)
}

// settings are the client's settings that are too long for the path, from old
// to new. An idle limit comes first: it keeps away from the close altogether.
// Looking first leaves the race that no look can see.
func (j *judgement) settings(c clients.Client) []string {
	decl, limit := j.client.decl, j.limit()
	var advice []string
	if stops := c.MaxIdle(decl, j.l.path().Advertised); tooLong(stops, c.Idle.Settable(limit)) {
		advice = append(advice, j.stopEarlier(c, stops))
	}
	looks := c.ValidateAfter(decl)
	code := clients.Setting(c.Settings.Validate, limit)
	if code == "" || j.client.band == nil || !tooLong(looks, limit) {
		return advice
	}
	text := fmt.Sprintf("%s's validate_after %s -> %s: `%s`. %s", c.Name, limitText(looks), human(limit), code, j.because())
	if len(advice) > 0 {
		text = fmt.Sprintf("Or only look earlier, validate_after %s -> %s: `%s`", limitText(looks), human(limit), code)
	}
	return append(advice, text+". A close that crosses the request still slips through.")
}

// stopEarlier lowers the client's idle limit, in its own syntax, and says what
// helps where it has no such setting.
func (j *judgement) stopEarlier(c clients.Client, now probes.Limit) string {
	limit := j.limit()
	if c.Settings.MaxIdle == "" {
		return fmt.Sprintf("%s has no setting for how long a connection may be idle: %s. %s.", c.Name, anew(c, limit), j.because())
	}
	if earlier := c.Idle.Settable(limit); earlier > 0 {
		limit = earlier
	}
	text := fmt.Sprintf("%s's max_idle %s -> %s", c.Name, limitText(now), human(limit))
	code := clients.Setting(c.Settings.MaxIdle, limit)
	if code == "" {
		return fmt.Sprintf("%s (its own setting counts whole seconds and cannot say that): %s. %s.", text, anew(c, limit), j.because())
	}
	text += ": `" + code + "`"
	if use := springUse(c.Settings.SpringBoot[j.client.decl.WrappedBy]); use != "" {
		text += ", used in Spring Boot by `" + use + "`"
	}
	return fmt.Sprintf("%s. %s.", text, j.because())
}

// springUse is the statement of a bean that uses the client: what is around it
// the application has already. Empty: there is no bean.
func springUse(bean string) string {
	_, use, _ := strings.Cut(bean, "return ")
	use, _, _ = strings.Cut(use, ";")
	return use
}

// anew says how a client whose settings cannot do it keeps off old connections.
func anew(c clients.Client, limit time.Duration) string {
	how := map[string]string{
		"requests":          " (a new Session)",
		"urllib3":           " (`PoolManager.clear()` before it)",
		"libcurl":           " (`CURLOPT_FRESH_CONNECT`)",
		"httpurlconnection": " (`disconnect()` after the last answer before the pause)",
		"jdk-httpclient":    " (a new HttpClient)",
	}[c.Kind]
	return fmt.Sprintf("let the first call after a pause of %s or more open a new connection%s", human(limit), how)
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
	return fmt.Sprintf("The path closes after %s (measured); %s leaves a margin", human(j.l.path().Timeout), human(j.limit()))
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
