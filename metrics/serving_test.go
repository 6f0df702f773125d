package metrics

import (
	"strings"
	"testing"
	"time"
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
