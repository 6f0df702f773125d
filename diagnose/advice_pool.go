package diagnose

import (
	"fmt"
	"strings"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// poolAdvice is about closes that follow idle age: stay below or look first,
// retry what still slips through, and tell who runs the path.
func (j *judgement) poolAdvice() []step {
	advice := j.clientAdvice()
	if proxy := j.proxyAdvice(); proxy != "" {
		advice = append(advice, next(proxy))
	}
	if j.facts.Age == AgeEarly {
		want := j.l.in.Spec.KeepAlive
		advice = append(advice, next(fmt.Sprintf("For the API's owner: the path ends idle connections before the %s that perch's config (`keep_alive: %s`) expects. Ask whether that is meant; if so, correct the config.%s %s",
			human(want), probes.Spoken(want), j.serverSetting(), j.untilThen())))
	}
	return advice
}

// untilThen says that a change in the client leaves this verdict as it is, and
// what tells of the client.
func (j *judgement) untilThen() string {
	path, matches := j.l.path(), "a keep_alive as the path has it"
	if !path.Unseen {
		matches = "keep_alive: " + probes.Spoken(path.Reckon().Timeout)
	}
	text := fmt.Sprintf("Until then (%s, or an API that keeps connections for %s) perch fails this probe, whatever the client does", matches, human(j.l.in.Spec.KeepAlive))
	if j.client != nil && j.client.band != nil {
		text += "; a client that is safe has no danger band"
	}
	return text + "."
}

// clientAdvice is what to change in the application's client, the best change
// first. It is never empty.
func (j *judgement) clientAdvice() []step {
	if j.l.in.Spec.GRPC != nil {
		return j.channelAdvice()
	}
	if j.client == nil {
		return []step{next(j.below("keep the client's longest idle time")), aside(j.commonClients())}
	}
	c, ok := clients.Lookup(j.client.decl.Kind)
	if !ok || j.limit() <= 0 || !j.client.bandKnown {
		return append([]step{next(j.below("keep " + j.client.name + "'s longest idle time"))}, j.retryAdvice()...)
	}
	advice := j.settings(c)
	prevents := len(advice) > 0
	if !prevents {
		advice = append(advice, next("leave "+c.Name+"'s idle limits as they are: it stops or looks before the path closes."))
	}
	retries := j.retryAdvice()
	if prevents && len(retries) > 0 && j.client.cover != probes.CoverUnsafe {
		retries[0].text = "also, for the closes that still cross a request, " + retries[0].text
	}
	advice = append(advice, retries...)
	if len(c.Settings.Caveats) > 0 {
		advice = append(advice, aside("Mind: "+strings.Join(c.Settings.Caveats, " ")))
	}
	return advice
}

// settings are the client's settings that are too long for the path, from old
// to new. An idle limit comes first: it keeps away from the close altogether.
// Looking first leaves the race that no look can see.
func (j *judgement) settings(c clients.Client) []step {
	decl, limit := j.client.decl, j.limit()
	var advice []step
	if stops := c.MaxIdle(decl, j.l.path().Advertised); tooLong(stops, c.Idle.Settable(limit)) {
		advice = append(advice, next(j.stopEarlier(c, stops)))
	}
	looks := c.ValidateAfter(decl)
	code := clients.Setting(c.Settings.Validate, limit)
	if code == "" || j.client.band == nil || !tooLong(looks, limit) {
		return advice
	}
	where := " where the client's connection manager is built"
	if strings.HasSuffix(code, ";") {
		where = ": call it on the connection manager that you already pass to setConnectionManager; a new one would have the default pool limits"
	}
	change := fmt.Sprintf("%s -> %s: `%s`%s.", lookText(looks), human(limit), lastStatement(code), where)
	const still = " A close that crosses the request slips through."
	if len(advice) > 0 {
		return append(advice, alternative("only look earlier, validate_after "+change+still))
	}
	return append(advice, next("set "+c.Name+"'s look before reuse (validate_after in perch's config) "+change+" "+j.because()+still))
}

// lastStatement is the one that changes what the others only make anew.
func lastStatement(code string) string {
	all := strings.Split(strings.TrimSuffix(code, ";"), "; ")
	return all[len(all)-1]
}

// stopEarlier lowers the client's idle limit, in its own syntax, and says what
// helps where it has no such setting.
func (j *judgement) stopEarlier(c clients.Client, now probes.Limit) string {
	limit := j.limit()
	if c.Settings.MaxIdle == "" {
		return fmt.Sprintf("%s: %s has no setting for how long a connection may be idle. %s", anew(c, limit), c.Name, j.because())
	}
	settable := limit
	if earlier := c.Idle.Settable(limit); earlier > 0 {
		settable = earlier
	}
	text := fmt.Sprintf("set %s's idle limit (max_idle in perch's config) %s -> %s", c.Name, limitText(now), human(settable))
	code := clients.Setting(c.Settings.MaxIdle, settable)
	if code == "" {
		return fmt.Sprintf("%s: %s's own setting counts whole seconds and cannot say %s. %s", anew(c, settable), c.Name, human(settable), j.because())
	}
	text += ": `" + code + "`"
	if c.Settings.SpringBoot[j.client.decl.WrappedBy] != "" {
		text += fmt.Sprintf(", in Spring Boot by the @Bean in docs/clients.md, under %s", c.Name)
	}
	text += ". " + j.because()
	if settable != limit {
		text += fmt.Sprintf(" It drops them up to one sweep late: hence %s.", human(settable))
	}
	return text
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

// lookText words a client's look before reuse as the config does, which has another word for none.
func lookText(l probes.Limit) string {
	if l.Mode == probes.LimitDefault || l.Mode == probes.LimitNone {
		return "never"
	}
	return limitText(l)
}

// because is what the limit follows from.
func (j *judgement) because() string {
	if path := j.l.path(); path.Unseen {
		return fmt.Sprintf("When it ended was not seen; what was idle for %s still worked.", human(path.Survived))
	}
	return "The path closes after " + j.sum() + "."
}

// sum is how the limit comes about, from what was measured.
func (j *judgement) sum() string {
	path := j.l.path()
	by := path.Reckon()
	text := human(path.Timeout) + " (measured"
	if human(by.Timeout) != human(path.Timeout) {
		text += ", taken as " + human(by.Timeout)
	}
	text += fmt.Sprintf("); less %s for round trip and ticks", human(by.Margin))
	if by.Spread > 0 {
		text += fmt.Sprintf(", less %s by which the closes differ", human(by.Spread))
	}
	if by.Timeout-by.Margin-by.Spread != by.Safe {
		text += ", rounded down"
	}
	return text + ": " + human(by.Safe)
}

// below says how low, and from what that follows.
func (j *judgement) below(what string) string {
	limit := j.limit()
	if idle := j.l.idle; limit <= 0 && idle.Died > 0 && idle.Survived == 0 {
		return fmt.Sprintf("%s below the %s that nothing survived; a ladder with shorter holds would tell how low.", what, human(idle.Died))
	}
	if limit <= 0 {
		return what + " below what was measured to survive; a longer ladder would tell how low."
	}
	return fmt.Sprintf("%s at or below %s. %s", what, human(limit), j.because())
}

// limit is the longest idle time that is safe on the measured path.
func (j *judgement) limit() time.Duration { return j.l.path().Safe() }

// commonClients tells what clients with their defaults would meet.
func (j *judgement) commonClients() string {
	var bands []string
	for _, decl := range clients.Common() {
		c, _ := clients.Lookup(decl.Kind)
		if band := clients.BandOn(decl, j.l.path()); band != nil {
			bands = append(bands, fmt.Sprintf("%s at %s", c.Name, bandText(*band)))
		}
	}
	if len(bands) == 0 {
		return "no client is declared; none of the known ones would use a closed connection here with its defaults."
	}
	return "no client is declared. With their defaults these would use a connection that is closed, or closing while the request travels: " + strings.Join(bands, "; ") + "."
}
