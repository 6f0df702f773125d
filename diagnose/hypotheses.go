package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// samePathWithin is how near in time another target must have answered to
// witness that the path was open.
const samePathWithin = time.Minute

// hypotheses rules on all six, each by measured values. What could not be
// measured stays open and says so.
func (j *judgement) hypotheses() []probes.Hypothesis {
	rule := func(id probes.HypothesisID, by func() (probes.Ruling, string)) probes.Hypothesis {
		ruled, evidence := by()
		return probes.Hypothesis{ID: id, Ruled: ruled, Evidence: evidence}
	}
	return []probes.Hypothesis{
		rule(probes.HypothesisAPIDown, j.apiDown),
		rule(probes.HypothesisPathBlocks, j.pathBlocks),
		rule(probes.HypothesisOwnPod, j.ownPod),
		rule(probes.HypothesisStalePool, j.stalePool),
		rule(probes.HypothesisRateLimit, j.rateLimit),
		rule(probes.HypothesisRetryGap, j.retryGap),
	}
}

const nothingMeasured = "the step did not run whole: nothing was measured"

func (j *judgement) apiDown() (probes.Ruling, string) {
	switch {
	case j.at == nil:
		return probes.RuledOpen, nothingMeasured
	case answered(j.at):
		return probes.RuledOut, "a fresh connection " + answer(*j.at)
	case j.reused() && j.rung.control == nil:
		return probes.RuledOpen, "no control was made on a fresh connection"
	case j.reused():
		return probes.RuledOut, "a fresh connection " + j.since(*j.rung.control) + answer(*j.rung.control)
	case j.again != nil && answered(j.again) && j.at.Connection == probes.ConnectionControl:
		return probes.RuledOpen, fmt.Sprintf("the control failed (%s), and another fresh connection %s%s",
			Meaning(j.at.Reason), j.since(*j.again), answer(*j.again))
	case j.again != nil && answered(j.again):
		return probes.RuledOut, "a second fresh connection " + j.since(*j.again) + answer(*j.again)
	case j.answeredItself():
		return probes.RuledOut, "it " + answer(*j.at)
	case j.at.Reason == probes.ReasonCertificate:
		// Something stands there and speaks TLS; that it is the API is not proven.
		return probes.RuledOpen, "the peer answered the handshake, with a certificate that could not be verified: no request was sent"
	case j.again != nil:
		return probes.RuledIn, fmt.Sprintf("two fresh connections failed: %s, then %s",
			Meaning(j.at.Reason), Meaning(j.again.Reason))
	}
	return probes.RuledIn, fmt.Sprintf("a fresh connection failed after %s: %s", human(j.at.Elapsed), Meaning(j.at.Reason))
}

// answeredItself reports whether the API gave a whole answer that only means
// something else than "down".
func (j *judgement) answeredItself() bool {
	switch j.at.Reason {
	case probes.ReasonRateLimited, probes.ReasonUnauthorized, probes.ReasonRedirected,
		probes.ReasonStatus, probes.ReasonSlow, probes.ReasonExpectation, probes.ReasonTooLarge:
		return true
	default:
		return false
	}
}

// since words how long after the deciding attempt another one started.
func (j *judgement) since(a probes.Attempt) string {
	gap := a.Started.Sub(endOf(j.rung.obs, *j.at))
	if a.Started.IsZero() || gap < 0 {
		return ""
	}
	return human(gap) + " later "
}

func (j *judgement) pathBlocks() (probes.Ruling, string) {
	a := j.at
	switch {
	case a == nil:
		return probes.RuledOpen, nothingMeasured
	case j.rung.obs.Path.TCPEnds == probes.TCPEndsBeforePeer:
		return probes.RuledOpen, "TCP ends before the API (" + j.via() + "): acknowledgements and closes are not the API's own"
	case a.Reason == probes.ReasonBlackhole && a.RequestBytes == 0:
		return probes.RuledIn, "TCP keep-alive packets got no answer while the connection was idle"
	case a.Reason == probes.ReasonBlackhole:
		return probes.RuledIn, fmt.Sprintf("nothing acknowledged the %d bytes sent, for %s", a.RequestBytes, human(a.Elapsed))
	case a.Reason == probes.ReasonConnectTimeout:
		return j.connectBlocked()
	case a.Status > 0 && a.Reason != probes.ReasonIdleBytes:
		return probes.RuledOut, "the peer " + answer(*a)
	case a.ResponseBytes > 0 && partly(a.Reason):
		return probes.RuledOut, fmt.Sprintf("the peer answered %d bytes", a.ResponseBytes)
	case a.RequestBytesAcked != nil && a.RequestBytes > 0 && *a.RequestBytesAcked >= a.RequestBytes:
		return probes.RuledOut, fmt.Sprintf("the peer acknowledged all %d of our bytes", a.RequestBytes)
	}
	return probes.RuledOpen, j.unacknowledged()
}

// partly reports whether the answer began, or was something else than HTTP.
func partly(r probes.Reason) bool {
	return r == probes.ReasonPartialHead || r == probes.ReasonPartialBody || r == probes.ReasonBadResponse
}

// connectBlocked rules on a connect that timed out by the other targets.
func (j *judgement) connectBlocked() (probes.Ruling, string) {
	end := endOf(j.rung.obs, *j.at)
	var names []string
	for _, o := range j.l.in.OtherAnswered {
		if o.At.Sub(end).Abs() <= samePathWithin && !slices.Contains(names, o.Target) {
			names = append(names, o.Target)
		}
	}
	if len(names) == 0 {
		return probes.RuledOpen, fmt.Sprintf("no connection within %s, and no other target answered within a minute of it", human(j.at.Elapsed))
	}
	return probes.RuledIn, fmt.Sprintf("no connection within %s, while %s answered", human(j.at.Elapsed), strings.Join(names, ", "))
}

// unacknowledged says what is known where the acknowledgement does not decide.
func (j *judgement) unacknowledged() string {
	a := j.at
	var text string
	switch {
	case a.RequestBytes == 0:
		text = "no request byte was sent"
	case a.RequestBytesAcked == nil:
		text = fmt.Sprintf("whether the peer acknowledged our %d bytes is not known", a.RequestBytes)
	default:
		text = fmt.Sprintf("the peer acknowledged %d of our %d bytes", *a.RequestBytesAcked, a.RequestBytes)
	}
	if c := j.rung.obs.Close; j.reused() && c != nil && c.How != probes.HowSilent {
		text += fmt.Sprintf("; its %s had come after %s idle", wordOf(c.How), human(c.Age))
	}
	if j.reused() && answered(j.rung.control) {
		text += "; the same path carried a fresh connection"
	}
	return text
}

func (j *judgement) via() string {
	if len(j.rung.obs.Path.Via) == 0 {
		return "by its round trip"
	}
	return strings.Join(j.rung.obs.Path.Via, ", ")
}

func (j *judgement) ownPod() (probes.Ruling, string) {
	a := j.at
	switch {
	case a == nil:
		return probes.RuledOpen, nothingMeasured
	case !a.DelayKnown:
		return probes.RuledOpen, "perch's own delay could not be measured here"
	case j.facts.Delayed:
		return probes.RuledIn, fmt.Sprintf("perch itself was delayed by %s, and the failure took %s", human(j.delay()), human(a.Elapsed))
	case a.Reason == probes.ReasonConnectFailed:
		return probes.RuledOpen, fmt.Sprintf("perch itself was delayed by at most %s; whether ports or descriptors ran out is not measured", human(a.Delay))
	case a.Delay*2 <= max(a.Elapsed, ownDelay):
		return probes.RuledOut, fmt.Sprintf("perch itself was delayed by at most %s", human(a.Delay))
	}
	return probes.RuledOpen, fmt.Sprintf("perch itself was delayed by %s, and the attempt took %s: too near to tell", human(a.Delay), human(a.Elapsed))
}

func (j *judgement) stalePool() (probes.Ruling, string) {
	switch {
	case j.at == nil:
		return probes.RuledOpen, nothingMeasured
	case !j.reused() && answered(j.at):
		return probes.RuledOpen, "no connection was held"
	case !j.reused():
		return probes.RuledOut, "a fresh connection failed too: " + Meaning(j.at.Reason)
	case !answered(j.rung.control):
		return probes.RuledOpen, "without a control, a dead connection and a dead service look the same"
	case !slices.Contains(unanswered(), j.at.Reason):
		return probes.RuledOpen, "the idle connection carried an answer: " + Meaning(j.at.Reason)
	}
	if why := j.notIdleness(); why != "" {
		return probes.RuledOut, why
	}
	died := j.rung.age()
	if v := j.client; v != nil {
		if clients.Holds(v.band, died) || clients.Holds(v.band, j.rung.reuseAge()) {
			return probes.RuledIn, fmt.Sprintf("it ended at %s idle, and %s uses connections that are idle for %s", human(died), v.name, bandText(*v.band))
		}
		return probes.RuledOpen, fmt.Sprintf("it ended at %s idle, and %s has %s", human(died), v.name, noBand(v.band))
	}
	return probes.RuledIn, fmt.Sprintf("it ended at %s idle, and a fresh connection worked", human(died))
}

// notIdleness says why the end of the connection did not follow its idle age;
// empty where it may have.
func (j *judgement) notIdleness() string {
	switch {
	case j.rule.Diagnosis == probes.DiagnosisMassClose:
		return "connections of different idle ages were closed within " + human(oneMoment) + " of each other"
	case j.rule.Diagnosis != probes.DiagnosisUndeclaredClose:
		return ""
	case j.facts.Instant:
		return "it was closed " + human(j.rung.age()) + " after its answer: too soon for an idle timeout"
	case j.facts.Age == AgeEarly && j.facts.Early == EarlyOutlived:
		return fmt.Sprintf("it ended at %s idle, and another connection worked after %s", human(j.rung.age()), human(j.l.idle.Survived))
	}
	return "the connection was alive: it " + answer(*j.at)
}

// bandText words a danger band.
func bandText(b probes.Band) string {
	if b.Open {
		return human(b.From) + " and longer"
	}
	return human(b.From) + " to " + human(b.To)
}

func noBand(b *probes.Band) string {
	if b == nil {
		return "no danger band here: it stops or looks before the path closes"
	}
	return "its danger band at " + bandText(*b)
}

func (j *judgement) rateLimit() (probes.Ruling, string) {
	for _, a := range j.rung.obs.Attempts {
		if a.Status == 429 || a.Reason == probes.ReasonRateLimited {
			return probes.RuledIn, "the API answered 429" + waitText(a.RetryAfter) + "; " + j.share()
		}
		if a.RetryAfter > 0 {
			return probes.RuledIn, fmt.Sprintf("the API answered %d%s; %s", a.Status, waitText(a.RetryAfter), j.share())
		}
	}
	if j.at == nil {
		return probes.RuledOpen, nothingMeasured
	}
	if j.l.in.Budget.LimitPerSecond <= 0 {
		return probes.RuledOpen, "no 429; the share in use is not known"
	}
	return probes.RuledOut, "no 429; " + j.share()
}

func waitText(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return " and asked to wait " + human(d)
}

// share words how much of perch's part of the rate limit was in use, and the
// budget as it is enforced: so many in any window of max(1 s, 2/rate). At 1/s
// two in one second are within it.
func (j *judgement) share() string {
	b := j.l.in.Budget
	if b.LimitPerSecond <= 0 {
		return "the share in use is not known"
	}
	window := max(1, 2/b.LimitPerSecond)
	const rounding = 1e-6
	allowed := math.Floor(b.LimitPerSecond*window + rounding)
	rule := "its budget is " + trim(b.LimitPerSecond, 2) + "/s"
	if window > 1 || allowed < b.LimitPerSecond {
		rule = fmt.Sprintf("its budget of %s/s allows %.0f in any %s", trim(b.LimitPerSecond, 2), allowed, human(time.Duration(window*float64(time.Second))))
	}
	if b.Requests == 1 {
		return "perch sent 1 request; " + rule
	}
	return fmt.Sprintf("perch sent %d requests, at most %s in a second; %s", b.Requests, trim(b.PeakPerSecond, 1), rule)
}

func (j *judgement) retryGap() (probes.Ruling, string) {
	v := j.client
	switch {
	case j.at == nil:
		return probes.RuledOpen, nothingMeasured
	case v == nil:
		return probes.RuledOpen, "no client is declared"
	case !repeatable(j.at.Reason):
		return probes.RuledOpen, "not a failure that sending again would help: " + Meaning(j.at.Reason)
	case v.result == clients.Noticed:
		return probes.RuledOut, fmt.Sprintf("%s %s: nothing to retry", v.name, v.text)
	case v.result == clients.Retried:
		return probes.RuledOut, fmt.Sprintf("%s %s: its own automatic retry hides it, no retry layer has to", v.name, v.text)
	case v.cover == probes.CoverUncovered:
		return probes.RuledIn, j.gapText()
	case v.cover == probes.CoverCovered:
		return probes.RuledOut, fmt.Sprintf("the retry list covers %s for %s", v.entry, j.method())
	case v.cover == probes.CoverUnsafe:
		return probes.RuledOut, fmt.Sprintf("the retry list covers %s, though a %s may have been executed", v.entry, j.method())
	case v.decl.Retry == nil:
		return probes.RuledOpen, "no retry policy is declared for the client"
	}
	return probes.RuledOpen, fmt.Sprintf("what %s does with this is not known", v.name)
}

// gapText says why the declared policy does not retry.
func (j *judgement) gapText() string {
	v := j.client
	policy := v.decl.Retry
	switch {
	case policy != nil && policy.Attempts == 1:
		return "the retry policy makes one attempt only"
	case v.entry == "":
		return fmt.Sprintf("%s %s: no error that a retry could see", v.name, v.text)
	}
	layer := ""
	if policy != nil && policy.Layer != "" {
		layer = fmt.Sprintf(", which is what the layer %s sees", policy.Layer)
	}
	return fmt.Sprintf("the retry list does not hold %s%s", v.entry, layer)
}
