package metrics

import (
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// What stays counts on, what is gone is no longer shown, what is new begins at zero:
// the series are those of a process that began with the new targets.
func TestRetarget(t *testing.T) {
	probe := func(target, name string) probes.Spec {
		return probes.Spec{Target: target, Probe: name, Kind: probes.KindHTTP, Every: time.Minute}
	}
	target := func(name string, all ...string) probes.Target {
		out := probes.Target{Name: name, RateLimit: 10, Share: 1}
		for _, p := range all {
			out.Probes = append(out.Probes, probe(name, p))
		}
		return out
	}
	o := Options{Name: "shop", Vantage: "here", Targets: []probes.Target{target("stays", "a", "goes"), target("goes", "a")}, Destinations: []string{"slack"}}
	m := New(o)
	run := probes.Run{Finished: time.Unix(1_700_000_000, 0)}
	for _, id := range [][2]string{{"stays", "a"}, {"stays", "goes"}, {"goes", "a"}} {
		run.Outcomes = append(run.Outcomes, probes.Outcome{Target: id[0], Probe: id[1], Verdict: probes.VerdictPass})
		run.Budget = append(run.Budget, probes.BudgetUse{Target: id[0], Requests: 1})
	}
	m.Observe(run)
	m.Notices("slack", true)
	m.SetIncident("goes", probes.FamilyContract, true)
	m.Pending("slack", 2, time.Unix(1_600_000_000, 0))

	o.Targets, o.Destinations = []probes.Target{target("stays", "a", "comes"), target("comes", "a")}, []string{"webhook"}
	for range 1000 {
		m.Retarget([]probes.Target{target("between", "a")}, nil)
		m.Retarget(o.Targets, o.Destinations)
	}
	m.Retarget(o.Targets, o.Destinations)
	for _, line := range strings.Split(exposition(t, m), "\n") {
		for _, gone := range []string{`"goes"`, `"slack"`, `"between"`} {
			if strings.Contains(line, gone) {
				t.Errorf("still shown: %s", line)
			}
		}
	}
	series := func(m *Metrics) []string {
		var all []string
		for line := range strings.Lines(exposition(t, m)) {
			if name, _, found := strings.Cut(line, "} "); found {
				all = append(all, name)
			}
		}
		slices.Sort(all)
		return all
	}
	anew := series(New(o))
	have := series(m)
	for _, s := range anew {
		if !slices.Contains(have, s) {
			t.Errorf("not there: %s", s)
		}
	}
}

// What stays is not touched.
func TestRetargetCountsOn(t *testing.T) {
	stays := probes.Target{Name: "stays", RateLimit: 10, Share: 1, Probes: []probes.Spec{{Target: "stays", Probe: "a", Kind: probes.KindHTTP, Every: time.Minute}}}
	m := New(Options{Name: "shop", Vantage: "here", Targets: []probes.Target{stays}})
	run := probes.Run{Finished: time.Unix(1_700_000_000, 0), Outcomes: []probes.Outcome{{Target: "stays", Probe: "a", Verdict: probes.VerdictPass}}}
	for range 3 {
		m.Observe(run)
	}
	stays.Probes[0].Every = time.Hour
	m.Retarget([]probes.Target{stays}, nil)
	for _, want := range []string{
		`perch_outcomes_total{perch="shop",probe="a",target="stays",vantage="here",verdict="pass"} 3`,
		`perch_probe_interval_seconds{perch="shop",probe="a",target="stays",vantage="here"} 3600`,
	} {
		if !strings.Contains(exposition(t, m), want) {
			t.Errorf("not there: %s", want)
		}
	}
}
