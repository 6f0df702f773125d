package main

import (
	"fmt"
	"time"

	"perch.example/diagnose"
	"perch.example/probes"
)

// judge turns each probe's observations into outcomes. What it says of the
// paths in seen is settled first: by then the whole run has been seen.
func (p *pass) judge(run *probes.Run, seen []probes.Observation) {
	probes.SettlePaths(seen)
	byProbe := map[string][]probes.Observation{}
	for _, o := range seen {
		byProbe[o.Target+"/"+o.Probe] = append(byProbe[o.Target+"/"+o.Probe], o)
		if o.Problem != "" {
			p.problem(probes.PartInternal, fmt.Errorf("%s/%s: %s", o.Target, o.Probe, o.Problem))
		}
	}
	answered := lastAnswers(seen)
	for _, t := range p.cfg.Targets {
		for _, s := range t.Probes {
			observed := byProbe[s.ID()]
			if len(observed) == 0 {
				continue
			}
			in := diagnose.Input{
				Spec: s, Observations: observed, Last: diagnose.Last{EarlyCloses: p.doc.EarlyCloses[s.ID()]},
				OtherAnswered: others(answered, t.Name), Budget: budgetOf(run.Budget, t.Name), Now: run.Finished,
			}
			run.Outcomes = append(run.Outcomes, diagnose.Judge(in)...)
			if s.Kind == probes.KindIdle {
				run.Idle = append(run.Idle, diagnose.Idle(s, observed))
				p.idlePath = diagnose.IdlePath(s, observed)
			}
			p.note(s, observed, diagnose.EarlyCloses(in))
		}
	}
}

// note keeps for the next run what this one saw of a probe. A step that did
// not run whole leaves what was known.
func (p *pass) note(s probes.Spec, observed []probes.Observation, early map[time.Duration]time.Duration) {
	for _, o := range observed {
		if o.Cut != "" {
			return
		}
	}
	p.doc.MarkRun(s.ID(), observed[0].Started)
	p.doc.SetEarlyCloses(s.ID(), early)
}

// lastAnswers says when each target last gave a whole answer.
func lastAnswers(seen []probes.Observation) map[string]time.Time {
	last := map[string]time.Time{}
	for _, o := range seen {
		for _, a := range o.Attempts {
			if at := a.Started.Add(a.Elapsed); a.Status != 0 && at.After(last[o.Target]) {
				last[o.Target] = at
			}
		}
	}
	return last
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
