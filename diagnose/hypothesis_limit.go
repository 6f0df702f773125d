package diagnose

import (
	"fmt"
	"math"
	"strings"
	"time"

	"perch.example/probes"
)

// rateLimit is ruled by what the API itself said, and says how much of perch's
// part of its limit was in use.
func (j *judgement) rateLimit() (probes.Ruling, string) {
	answers := 0
	for _, a := range j.attempts() {
		if a.Status == 429 || a.Reason == probes.ReasonRateLimited {
			return probes.RuledIn, "the API answered " + exhaustedOr429(a) + waitText(a.RetryAfter) + "; " + j.share()
		}
		if a.RetryAfter > 0 {
			return probes.RuledIn, fmt.Sprintf("the API answered %s%s; %s", a.Answer(), waitText(a.RetryAfter), j.share())
		}
		if a.Calmed() != "" {
			return j.calmed(a)
		}
		if a.Status > 0 {
			answers++
		}
	}
	none := "perch met no 429"
	switch of := j.ofStep(); {
	case answers == 1:
		none += " in the 1 answer of " + of
	case answers > 1:
		none += fmt.Sprintf(" in the %d answers of %s", answers, of)
	}
	none += "; "
	if j.l.in.Budget.LimitPerSecond <= 0 {
		return probes.RuledOpen, none + j.share()
	}
	return probes.RuledOut, none + strings.Replace(j.share(), "perch sent", "it sent", 1)
}

// calmed is about a peer that said ENHANCE_YOUR_CALM: it takes what it gets for too
// much. gRPC's servers say it of PINGs, too, which are no calls.
func (j *judgement) calmed(a probes.Attempt) (probes.Ruling, string) {
	if a.Goaway.TooManyPings() {
		return probes.RuledOpen, "the server said ENHANCE_YOUR_CALM of PINGs (too_many_pings), not of calls; " + j.share()
	}
	return probes.RuledIn, "the server said " + a.Calmed() + " ENHANCE_YOUR_CALM: it takes what it gets for too much; " + j.share()
}

// attempts are all of the step's: of a burst, whose calls are judged one by one, the whole burst's.
func (j *judgement) attempts() []probes.Attempt {
	if j.l.in.whole != nil {
		return j.l.in.whole
	}
	return j.rung.obs.Attempts
}

// ofStep names what was judged, beside the run that it is a part of.
func (j *judgement) ofStep() string {
	if j.rung.obs.Kind == probes.KindIdle {
		return "this rung"
	}
	return "this probe"
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
		return "perch sent 1 request in this run; " + rule
	}
	return fmt.Sprintf("perch sent %d requests in this run, at most %s in a second; %s", b.Requests, trim(b.PeakPerSecond, 1), rule)
}

// exhaustedOr429 is how an answer says that too much is sent.
func exhaustedOr429(a probes.Attempt) string {
	if a.GRPC != nil {
		return a.Answer()
	}
	return "429"
}
