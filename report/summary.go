package report

import (
	"fmt"
	"time"

	"perch.example/probes"
)

// ladderSummary is an idle probe in one line: what the ladder measured, and
// what was expected.
func ladderSummary(v probeView) string {
	if !drawable(v) {
		return notHeld(v)
	}
	text := "held, nothing measured"
	if v.idle != nil {
		text = measured(*v.idle)
	}
	if keep := v.first().KeepAlive; keep > 0 {
		text += "; expected " + age(keep)
	}
	return text + unusedWords(v.outcomes)
}

// closesWords says how far apart the closes lie of which a ladder's sentence
// gives the earliest: the range is said once, there. Empty: there is no range.
func closesWords(v probeView) string {
	if v.idle == nil || v.idle.Measured <= 0 {
		return ""
	}
	var first, last time.Duration
	n := 0
	for _, o := range used(v.outcomes) {
		if o.Close == nil || o.Close.Age < v.idle.Survived || o.Diagnosis == probes.DiagnosisMassClose {
			continue // it did not follow idle age
		}
		if n == 0 || o.Close.Age < first {
			first = o.Close.Age
		}
		last = max(last, o.Close.Age)
		n++
	}
	if n < 2 || first == last {
		return ""
	}
	return fmt.Sprintf("; seen on %d connections, at most %s apart", n, latency(last-first))
}

// notHeld says why there is no ladder.
func notHeld(v probeView) string {
	o := v.first()
	for _, other := range v.outcomes {
		if rank(other.Verdict) > rank(o.Verdict) {
			o = other
		}
	}
	a := attempt(o, probes.ConnectionFresh)
	if a != nil && !a.OK() && a.Reason != probes.ReasonNoKeepAlive && !stopped(o) {
		return fmt.Sprintf("nothing was held, the warm-up failed: %s", result(a))
	}
	if o.Message != "" {
		return o.Message
	}
	return "nothing was held"
}

// notIdle is how soon after an answer a close has nothing to do with idleness:
// the answer should have announced it.
const notIdle = 100 * time.Millisecond

// measured says what a ladder found, in one sentence without its full stop.
func measured(r probes.IdleResult) string {
	var text string
	switch {
	case r.Measured > 0 && r.Measured < notIdle:
		text = "connections are closed " + age(r.Measured) + " after an answer" + closedHow(r.How)
	case r.Measured > 0:
		text = "the path closes idle connections after " + age(r.Measured) + closedHow(r.How)
		if r.Survived > 0 {
			text += "; " + age(r.Survived) + " still worked"
		}
	case r.Died > 0 && r.Survived >= r.Died: // holds that contradict each other: not idleness alone
		text = "some idle connections die" + diedHow(r.How) + " within " + age(r.Died) + ", others live for " + age(r.Survived)
	case r.Died > 0 && r.Survived > 0:
		text = "idle connections die" + diedHow(r.How) + " between " + age(r.Survived) + " and " + age(r.Died)
	case r.Died > 0:
		text = "idle connections die" + diedHow(r.How) + " within " + age(r.Died)
	case r.Survived > 0:
		text = "idle connections live for " + age(r.Survived) + " at least"
	default:
		text = "nothing was measured"
	}
	if r.Address.IsValid() {
		text = r.Address.String() + ": " + text
	}
	if r.Advertised > 0 {
		text += "; the answers advertise " + age(r.Advertised)
	}
	return text
}

func closedHow(h probes.HowClosed) string {
	if h == "" {
		return ""
	}
	return " (" + h.Words() + ")"
}

func diedHow(h probes.HowClosed) string {
	if h == probes.HowSilent {
		return " in silence"
	}
	return closedHow(h)
}

// ages names rungs: "1.5 s (fail) and 2.5 s (degraded)". The verdicts are said
// only where they differ.
func ages(outcomes []*probes.Outcome) string {
	mixed := false
	for _, o := range outcomes {
		mixed = mixed || o.Verdict != outcomes[0].Verdict
	}
	var names []string
	var seen = map[string]bool{}
	for _, o := range outcomes {
		name := idleAge(o)
		if mixed {
			name += " (" + string(o.Verdict) + ")"
		}
		if !seen[name] {
			names = append(names, name)
		}
		seen[name] = true
	}
	return listed(names)
}

// fasterThanARoundTrip is the incident's clue: a failure that took less than
// the way to the peer and back was not the peer's answer to this request.
func fasterThanARoundTrip(a *probes.Attempt) bool {
	acked := a.RequestBytesAcked != nil && *a.RequestBytesAcked > 0
	return a.Reason.Closed() && !acked && a.FasterThanRTT()
}

// wire says what the deciding attempt showed, with the evidence beside it.
func wire(a *probes.Attempt) string {
	if a.NoToken {
		return string(a.Reason) + ": there was no token, and nothing was sent"
	}
	text := string(a.Reason) + ": " + reasonWords(a.Reason)
	switch {
	case a.Elapsed <= 0:
	case a.Status != 0:
		text += fmt.Sprintf("; status %s after %s", a.Answer(), latency(a.Elapsed))
	default:
		text += "; it failed after " + latency(a.Elapsed)
	}
	if fasterThanARoundTrip(a) {
		text += ", faster than a round trip (" + latency(a.MinRTT) + "), so this was no answer to our request"
	}
	if a.RequestBytesAcked != nil && a.RequestBytes > 0 && a.Status == 0 {
		text += fmt.Sprintf("; %d of %d request bytes were acknowledged", *a.RequestBytesAcked, a.RequestBytes)
	}
	return text
}
