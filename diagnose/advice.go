package diagnose

import (
	"fmt"
	"strings"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// advice says what a reader should do, by diagnosis, with the numbers that it
// follows from.
func (j *judgement) advice() []string {
	switch j.rule.Diagnosis {
	case probes.DiagnosisEarlyClose, probes.DiagnosisStaleConnection:
		return j.poolAdvice()
	case probes.DiagnosisSilentDrop:
		return j.silentAdvice()
	case probes.DiagnosisUndeclaredClose:
		return []string{
			"Limit how often or how long a connection is reused, and tell the API's owner: the answer before should have said Connection: close. Lowering the idle limit does not help, since idleness is not the cause.",
		}
	case probes.DiagnosisStalled:
		return []string{
			fmt.Sprintf("Set a response timeout%s: the idle connection took the request and stayed silent for %s.",
				j.setting(func(s clients.Settings) string { return s.Timeout }, 0), human(j.at.Elapsed)),
			"Repeat only what is idempotent: the request was taken and may still be running.",
		}
	case probes.DiagnosisProxyStale:
		return []string{"Lower the proxy's own idle timeout towards the API below the API's: the dead connection is the proxy's, not the application's." + j.meshHint()}
	case probes.DiagnosisMassClose:
		return []string{"Nothing: several connections were closed at one moment at different ages, as a reload, a deploy or a drain does."}
	case probes.DiagnosisNoKeepAlive:
		return []string{j.noKeepAliveAdvice()}
	default:
		return j.otherAdvice()
	}
}

// otherAdvice is about what has nothing to do with idle connections.
func (j *judgement) otherAdvice() []string {
	switch j.rule.Diagnosis {
	case probes.DiagnosisServiceDown, probes.DiagnosisUnreachable, probes.DiagnosisUnstable:
		return []string{"It is not the connection pool: a fresh connection failed as well. Stop looking there, and ask the API's owner or whoever runs the path."}
	case probes.DiagnosisCertificate:
		return []string{"Have the API's owner renew the certificate, or give perch and the application the right CA (tls.ca_file)."}
	case probes.DiagnosisRateLimited:
		return []string{"Lower what the application sends, or perch's part (share, every): " + j.share() + "."}
	case probes.DiagnosisUnauthorized:
		return []string{"Renew the credentials that perch sends, and see whether the application's have expired too."}
	case probes.DiagnosisContract:
		return []string{"Compare the answer with the probe's expectations: the API answers, but not what was agreed."}
	case probes.DiagnosisSlow:
		return []string{"The time is the API's or the path's, not the pool's: the connection was made and answered. Compare the phases."}
	case probes.DiagnosisOwnPod:
		return []string{"Give perch's pod more CPU, or look at what starves its node: this run says nothing of the API."}
	default:
		return nil
	}
}

// poolAdvice is about closes that follow idle age: stay below, look first, and
// retry what still slips through.
func (j *judgement) poolAdvice() []string {
	advice := j.clientAdvice()
	if j.facts.Age == AgeEarly {
		advice = append(advice, fmt.Sprintf("The path ends idle connections before the %s that keep_alive expects: ask its owner, or correct keep_alive.",
			human(j.l.in.Spec.KeepAlive)))
	}
	return advice
}

// clientAdvice is what to change in the application's client.
func (j *judgement) clientAdvice() []string {
	if j.client == nil {
		return append([]string{j.below("Keep the client's longest idle time") + "."}, j.commonClients()...)
	}
	c, ok := clients.Lookup(j.client.decl.Kind)
	if !ok {
		return []string{j.below("Keep the client's longest idle time") + "."}
	}
	limit := j.limit()
	stay := j.below("Keep " + c.Name + "'s longest idle time")
	if s := clients.Setting(c.Settings.MaxIdle, limit); s != "" && limit > 0 {
		stay += ": `" + s + "`"
	}
	advice := []string{stay + "."}
	if s := clients.Setting(c.Settings.Validate, limit); s != "" && limit > 0 && j.client.band != nil {
		advice = append(advice, fmt.Sprintf("Or let it look before each use from the same age on: `%s`. A close that crosses the request still slips through.", s))
	}
	advice = append(advice, c.Settings.Caveats...)
	return append(advice, j.retryAdvice()...)
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

// limit is the longest idle time that is safe: the earliest end less 10%, at
// least 100 ms and two round trips, and the spread of the ends (servers that
// look at a tick). Rounded down to what people write.
func (j *judgement) limit() time.Duration {
	path := j.l.path()
	margin := max(path.Timeout/10, 100*time.Millisecond, 2*path.Margin)
	if n := len(j.l.ends); n > 1 {
		margin += j.l.ends[n-1] - j.l.ends[0]
	}
	safe := max(path.Timeout-margin, path.Timeout/2)
	step := 10 * time.Millisecond
	switch {
	case safe >= 10*time.Second:
		step = time.Second
	case safe >= 500*time.Millisecond:
		step = 50 * time.Millisecond
	}
	return safe.Truncate(step)
}

// retryAdvice names the missing entry, or warns of one that goes too far. The
// client cannot tell a request that was never read from one that was read and
// dropped: both are one error.
func (j *judgement) retryAdvice() []string {
	v := j.client
	switch {
	case v.entry == "" || v.cover == probes.CoverCovered:
		return nil
	case v.cover == probes.CoverUnsafe:
		return []string{fmt.Sprintf("Restrict `%s` in the retry list to idempotent methods: a %s may have been executed already.", v.entry, j.method())}
	}
	layer := ""
	if v.decl.Retry != nil && v.decl.Retry.Layer != "" {
		layer = fmt.Sprintf(" (the layer %s sees this one)", v.decl.Retry.Layer)
	}
	return []string{fmt.Sprintf("Add `%s` to the retry list%s, for idempotent methods only: %s", v.entry, layer, j.executed())}
}

// executed says whether this request, and others with the same error, may have
// been executed.
func (j *judgement) executed() string {
	if j.at.Reason.Resend() == probes.ResendSafe {
		return "this request was never accepted, but the same error also follows requests that the server had read and may have executed."
	}
	return "the request may have been executed."
}

// silentAdvice is about a path that forgets: looking cannot help.
func (j *judgement) silentAdvice() []string {
	bound := j.l.path().Timeout
	text := fmt.Sprintf("Send TCP keep-alive more often than every %s%s, or keep the longest idle time below it%s.", human(bound),
		j.setting(func(s clients.Settings) string { return s.TCPKeepAlive }, j.limit()),
		j.setting(func(s clients.Settings) string { return s.MaxIdle }, j.limit()))
	if survived := j.l.idle.Survived; survived > 0 && survived < bound {
		text += fmt.Sprintf(" The real bound lies between %s, which worked, and %s.", human(survived), human(bound))
	}
	return []string{
		text,
		"Looking at the connection before use does not help: nothing was sent when it was forgotten.",
		"Repeat only what is idempotent: where only the acknowledgements were lost, the request has been executed.",
	}
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

func (j *judgement) noKeepAliveAdvice() string {
	p := j.at.Phases
	cost := p.DNS + p.Connect + p.TLS
	if cost <= 0 {
		return "The API ends each connection with its answer: every call pays for a new one."
	}
	return fmt.Sprintf("The API ends each connection with its answer: every call pays %s for a new one (name %s, connect %s, TLS %s).",
		human(cost), human(p.DNS), human(p.Connect), human(p.TLS))
}

func (j *judgement) meshHint() string {
	if j.l.in.Spec.Via == probes.ViaMesh {
		return " With Istio that is the DestinationRule's connectionPool.http.idleTimeout."
	}
	return ""
}
