package diagnose

import (
	"fmt"
	"slices"

	"perch.example/probes"
)

// hypotheses rules on all six, each by measured values. What could not be
// measured stays open and says how far it came.
func (j *judgement) hypotheses() []probes.Hypothesis {
	var six []probes.Hypothesis
	for _, h := range []struct {
		id probes.HypothesisID
		by func() (probes.Ruling, string)
	}{
		{probes.HypothesisAPIDown, j.apiDown},
		{probes.HypothesisPathBlocks, j.pathBlocks},
		{probes.HypothesisOwnPod, j.ownPod},
		{probes.HypothesisStalePool, j.stalePool},
		{probes.HypothesisRateLimit, j.rateLimit},
		{probes.HypothesisRetryGap, j.retryGap},
	} {
		rule := h.by
		if !j.tried() {
			rule = j.untried
		}
		ruled, evidence := rule()
		six = append(six, probes.Hypothesis{ID: h.id, Ruled: ruled, Evidence: evidence})
	}
	return six
}

// tried reports whether an attempt was made whole, so that there is something
// to rule by.
func (j *judgement) tried() bool {
	return j.at != nil && (answered(j.at) || slices.Contains(failures(), j.facts.Reason))
}

// untried rules nothing, and says how far the step came.
func (j *judgement) untried() (probes.Ruling, string) {
	n := len(j.rung.obs.Attempts)
	if n == 1 {
		return probes.RuledOpen, "1 request was made: " + Meaning(j.facts.Reason)
	}
	return probes.RuledOpen, fmt.Sprintf("%d requests were made: %s", n, Meaning(j.facts.Reason))
}

// beside is an exchange on another fresh connection that worked beside the one
// that decides: the control, or the second try. nil: none did.
func (j *judgement) beside() *probes.Attempt {
	switch {
	case j.reused() && answered(j.rung.control):
		return j.rung.control
	case answered(j.again):
		return j.again
	}
	return nil
}

// besideText words it: "a fresh connection 3 ms later answered 200"; empty:
// there was none.
func (j *judgement) besideText() string {
	a := j.beside()
	if a == nil {
		return ""
	}
	text := "a fresh connection " + j.since(*a)
	if a.Connection == probes.ConnectionReused { // a burst's
		text = "another call " + j.since(*a)
	}
	if a.Status == 0 {
		return text + "was answered"
	}
	return text + "answered " + a.Answer()
}

// since words how long after the deciding attempt another one started.
func (j *judgement) since(a probes.Attempt) string {
	gap := a.Started.Sub(endOf(j.rung.obs, *j.at))
	if a.Started.IsZero() || gap < 0 {
		return ""
	}
	return human(gap) + " later "
}

// freshly words what a fresh connection failed with, and after how long.
func freshly(a probes.Attempt) string {
	if a.Status > 0 {
		return answer(a)
	}
	return "failed after " + human(a.Elapsed) + ": " + Meaning(a.Reason)
}
