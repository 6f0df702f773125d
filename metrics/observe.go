package metrics

import (
	"slices"
	"time"

	"perch.example/probes"
)

// Observe adds a run: its outcomes, its budget, its problems and itself.
func (m *Metrics) Observe(run probes.Run) { m.Whole(func() { m.observe(run) }) }

func (m *Metrics) observe(run probes.Run) {
	for _, outcomes := range byProbe(run.Outcomes) {
		m.observeProbe(outcomes, run.Finished)
	}
	for _, r := range run.Idle {
		m.observeIdle(r)
	}
	m.observeCertificates(run.Outcomes)
	m.observeRun(run)
}

// byProbe groups outcomes by target and probe, in the order of their coming.
func byProbe(outcomes []probes.Outcome) [][]probes.Outcome {
	index := map[string]int{}
	var groups [][]probes.Outcome
	for n := range outcomes {
		id := outcomes[n].ID()
		i, known := index[id]
		if !known { // most are alone: they are not copied
			index[id] = len(groups)
			groups = append(groups, outcomes[n:n+1:n+1])
			continue
		}
		groups[i] = append(groups[i], outcomes[n])
	}
	return groups
}

// observeProbe adds what one run found about one probe; there is at least one
// outcome.
func (m *Metrics) observeProbe(outcomes []probes.Outcome, finished time.Time) {
	target, probe := outcomes[0].Target, outcomes[0].Probe
	tried := false
	for _, o := range outcomes {
		m.vectors.outcomes.add(1, target, probe, string(verdictLabel(o.Verdict)))
		for _, a := range o.Attempts {
			m.observeAttempt(target, probe, a, finished)
			tried = true
		}
		if result := retryLabel(o.Retry.Result); result != "" {
			m.vectors.retries.add(1, target, probe, string(result))
		}
		m.observeHold(o)
		m.observeBurst(o)
		m.observePredictions(o)
	}
	if tried && !finished.IsZero() {
		m.vectors.lastRun.set(seconds(finished), target, probe)
	}
	if success, known := succeeded(outcomes); known {
		m.vectors.success.set(bit(success), target, probe)
	}
	m.observeFindings(outcomes)
	m.observeClient(outcomes)
	m.observeBlackbox(outcomes)
}

// succeeded says whether the application is served. Not known: nothing was
// judged.
func succeeded(outcomes []probes.Outcome) (success, known bool) {
	for _, o := range outcomes {
		switch o.Verdict {
		case probes.VerdictFail:
			return false, true
		case probes.VerdictPass, probes.VerdictDegraded:
			success, known = true, true
		default: // skipped or incomplete: says nothing
		}
	}
	return success, known
}

func (m *Metrics) observeAttempt(target, probe string, a probes.Attempt, finished time.Time) {
	on, of := string(a.Connection), exemplarOf(a, finished)
	failed := of
	if a.Reason == probes.ReasonOK {
		failed = exemplar{} // of what works, the durations have them
	}
	m.vectors.attempts.addOne(failed, target, probe, on, string(reasonLabel(a.Reason)))
	if a.Status != 0 {
		m.vectors.attemptDuration.observe(a.Elapsed.Seconds(), of, target, probe, on)
	}
	for _, p := range phasesOf(a) {
		if p.took > 0 {
			m.vectors.phaseDuration.observe(p.took.Seconds(), of, target, probe, p.name)
		}
	}
}

// observeFindings sets what was found to 1. The rest becomes 0 only when
// something was judged: a run that was cut short has not found the fault gone.
func (m *Metrics) observeFindings(outcomes []probes.Outcome) {
	target, probe := outcomes[0].Target, outcomes[0].Probe
	_, judged := succeeded(outcomes)
	can := m.specs[outcomes[0].ID()].can.diagnoses
	for _, d := range probes.Diagnoses() {
		found := slices.ContainsFunc(outcomes, func(o probes.Outcome) bool { return o.Diagnosis == d })
		if found || judged && slices.Contains(can, d) {
			m.vectors.finding.set(bit(found), target, probe, string(d))
		}
	}
}

// observeCertificates keeps the earliest expiry of each target's run, of the server's own certificate or one
// that it is signed with: backends behind one name may show different ones.
func (m *Metrics) observeCertificates(outcomes []probes.Outcome) {
	earliest := map[string]time.Time{}
	for _, o := range outcomes {
		for _, a := range o.Attempts {
			end := a.Expires().NotAfter
			if end.IsZero() {
				continue
			}
			if t, seen := earliest[o.Target]; !seen || end.Before(t) {
				earliest[o.Target] = end
			}
		}
	}
	for target, t := range earliest {
		m.vectors.certificateExpiry.set(seconds(t), target)
	}
}

func (m *Metrics) observeRun(run probes.Run) {
	v := m.vectors
	for _, b := range run.Budget {
		v.requests.add(float64(b.Requests), b.Target)
		v.budgetWait.add(b.Waited.Seconds(), b.Target)
	}
	for _, p := range run.Problems {
		m.Problem(p.Part)
	}
	for _, late := range run.Delays {
		v.schedulingDelay.observe(late.Seconds(), exemplar{})
	}
	v.runs.add(1, string(run.Verdict()))
	if run.Finished.IsZero() {
		return
	}
	v.runDuration.set(run.Finished.Sub(run.Started).Seconds())
	if run.CutShort == "" {
		v.runCompleted.set(seconds(run.Finished))
	}
}

// The functions below keep a label's values a closed set, whatever a caller
// hands in: what is unknown is never a pass.

func verdictLabel(v probes.Verdict) probes.Verdict {
	if slices.Contains(probes.Verdicts(), v) {
		return v
	}
	return probes.VerdictIncomplete
}

func reasonLabel(r probes.Reason) probes.Reason {
	if slices.Contains(probes.Reasons(), r) {
		return r
	}
	return probes.ReasonInternal
}

// retryLabel returns an empty result where nothing was tried again.
func retryLabel(r probes.RetryResult) probes.RetryResult {
	switch r {
	case probes.RetryRecovered, probes.RetryFailed, probes.RetryUnsafe:
		return r
	default:
		return ""
	}
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// seconds is a moment as Prometheus writes it; milliseconds are exact.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1e3 }

// setKnown sets a gauge to d, or takes the series away where d is 0: unknown.
func setKnown(v *vector, d time.Duration, labels ...string) {
	if d <= 0 {
		v.drop(labels...)
		return
	}
	v.set(d.Seconds(), labels...)
}
