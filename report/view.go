package report

import (
	"cmp"
	"slices"

	"perch.example/probes"
)

// probeView is one probe's part of a run: its outcomes (an idle probe's rungs,
// shortest first) and what its ladder measured.
type probeView struct {
	id       string // "target/probe"
	outcomes []*probes.Outcome
	worst    probes.Verdict
	idle     *probes.IdleResult // nil: not an idle probe, or nothing measured
}

// nothingHeld reports whether the answers ended every connection of the probe,
// so that there was nothing to measure.
func (v probeView) nothingHeld() bool {
	return v.worst == probes.VerdictSkipped && v.first().Diagnosis == probes.DiagnosisNoKeepAlive
}

func (v probeView) first() *probes.Outcome { return v.outcomes[0] }

// targetView is a target's probes, in the order of the config.
type targetView struct {
	probes []probeView
	worst  probes.Verdict
}

// rank orders verdicts by how much they ask for attention. An unset verdict
// counts as incomplete, like in probes.Run.Verdict.
func rank(v probes.Verdict) int {
	switch v {
	case probes.VerdictSkipped:
		return 0
	case probes.VerdictPass:
		return 1
	case probes.VerdictDegraded:
		return 2
	case probes.VerdictIncomplete:
		return 3
	case probes.VerdictFail:
		return 4
	}
	return 3
}

func worse(a, b probes.Verdict) probes.Verdict {
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// targets groups a run's outcomes. The worst target comes last: on a terminal
// that is what the reader sees first.
func targets(run probes.Run) []targetView {
	var out []targetView
	place := map[string]int{}
	for i := range run.Outcomes {
		o := &run.Outcomes[i]
		at, seen := place[o.Target]
		if !seen {
			at = len(out)
			place[o.Target] = at
			out = append(out, targetView{worst: o.Verdict})
		}
		out[at].add(o, run.Idle)
	}
	for _, t := range out {
		for _, p := range t.probes {
			slices.SortStableFunc(p.outcomes, func(a, b *probes.Outcome) int { return cmp.Compare(a.Hold, b.Hold) })
		}
	}
	slices.SortStableFunc(out, func(a, b targetView) int { return cmp.Compare(attention(a.worst), attention(b.worst)) })
	return out
}

// attention is rank with pass and skipped as one: they keep the config's order.
func attention(v probes.Verdict) int { return max(rank(v), rank(probes.VerdictPass)) }

func (t *targetView) add(o *probes.Outcome, results []probes.IdleResult) {
	t.worst = worse(t.worst, o.Verdict)
	at := slices.IndexFunc(t.probes, func(p probeView) bool { return p.id == o.ID() })
	if at < 0 {
		at = len(t.probes)
		t.probes = append(t.probes, probeView{id: o.ID(), worst: o.Verdict, idle: idleResult(results, o)})
	}
	p := &t.probes[at]
	p.outcomes = append(p.outcomes, o)
	p.worst = worse(p.worst, o.Verdict)
}

func idleResult(results []probes.IdleResult, o *probes.Outcome) *probes.IdleResult {
	for i := range results {
		if results[i].Target == o.Target && results[i].Probe == o.Probe {
			return &results[i]
		}
	}
	return nil
}

// attempt returns the outcome's last attempt on that kind of connection, or nil.
func attempt(o *probes.Outcome, c probes.Connection) *probes.Attempt {
	for i := len(o.Attempts) - 1; i >= 0; i-- {
		if o.Attempts[i].Connection == c {
			return &o.Attempts[i]
		}
	}
	return nil
}

// deciding returns the attempt that gave the outcome its reason, or nil.
func deciding(o *probes.Outcome) *probes.Attempt {
	if o.Burst != nil {
		if call, _ := o.Decides(); call != nil {
			return call
		}
	}
	for i := range o.Attempts {
		if o.Attempts[i].Reason == o.Reason {
			return &o.Attempts[i]
		}
	}
	return nil
}

// stopped reports whether the outcome's step was not tried, or not to its end:
// its message says why.
func stopped(o *probes.Outcome) bool {
	return o.Reason == probes.ReasonSkipped || o.Reason == probes.ReasonCanceled
}

// overall is the run's verdict; an outcome without one makes it incomplete.
func overall(run probes.Run) probes.Verdict {
	if v := run.Verdict(); v != "" {
		return v
	}
	return probes.VerdictIncomplete
}
