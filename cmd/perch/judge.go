package main

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"perch.example/diagnose"
	"perch.example/probes"
)

// judge turns each probe's observations into outcomes. What it says of the
// paths in seen is settled first: by then the whole run has been seen.
func (p *pass) judge(run *probes.Run, seen []probes.Observation) {
	probes.SettlePaths(seen)
	for _, o := range seen {
		if o.Problem == "" {
			continue
		}
		if part, err := problemOf(o); p.serves { // which says it, and not with each wave
			p.countProblem(part, err)
		} else {
			p.problem(part, err)
		}
	}
	byProbe := byProbe(seen)
	answered := sync.OnceValue(func() map[string]time.Time { return lastAnswers(seen) })
	var predicted []predicting
	for _, t := range p.cfg.Targets {
		for _, s := range t.Probes {
			observed := byProbe[s.ID()]
			if len(observed) == 0 {
				continue
			}
			in := diagnose.Input{
				Spec: s, Observations: observed, Last: p.lastSeen(s.ID()),
				Budget: budgetOf(run.Budget, t.Name), Now: run.Finished,
			}
			if slices.ContainsFunc(observed, failed) { // nobody else asks about the others, and serve judges hundreds a second
				in.OtherAnswered = append(others(answered(), t.Name), others(p.answered, t.Name)...)
			}
			outcomes := diagnose.Judge(in)
			if mayPredict(s) || s.Kind == probes.KindIdle && predicts(t) {
				predicted = append(predicted, predicting{in, len(run.Outcomes)})
			}
			run.Outcomes = append(run.Outcomes, outcomes...)
			run.Idle = append(run.Idle, p.measured(in)...)
			if whole(observed) {
				p.note(s.ID(), run, outcomes)
				p.noteBound(in, run)
				early, mass := diagnose.EarlyCloses(in)
				p.doc.SetEarlyCloses(s.ID(), early, mass)
			}
		}
	}
	p.predict(run, predicted)
}

// problemOf is what perch itself could not do for a step.
func problemOf(o probes.Observation) (probes.Part, error) {
	part := probes.PartInternal
	if o.Cut == probes.CutConfig {
		part = probes.PartConfig
	}
	return part, fmt.Errorf("%s/%s: %s", o.Target, o.Probe, o.Problem)
}

// byProbe groups observations by target/probe.
func byProbe(seen []probes.Observation) map[string][]probes.Observation {
	all := map[string][]probes.Observation{}
	if len(seen) == 1 { // as each wave of perch serve has: there is nothing to copy
		all[seen[0].Target+"/"+seen[0].Probe] = seen
		return all
	}
	for _, o := range seen {
		id := o.Target + "/" + o.Probe
		all[id] = append(all[id], o)
	}
	return all
}

// measured is what a probe's idle connections told of the path. Of a burst that is
// something only where one of them ended: that its gaps are survived, its calls show.
func (p *pass) measured(in diagnose.Input) []probes.IdleResult {
	if in.Spec.Kind != probes.KindIdle && in.Spec.Kind != probes.KindBurst {
		return nil
	}
	result := diagnose.Idle(in)
	if in.Spec.Kind == probes.KindBurst && result.Measured == 0 {
		return nil
	}
	p.idlePath = diagnose.IdlePath(in)
	return []probes.IdleResult{result}
}

// lastSeen is what an earlier run saw of a probe.
func (p *pass) lastSeen(id string) diagnose.Last {
	_, seen := p.doc.Due[id]
	return diagnose.Last{
		Seen: seen, EarlyCloses: p.doc.EarlyCloses[id], MassCloses: p.doc.MassCloses[id], Bound: boundOf(p.doc.Brackets[id]),
	}
}

// whole reports whether each step of a probe ran to its end. One that did not
// leaves what was known of the probe.
func whole(observed []probes.Observation) bool {
	return !slices.ContainsFunc(observed, func(o probes.Observation) bool { return o.Cut != "" })
}

// note keeps for the next run what this one saw of a probe.
func (p *pass) note(id string, run *probes.Run, outcomes []probes.Outcome) {
	p.doc.MarkRun(id, run.Started)
	p.doc.SetVerdict(id, string(probes.Run{Outcomes: outcomes}.Verdict()), run.Started)
}

// lastAnswers says when each target last gave a whole answer.
func lastAnswers(seen []probes.Observation) map[string]time.Time {
	last := map[string]time.Time{}
	for i := range seen {
		if at := lastAnswer(&seen[i]); at.After(last[seen[i].Target]) {
			last[seen[i].Target] = at
		}
	}
	return last
}

// lastAnswer says when the last whole answer came; zero: none did.
func lastAnswer(o *probes.Observation) (last time.Time) {
	for i := range o.Attempts {
		a := &o.Attempts[i]
		if at := a.Started.Add(a.Elapsed); a.Status != 0 && at.After(last) {
			last = at
		}
	}
	return last
}

// failed reports whether an attempt of it was not answered as it should be.
func failed(o probes.Observation) bool {
	return slices.ContainsFunc(o.Attempts, func(a probes.Attempt) bool { return !a.OK() })
}

func others(last map[string]time.Time, target string) []diagnose.Answered {
	var out []diagnose.Answered
	for name, at := range last {
		if name != target {
			out = append(out, diagnose.Answered{Target: name, At: at})
		}
	}
	return out
}

func budgetOf(all []probes.BudgetUse, target string) probes.BudgetUse {
	for _, b := range all {
		if b.Target == target {
			return b
		}
	}
	return probes.BudgetUse{Target: target}
}
