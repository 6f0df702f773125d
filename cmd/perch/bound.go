package main

import (
	"perch.example/diagnose"
	"perch.example/probes"
	"perch.example/state"
)

// brackets returns, per probe, what the runs so far know of the path's idle
// bound.
func brackets(d state.Document) map[string]probes.Bracket {
	all := map[string]probes.Bracket{}
	for id, b := range d.Brackets {
		all[id] = bracketOf(&b)
	}
	return all
}

// noteBound keeps what this run and those before it know of a probe's bound.
func (p *pass) noteBound(in diagnose.Input, run *probes.Run) {
	if in.Spec.Kind != probes.KindIdle {
		return
	}
	bound := diagnose.NextBound(in)
	kept := stateBracket(bound.Known)
	if kept == nil {
		kept = &state.Bracket{}
	}
	kept.TCPKeepAlive, kept.Way, kept.At = bound.Packets, bound.Way, run.Started
	kept.Twice, kept.Looked, kept.Other = bound.Twice, bound.Looked, stateBracket(bound.Other)
	kept.Suspect, kept.Without = stateBracket(bound.Suspect), stateBracket(bound.Without)
	for _, r := range run.Idle {
		if r.Target == in.Spec.Target && r.Probe == in.Spec.Probe {
			kept.Advertised = r.Advertised
		}
	}
	p.doc.SetBracket(in.Spec.ID(), *kept)
}

// boundOf reads what the state holds of a probe's bound.
func boundOf(b state.Bracket) diagnose.Bound {
	return diagnose.Bound{
		Known: bracketOf(&b), Suspect: bracketOf(b.Suspect), Other: bracketOf(b.Other), Without: bracketOf(b.Without),
		Packets: b.TCPKeepAlive, Way: b.Way, Twice: b.Twice, Looked: b.Looked,
	}
}

// bracketOf reads a bracket of the state. An older perch kept what its last run
// saw, even where that was no bracket: then nothing is known.
func bracketOf(b *state.Bracket) probes.Bracket {
	if b == nil || b.Measured == 0 && b.Died > 0 && b.Survived >= b.Died {
		return probes.Bracket{}
	}
	return probes.Bracket{Survived: b.Survived, Died: b.Died, Measured: b.Measured, Spread: b.Spread, How: probes.HowClosed(b.How), Tries: b.Tries, Runs: b.Runs}
}

// stateBracket is what the state holds of a bracket; nil: nothing is known.
func stateBracket(b probes.Bracket) *state.Bracket {
	if b == (probes.Bracket{}) {
		return nil
	}
	return &state.Bracket{Survived: b.Survived, Died: b.Died, Measured: b.Measured, Spread: b.Spread, How: string(b.How), Tries: b.Tries, Runs: b.Runs}
}
