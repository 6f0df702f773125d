package metrics

import (
	"testing"
	"time"

	"perch.example/diagnose"
	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// observations are a step of a probe for each thing that it can end in.
func observations(s probes.Spec) [][]probes.Attempt {
	attempt := func(on probes.Connection, r probes.Reason) probes.Attempt {
		a := probes.Attempt{Connection: on, Reason: r, Method: "GET", Elapsed: 10 * time.Millisecond,
			Phases: probes.Phases{DNS: 1, Connect: 1, Wait: 1, Transfer: 1}}
		if !named(s) {
			a.Phases.DNS = 0
		}
		if secure(s) && on != probes.ConnectionReused {
			a.Phases.TLS, a.TLSExpiry = 1, moment()
		}
		if r == probes.ReasonOK || r.Resend() == probes.ResendNo || r.Resend() == probes.ResendAsTold {
			a.Status = 200
		}
		return a
	}
	var all [][]probes.Attempt
	fresh := possibleFor(s).connections[0].reasons
	for _, first := range fresh {
		all = append(all, []probes.Attempt{attempt(probes.ConnectionFresh, first)})
		if s.Kind != probes.KindIdle && s.Retry.Attempts > 1 {
			all = append(all, []probes.Attempt{attempt(probes.ConnectionFresh, first), attempt(probes.ConnectionFresh, probes.ReasonOK)},
				[]probes.Attempt{attempt(probes.ConnectionFresh, first), attempt(probes.ConnectionFresh, first)})
		}
	}
	if s.Kind != probes.KindIdle {
		return all
	}
	for _, reuse := range possibleFor(s).connections[1].reasons {
		for _, control := range possibleFor(s).connections[2].reasons {
			all = append(all, []probes.Attempt{attempt(probes.ConnectionFresh, probes.ReasonOK),
				attempt(probes.ConnectionReused, reuse), attempt(probes.ConnectionControl, control)})
		}
	}
	return all
}

// What the judge makes of everything that a probe can end in is counted under
// labels that New made or Series foresaw: no label set is a surprise.
func TestNoJudgementMakesASeriesThatSeriesDidNotCount(t *testing.T) {
	for _, url := range []string{"https://api.partner.example/", "http://192.0.2.1:8080/"} {
		o := shop(t)
		for i := range o.Targets[0].Probes {
			s := &o.Targets[0].Probes[i]
			s.URL, s.Client = parse(t, url), o.Targets[0].Client
			m := New(o)
			for _, attempts := range observations(*s) {
				outcomes := diagnose.Judge(diagnose.Input{Spec: *s, Now: moment(), Observations: []probes.Observation{{
					Target: s.Target, Probe: s.Probe, Kind: s.Kind, Hold: 59 * time.Second, Attempts: attempts}}})
				m.Observe(probes.Run{Outcomes: outcomes, Finished: moment()})
			}
			m.IncidentsKnown()
			foreseen := exposed(t, everything(o))
			for key := range exposed(t, m) {
				if _, there := foreseen[key]; !there {
					t.Errorf("%s, %s: %s was not foreseen", url, s.Probe, key)
				}
			}
		}
	}
}

// The catalog's gaps are within what this package counts.
func TestEveryGapOfTheCatalogIsCounted(t *testing.T) {
	for _, kind := range clients.Kinds() {
		s := shop(t)
		client := &probes.Client{Kind: kind, Retry: &probes.RetryPolicy{Attempts: 3}}
		m := New(s)
		gaps := clients.Gaps(*client)
		m.Observe(probes.Run{Outcomes: []probes.Outcome{{Target: "stock-api", Probe: "calendar", RetryGaps: gaps}}})
		got := exposed(t, m)
		if len(gaps) == 0 {
			t.Errorf("%s: the catalog judges nothing", kind)
		}
		for _, g := range gaps {
			value := "0"
			if g.Gap {
				value = "1"
			}
			want(t, got, map[string]string{`perch_retry_gap{client="` + kind + `",` + calendarLabels + `,reason="` + string(g.Reason) + `"}`: value})
		}
	}
}
