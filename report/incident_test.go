package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// incidents has one in each state.
func incidents() []probes.Incident {
	since := time.Date(2026, 3, 1, 23, 50, 0, 0, time.UTC)
	one := func(n int, state probes.IncidentState, notice probes.NoticeState, said string) probes.Incident {
		return probes.Incident{
			Name: "stock-api/contract#" + string(rune('0'+n)), Target: "stock-api", Family: probes.FamilyContract, State: state,
			Since: since, Failed: n, Counted: n + 1, Notice: notice, Said: "stock-api (contract) is " + said,
		}
	}
	all := []probes.Incident{
		one(1, probes.IncidentPending, probes.NoticeNone, "pending since 2026-03-01 23:50 UTC: 1 of 2 failed runs: the next one fires"),
		one(2, probes.IncidentFiring, probes.NoticeWaiting, "firing since 2026-03-01 23:50 UTC: 2 of 3 runs failed; what there is to tell of it waits"),
		one(3, probes.IncidentFlapping, probes.NoticeMuted, "flapping since 2026-03-01 23:50 UTC: 3 of 4 runs failed"),
		one(4, probes.IncidentResolved, probes.NoticeTold, "resolved in this run: it was open since 2026-03-01 23:50 UTC, 4 of 5 runs failed; told"),
		one(5, probes.IncidentClosed, probes.NoticeTold, "closed in this run, and was open since 2026-03-01 23:50 UTC: what fails is accepted now; told"),
	}
	all[2].MutedUntil = since.Add(time.Hour)
	return all
}

// TestIncidentsInJSON: each with its state, and nothing that is not known.
func TestIncidentsInJSON(t *testing.T) {
	var out bytes.Buffer
	if err := JSON(&out, probes.Run{Incidents: incidents()}); err != nil {
		t.Fatal(err)
	}
	var d struct{ Incidents []map[string]any }
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Incidents) != len(probes.IncidentStates()) {
		t.Fatalf("%d incidents, want one in each state", len(d.Incidents))
	}
	keys := []string{"counted_runs", "failed_runs", "family", "name", "notice", "said", "since", "state", "target"}
	for n, state := range probes.IncidentStates() {
		i, want := d.Incidents[n], keys
		if state == probes.IncidentFlapping {
			want = append([]string{"muted_until"}, keys...)
			slices.Sort(want)
		}
		if got := slices.Sorted(maps.Keys(i)); !slices.Equal(got, want) {
			t.Errorf("%s has the keys %q, want %q", state, got, want)
		}
		if i["state"] != string(state) || i["since"] != "2026-03-01T23:50:00Z" || i["failed_runs"] != float64(n+1) || i["counted_runs"] != float64(n+2) {
			t.Errorf("%s: %v", state, i)
		}
	}
	out.Reset()
	if err := JSON(&out, probes.Run{}); err != nil || strings.Contains(out.String(), "incidents") {
		t.Errorf("a run without incidents: %v\n%s", err, out.String())
	}
}
