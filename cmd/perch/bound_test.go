package main

import (
	"encoding/json"
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
	spec := probes.Spec{Target: "api", Probe: "idle", Kind: probes.KindIdle, Client: &probes.Client{Kind: "okhttp", TCPKeepAlive: 10 * s}}
	last := diagnose.Bound{Known: probes.Bracket{Survived: s, Died: 4 * s, How: probes.HowSilent}}
	p := &pass{kept: &kept{}}
	in := diagnose.Input{Spec: spec, Observations: []probes.Observation{silentRung(2*s, probes.ReasonOK), silentRung(8*s, probes.ReasonBlackhole)}, Last: diagnose.Last{Bound: last}}
	p.noteBound(in, &probes.Run{Started: time.Now(), Idle: []probes.IdleResult{{Target: "api", Probe: "idle", Advertised: 5 * s}}})
	want := diagnose.Bound{Known: probes.Bracket{Survived: 2 * s, Died: 8 * s, How: probes.HowSilent, Runs: 1}, Packets: 10 * s, Without: last.Known, Way: diagnose.NextBound(in).Way}
	if got := p.lastSeen("api/idle").Bound; got != want {
		t.Errorf("read back: %+v, want %+v", got, want)
	}
	if got := brackets(p.doc)["api/idle"]; got != want.Known || p.doc.Brackets["api/idle"].Advertised != 5*s {
		t.Errorf("the plan looks at %+v, the state has %+v", got, p.doc.Brackets)
	}

	other := state.Bracket{Survived: s, Died: 4 * s, Spread: 1, Tries: 2, Runs: 3, How: "rst", TCPKeepAlive: s, Way: "a", Twice: 5 * s, Other: &state.Bracket{Measured: 7 * s}, Looked: time.Unix(9, 0), Suspect: &state.Bracket{Measured: 9 * s}, Without: &state.Bracket{Died: 3 * s}}
	if got := boundOf(other); got.Suspect.Measured != 9*s || got.Without.Died != 3*s || got.Packets != s || got.Way != "a" || got.Twice != 5*s || got.Other.Measured != 7*s || got.Looked.Unix() != 9 || *stateBracket(got.Known) != (state.Bracket{Survived: s, Died: 4 * s, Spread: 1, Tries: 2, Runs: 3, How: "rst"}) {
		t.Errorf("%+v is read as %+v", other, got)
	}
}

// TestABoundOfAnOlderPerch: the state of one that kept only what its last run
// saw is read, run with and kept: as a bracket of which no run is counted, or as
// nothing where that run contradicted itself.
func TestABoundOfAnOlderPerch(t *testing.T) {
	t.Parallel()
	const s = time.Second
	const older = `{"version": 2, "brackets": {
		"api/silent": {"survived": 2000000000, "died": 3800000000, "how": "silent", "at": "2026-11-01T10:00:00Z"},
		"api/closes": {"survived": 59000000000, "died": 61000000000, "measured": 60003000000, "advertised": 60000000000, "how": "fin", "at": "2026-11-01T10:00:00Z"},
		"api/lives": {"survived": 120000000000, "at": "2026-11-01T10:00:00Z"},
		"api/odd": {"survived": 8000000000, "died": 4000000000, "how": "rst", "at": "2026-11-01T10:00:00Z"}}}`
	var d state.Document
	if err := json.Unmarshal([]byte(older), &d); err != nil {
		t.Fatal(err)
	}
	p := &pass{kept: &kept{doc: d}}
	for id, want := range map[string]probes.Bracket{
		"api/silent": {Survived: 2 * s, Died: 3800 * time.Millisecond, How: probes.HowSilent},
		"api/closes": {Survived: 59 * s, Died: 61 * s, Measured: 60003 * time.Millisecond, How: probes.HowFIN},
		"api/lives":  {Survived: 120 * s},
		"api/odd":    {},
	} {
		if got := p.lastSeen(id).Bound; got != (diagnose.Bound{Known: want}) || brackets(d)[id] != want {
			t.Errorf("%s: read as %+v, want %+v", id, got, want)
		}
	}
	for id, want := range map[string]state.Bracket{
		"silent": {Survived: 2500 * time.Millisecond, Died: 3800 * time.Millisecond, How: "silent", Runs: 1, Twice: 4 * s},
		"odd":    {Survived: 2500 * time.Millisecond, Died: 4 * s, How: "silent", Runs: 1},
	} {
		in := diagnose.Input{
			Spec:         probes.Spec{Target: "api", Probe: id, Kind: probes.KindIdle},
			Observations: []probes.Observation{silentRung(2500*time.Millisecond, probes.ReasonOK), silentRung(4*s, probes.ReasonBlackhole)},
			Last:         p.lastSeen("api/" + id),
		}
		p.noteBound(in, &probes.Run{})
		want.Way = diagnose.NextBound(in).Way
		if got := p.doc.Brackets["api/"+id]; got != want || want.Way == "" {
			t.Errorf("%s: kept as %+v, want %+v", id, got, want)
		}
	}
}

// silentRung is a rung on a path where nobody sees connections end.
func silentRung(hold time.Duration, reason probes.Reason) probes.Observation {
	ok := probes.Attempt{Connection: probes.ConnectionFresh, Reason: probes.ReasonOK}
	reuse := probes.Attempt{Connection: probes.ConnectionReused, Reason: reason, IdleTime: hold}
	control := probes.Attempt{Connection: probes.ConnectionControl, Reason: probes.ReasonOK}
	return probes.Observation{Target: "api", Probe: "idle", Kind: probes.KindIdle, Hold: hold, Attempts: []probes.Attempt{ok, reuse, control}}
}
