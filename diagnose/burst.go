package diagnose

import (
	"cmp"
	"slices"

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
	for i := range l.rungs {
		if j := l.judge(rules, i); worst == nil || j.tellsMore(worst) {
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
	drew := func(j *judgement) bool { return j.at != nil && j.at.DrewDead() }
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
// burst's control. Of those of one burst that came to the same the two suffice that were
// idle for the shortest and the longest time: a burst may have thousands. The input of
// another kind is left as it is.
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
		for _, part := range extremes(callsOf(obs)) {
			in.Observations = append(in.Observations, part.obs)
		}
	}
	if len(in.Observations) == 0 || obs.Cut != "" {
		in.Observations = append(in.Observations, obs)
	}
	return in
}

// burstPart is one call as an observation.
type burstPart struct {
	obs  probes.Observation
	call probes.BurstCall
	at   probes.Attempt
}

// callsOf are an observation's calls, in their order.
func callsOf(obs probes.Observation) []burstPart {
	controls := controlsOf(obs)
	before := map[int]probes.Attempt{} // what a connection carried last
	var parts []burstPart
	for _, c := range obs.Burst.Calls {
		if c.Attempt < 0 || c.Attempt >= len(obs.Attempts) {
			continue
		}
		a := obs.Attempts[c.Attempt]
		part := burstPart{call: c, at: a, obs: probes.Observation{
			Target: obs.Target, Probe: obs.Probe, Kind: probes.KindBurst, Hold: obs.Burst.Shape.Gap,
			Started: a.Started, Ended: obs.Ended, Path: obs.Path, Close: c.Close, Attempts: []probes.Attempt{a},
		}}
		if a.Connection == probes.ConnectionReused {
			if warm, known := before[c.Connection]; known {
				warm.Connection = probes.ConnectionFresh
				part.obs.Attempts = []probes.Attempt{warm, a}
			}
			if control, made := controls[c.Burst]; made && !a.OK() {
				control.Connection = probes.ConnectionControl
				part.obs.Attempts = append(part.obs.Attempts, control)
			}
		}
		before[c.Connection] = a
		parts = append(parts, part)
	}
	return parts
}

// controlsOf are each burst's control: where it had none, a call of it on a connection of
// its own that was answered.
func controlsOf(obs probes.Observation) map[int]probes.Attempt {
	burstOf := map[int]int{}
	for _, c := range obs.Burst.Calls {
		burstOf[c.Attempt] = c.Burst
	}
	controls, instead := map[int]probes.Attempt{}, map[int]probes.Attempt{}
	burst := 1
	for i, a := range obs.Attempts {
		if of, isCall := burstOf[i]; isCall {
			burst = of
			if a.Connection == probes.ConnectionFresh && answered(&a) {
				instead[burst] = a
			}
		} else if a.Connection == probes.ConnectionControl {
			controls[burst] = a
		}
	}
	for burst, a := range instead {
		if _, made := controls[burst]; !made {
			controls[burst] = a
		}
	}
	return controls
}

// sameCalls are what calls have in common of which two suffice.
type sameCalls struct {
	burst  int
	on     probes.Connection
	reason probes.Reason
	closed bool
}

// extremes keeps of the calls that have all in common the youngest and the oldest: of fresh
// ones the first and the last.
func extremes(all []burstPart) []burstPart {
	least, most := map[sameCalls]int{}, map[sameCalls]int{}
	for i, p := range all {
		k := sameCalls{p.call.Burst, p.at.Connection, p.at.Reason, p.call.Close != nil}
		if j, known := least[k]; !known || older(all[j], p) > 0 {
			least[k] = i
		}
		if j, known := most[k]; !known || older(all[j], p) <= 0 {
			most[k] = i
		}
	}
	keep := map[int]bool{}
	for _, chosen := range []map[sameCalls]int{least, most} {
		for _, i := range chosen {
			keep[i] = true
		}
	}
	var kept []burstPart
	for i, p := range all {
		if keep[i] {
			kept = append(kept, p)
		}
	}
	return kept
}

// older compares by the idle age of the close, or of the call; of fresh ones both are 0.
func older(a, b burstPart) int {
	age := func(p burstPart) int64 {
		if p.call.Close != nil {
			return int64(p.call.Close.Age)
		}
		return int64(p.at.IdleTime)
	}
	return cmp.Compare(age(a), age(b))
}
