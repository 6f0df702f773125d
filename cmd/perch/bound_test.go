package main

import (
	"testing"
	"time"

	"perch.example/diagnose"
	"perch.example/probes"
	"perch.example/state"
)

// TestABoundIsKept: what a run knows of a path's bound is what the next one
// reads, and what its plan looks at.
func TestABoundIsKept(t *testing.T) {
	t.Parallel()
	const s = time.Second
	silent := func(hold time.Duration, reason probes.Reason) probes.Observation {
		ok := probes.Attempt{Connection: probes.ConnectionFresh, Reason: probes.ReasonOK}
		reuse := probes.Attempt{Connection: probes.ConnectionReused, Reason: reason, IdleTime: hold}
		control := probes.Attempt{Connection: probes.ConnectionControl, Reason: probes.ReasonOK}
		return probes.Observation{Target: "api", Probe: "idle", Kind: probes.KindIdle, Hold: hold, Attempts: []probes.Attempt{ok, reuse, control}}
	}
	spec := probes.Spec{Target: "api", Probe: "idle", Kind: probes.KindIdle, Client: &probes.Client{Kind: "okhttp", TCPKeepAlive: 10 * s}}
	last := diagnose.Bound{Known: probes.Bracket{Survived: s, Died: 4 * s, How: probes.HowSilent}}
	p := &pass{kept: &kept{}}
	in := diagnose.Input{Spec: spec, Observations: []probes.Observation{silent(2*s, probes.ReasonOK), silent(8*s, probes.ReasonBlackhole)}, Last: diagnose.Last{Bound: last}}
	p.noteBound(in, &probes.Run{Started: time.Now(), Idle: []probes.IdleResult{{Target: "api", Probe: "idle", Advertised: 5 * s}}})
	want := diagnose.Bound{Known: probes.Bracket{Survived: 2 * s, Died: 8 * s, How: probes.HowSilent, Runs: 1}, Packets: 10 * s, Without: last.Known}
	if got := p.lastSeen("api/idle").Bound; got != want {
		t.Errorf("read back: %+v, want %+v", got, want)
	}
	if got := brackets(p.doc)["api/idle"]; got != want.Known || p.doc.Brackets["api/idle"].Advertised != 5*s {
		t.Errorf("the plan looks at %+v, the state has %+v", got, p.doc.Brackets)
	}

	other := state.Bracket{Survived: s, Died: 4 * s, Spread: 1, Tries: 2, Runs: 3, How: "rst", TCPKeepAlive: s, Suspect: &state.Bracket{Measured: 9 * s}, Without: &state.Bracket{Died: 3 * s}}
	if got := boundOf(other); got.Suspect.Measured != 9*s || got.Without.Died != 3*s || got.Packets != s || *stateBracket(got.Known) != (state.Bracket{Survived: s, Died: 4 * s, Spread: 1, Tries: 2, Runs: 3, How: "rst"}) {
		t.Errorf("%+v is read as %+v", other, got)
	}
}
