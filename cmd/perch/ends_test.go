package main

import (
	"maps"
	"slices"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/probes"
	"perch.example/state"
)

// TestEnds: what ended early counts everywhere; what ended at all where nothing
// is expected, and of that what was seen before what was not.
func TestEnds(t *testing.T) {
	const s = time.Second
	d := state.Document{
		EarlyCloses: map[string]map[time.Duration]time.Duration{
			"api/early": {time.Minute: 2 * s, s: s, time.Hour: 3 * s},
			"api/none":  {},
		},
		Brackets: map[string]state.Bracket{
			"api/early":   {Measured: 9 * s},
			"api/on-time": {Measured: 60 * s},
			"api/seen":    {Survived: 45 * s, Died: 70 * s, Measured: 60 * s},
			"api/silent":  {Survived: 45 * s, Died: 70 * s},
			"api/lives":   {Survived: 355 * s},
			"api/http":    {Measured: s},
			"gone/seen":   {Measured: s},
		},
	}
	idle := func(name string, keepAlive time.Duration) probes.Spec {
		return probes.Spec{Target: "api", Probe: name, Kind: probes.KindIdle, KeepAlive: keepAlive}
	}
	cfg := config.Config{Targets: []probes.Target{{Name: "api", Probes: []probes.Spec{
		idle("early", time.Minute), idle("none", time.Minute), idle("on-time", time.Minute),
		idle("seen", 0), idle("silent", 0), idle("lives", 0), {Target: "api", Probe: "http", Kind: probes.KindHTTP},
	}}}}
	want := map[string]time.Duration{"api/early": s, "api/seen": 60 * s, "api/silent": 70 * s}
	if got := ends(d, cfg); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestLastVerdicts(t *testing.T) {
	d := state.Document{Verdicts: map[string]state.LastVerdict{
		"api/a": {Verdict: "fail", At: time.Date(2026, 3, 1, 23, 50, 0, 0, time.UTC)},
	}}
	got := lastVerdicts([]string{"api/a", "api/b"}, d)
	if want := []string{"api/a (fail at 2026-03-01 23:50 UTC)", "api/b"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
