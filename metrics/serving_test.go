package metrics

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// What only perch serve tells is absent until it is told.
func TestReloaded(t *testing.T) {
	m := New(Options{Name: "shop", Vantage: "here"})
	series := func(name string) string {
		for line := range strings.Lines(exposition(t, m)) {
			if value, found := strings.CutPrefix(line, name+`{perch="shop",vantage="here"} `); found {
				return strings.TrimSpace(value)
			}
		}
		return "absent"
	}
	want := func(successful, at, leader string) {
		t.Helper()
		for name, want := range map[string]string{
			"perch_config_last_reload_successful": successful, "perch_config_last_reload_success_timestamp_seconds": at, "perch_leader": leader,
		} {
			if got := series(name); got != want {
				t.Errorf("%s is %s, want %s", name, got, want)
			}
		}
	}
	want("absent", "absent", "absent")
	m.Reloaded(true, time.Unix(1_500, 0))
	want("1", "1500", "absent")
	m.Reloaded(false, time.Unix(1_600, 0)) // the one before it stays
	m.Leads(true)
	want("0", "1500", "1")
	m.Leads(false)
	m.Reloaded(true, time.Unix(1_700, 0))
	want("1", "1700", "0")
}

// Ticks that fall out count from zero, which is there at once, over restarts and other
// targets; in perch run there is nothing to count.
func TestMissed(t *testing.T) {
	o := shop(t)
	o.Serves = true
	target, first, second := o.Targets[0], o.Targets[0].Probes[0], o.Targets[0].Probes[1]
	missed := func(m *Metrics, of probes.Spec) string {
		name := `perch_ticks_missed_total{perch="shop",probe="` + of.Probe + `",target="` + of.Target + `"`
		for line := range strings.Lines(exposition(t, m)) {
			if strings.HasPrefix(line, name) {
				return strings.TrimSpace(line[strings.LastIndexByte(line, ' '):])
			}
		}
		return "absent"
	}
	m := New(o)
	want := func(m *Metrics, one, other string) {
		t.Helper()
		if got, gotOther := missed(m, first), missed(m, second); got != one || gotOther != other {
			t.Errorf("missed %s and %s, want %s and %s", got, gotOther, one, other)
		}
	}
	want(m, "0", "0")
	m.Missed(first.Target, first.Probe, 2)
	m.Missed(first.Target, first.Probe, 3)
	m.Missed(first.Target, "gone", 1)
	want(m, "5", "0")
	if missed(m, probes.Spec{Target: first.Target, Probe: "gone"}) != "absent" {
		t.Error("a probe that is not in the config counts")
	}
	raw, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	next := New(o)
	if err := next.Restore(raw); err != nil {
		t.Fatal(err)
	}
	next.Missed(second.Target, second.Probe, 1)
	want(next, "5", "1")
	target.Probes = target.Probes[:1]
	next.Retarget([]probes.Target{target}, nil)
	want(next, "5", "absent")
	target.Probes = o.Targets[0].Probes[:2]
	next.Retarget([]probes.Target{target}, nil)
	want(next, "5", "0")

	o.Serves = false
	run := New(o)
	if err := run.Restore(raw); err != nil {
		t.Fatal(err)
	}
	run.Missed(first.Target, first.Probe, 1)
	want(run, "absent", "absent")
}

// Two replicas' series of one probe would count double.
func TestAStandbyShowsNoProbe(t *testing.T) {
	m := NewStandby(shop(t))
	m.Reloaded(true, time.Unix(1_500, 0))
	var names []string
	for line := range strings.Lines(exposition(t, m)) {
		if !strings.HasPrefix(line, "#") {
			names = append(names, line[:strings.IndexByte(line, '{')])
		}
	}
	const want = "perch_build_info perch_config_last_reload_success_timestamp_seconds perch_config_last_reload_successful perch_leader"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("it shows %s, want %s", got, want)
	}
}
