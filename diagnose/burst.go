package diagnose

import (
	"net/netip"
	"slices"
	"time"

	"perch.example/probes"
)

// held reports whether connections of a kind of probe idle between its requests, so that
// what they meet is judged as a rung.
func held(k probes.Kind) bool { return k == probes.KindIdle || k == probes.KindBurst }

// judgeBurst judges a burst's calls: those on a connection of their own as exchanges,
// those on one of the pool's as rungs. The worst of them decides.
func judgeBurst(in Input) []probes.Outcome {
	obs, ok := lastOf(in.Observations)
	if !ok {
		return nil
	}
	l := newLadder(in.perCall())
	rules := rulesOf(probes.KindBurst)
	var worst *judgement
	for _, j := range l.extremes() {
		if j.apply(rules); worst == nil || j.tellsMore(worst) {
			worst = j
		}
	}
	o := worst.outcome()
	o.Hold, o.Started, o.Attempts, o.Path, o.Burst = 0, obs.Started, obs.Attempts, obs.Path, obs.Burst
	if obs.Burst != nil {
		o.Message = worst.inBurst(*obs.Burst, obs.Attempts, o.Message)
	}
	return []probes.Outcome{o}
}

// tellsMore reports whether a call is worse than another one; of two that are as bad, one
// that drew a dead connection tells more than one that did not.
func (j *judgement) tellsMore(other *judgement) bool {
	drew := func(j *judgement) bool { return j.rung.reuse != nil && j.rung.reuse.DrewDead() }
	if a, b := badness(j.verdict), badness(other.verdict); a != b {
		return a > b
	}
	return drew(j) && !drew(other)
}

// lastOf is the observation that began last.
func lastOf(all []probes.Observation) (probes.Observation, bool) {
	if len(all) == 0 {
		return probes.Observation{}, false
	}
	return slices.MaxFunc(all, func(a, b probes.Observation) int { return a.Started.Compare(b.Started) }), true
}

// perCall is the input of a burst's calls, each as an observation of its own: a fresh
// exchange, or a rung that is warmed by the call before on its connection and has its
// control. The input of another kind is left as it is.
func (in Input) perCall() Input {
	if in.Spec.Kind != probes.KindBurst {
		return in
	}
	obs, ok := lastOf(in.Observations)
	in.Observations, in.whole = nil, obs.Attempts
	if !ok {
		return in
	}
	if obs.Burst != nil {
		in.Observations = callsOf(obs)
	}
	if len(in.Observations) == 0 || obs.Cut != "" {
		in.Observations = append(in.Observations, obs)
	}
	return in
}

// callsOf are an observation's calls, in their order.
func callsOf(obs probes.Observation) []probes.Observation {
	besides := besidesOf(obs)
	before := map[int]probes.Attempt{} // what a connection carried last
	var parts []probes.Observation
	for _, c := range obs.Burst.Calls {
		if c.Attempt < 0 || c.Attempt >= len(obs.Attempts) {
			continue
		}
		a := obs.Attempts[c.Attempt]
		part := probes.Observation{
			Target: obs.Target, Probe: obs.Probe, Kind: probes.KindBurst, Hold: obs.Burst.Shape.Gap,
			Started: a.Started, Ended: obs.Ended, Path: obs.Path, Close: c.Close, Attempts: []probes.Attempt{a},
		}
		if a.Connection == probes.ConnectionReused {
			if warm, known := before[c.Connection]; known {
				warm.Connection = probes.ConnectionFresh
				part.Attempts = []probes.Attempt{warm, a}
			}
			if beside := besides.of(c, a); beside != nil {
				control := *beside
				control.Connection = probes.ConnectionControl
				part.Attempts = append(part.Attempts, control)
			}
		}
		before[c.Connection] = a
		parts = append(parts, part)
	}
	return parts
}

// besides are the exchanges of a burst probe that were on connections of their own.
type besides struct {
	controls map[int]*probes.Attempt // by burst
	fresh    []*probes.Attempt       // the controls, too; in the order in which they left
}

func besidesOf(obs probes.Observation) besides {
	burstOf := map[int]int{}
	for _, c := range obs.Burst.Calls {
		burstOf[c.Attempt] = c.Burst
	}
	b := besides{controls: map[int]*probes.Attempt{}}
	burst := 1
	for i := range obs.Attempts {
		a := &obs.Attempts[i]
		if of, isCall := burstOf[i]; isCall {
			burst = of
		} else if a.Connection == probes.ConnectionControl {
			b.controls[burst] = a
		}
		if a.Connection != probes.ConnectionReused {
			b.fresh = append(b.fresh, a)
		}
	}
	return b
}

// of is what tells a call that failed from a service that is down: its burst's control,
// where that left after it, else the next fresh exchange within seconds that was answered.
// A dead connection may have an earlier control of its burst's, if no fresh exchange has
// failed since: the calls after the first draw what died with its connection. nil: the
// call needs none, or nothing tells.
func (b besides) of(c probes.BurstCall, a probes.Attempt) *probes.Attempt {
	if !slices.Contains(unanswered(), a.Reason) {
		return nil
	}
	control := b.controls[c.Burst]
	if control != nil && !control.Started.Before(a.Started) {
		return control
	}
	until := a.Started.Add(a.Elapsed + againWithin)
	failed := false
	for _, f := range b.fresh {
		switch {
		case f.Started.After(until):
		case f.Started.After(a.Started) && answered(f):
			return f
		case control != nil && f.Started.After(control.Started) && !answered(f):
			failed = true
		}
	}
	if failed || aboutAnswers(a.Reason) {
		return nil
	}
	return control
}

// alike are calls that the rules take for one.
type alike struct {
	facts  Facts
	remote netip.AddrPort
	late   bool
}

// extremes are a burst's calls that are to be judged, in their order: of those that come to
// the same facts beside all others the one that was idle for the shortest time and the one
// for the longest; of fresh ones the first and the last. A burst may have a thousand.
func (l *ladder) extremes() []*judgement {
	least, most := map[alike]*judgement{}, map[alike]*judgement{}
	order := map[*judgement]int{}
	for i := range l.rungs {
		j := l.look(i)
		order[j] = i
		k := alike{facts: j.facts, late: j.late()}
		if j.at != nil {
			k.remote = j.at.Remote
		}
		if known := least[k]; known == nil || j.rung.callAge() < known.rung.callAge() {
			least[k] = j
		}
		if known := most[k]; known == nil || j.rung.callAge() >= known.rung.callAge() {
			most[k] = j
		}
	}
	var kept []*judgement
	for _, chosen := range []map[alike]*judgement{least, most} {
		for _, j := range chosen {
			if !slices.Contains(kept, j) {
				kept = append(kept, j)
			}
		}
	}
	slices.SortFunc(kept, func(a, b *judgement) int { return order[a] - order[b] })
	return kept
}

// callAge is the idle age of a burst's call, or of the close before it; 0: a fresh one's.
func (r *rungView) callAge() time.Duration {
	if r.reuse == nil {
		return 0
	}
	return r.age()
}
