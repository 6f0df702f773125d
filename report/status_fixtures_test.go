package report

import (
	"fmt"
	"net/url"
	"time"

	"perch.example/probes"
)

// statusNow is the moment of the page's fixtures.
func statusNow() time.Time { return started().Add(4*time.Minute + 12*time.Second) }

// asTarget is a run's target as the page is given it.
func asTarget(run probes.Run, name, address string) StatusTarget {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	t := StatusTarget{Name: name, URL: u, Limit: 2, Daily: 5000, Today: 431}
	for _, b := range run.Budget {
		if b.Target == name {
			t.Last = b
		}
	}
	for _, o := range run.Outcomes {
		if o.Target != name {
			continue
		}
		if o.Notice.Owner != "" {
			t.Owner, t.Runbook = o.Notice.Owner, o.Notice.Runbook
		}
		if n := len(t.Probes); n > 0 && t.Probes[n-1].Name == o.Probe {
			t.Probes[n-1].Outcomes = append(t.Probes[n-1].Outcomes, o)
			continue
		}
		t.Probes = append(t.Probes, StatusProbe{
			Name: o.Probe, Kind: o.Kind, Every: 5 * time.Minute, Next: statusNow().Add(48 * time.Second), Outcomes: []probes.Outcome{o}, Idle: idleResult(run.Idle, &o),
		})
	}
	return t
}

func renamed(t StatusTarget, name string) StatusTarget {
	t.Name = name
	list := t.Probes
	t.Probes = nil
	for _, p := range list {
		p.Outcomes = append([]probes.Outcome(nil), p.Outcomes...)
		for i := range p.Outcomes {
			p.Outcomes[i].Target = name
		}
		t.Probes = append(t.Probes, p)
	}
	return t
}

// incidentStatus is a morning with an incident: one target fails, one is degraded, one
// is held, the others pass.
func incidentStatus() Status {
	now := statusNow()
	s := Status{
		Now: now, Version: "0.7.0", Name: "shop", Vantage: "prod-tokyo", Since: now.Add(-76*time.Hour - 20*time.Minute),
		Config: "read again at 2026-03-01 16:02 UTC", Role: "leader of 2",
		Loops: []StatusLoop{{5 * time.Minute, now.Add(48 * time.Second)}, {time.Minute, now.Add(3 * time.Second)}, {time.Hour, now.Add(31 * time.Minute)}},
	}
	price := asTarget(allPass(), "price-api", "https://prices.partner.example/v2/quote")
	price.Owner = "team-pricing"
	pays := renamed(asTarget(allPass(), "stock-api", "https://pay.partner.example/"), "payment-api")
	pays.Owner = "team-checkout"
	waiting := StatusTarget{Name: "ledger-api", URL: price.URL, Limit: 1, Daily: 5000, Probes: []StatusProbe{{Name: "health", Kind: probes.KindHTTP, Every: time.Hour, Next: now.Add(31 * time.Minute)}}}
	s.Targets = []StatusTarget{price, asTarget(incident(), "stock-api", "https://user:secret@api.partner.example/v1/calendar?key=secret#x"), pays, waiting}
	s.Held = []probes.Event{
		{Target: "payment-api", Probe: "calendar-idle", What: probes.EventHolding, Hold: 59 * time.Second, Until: now.Add(17 * time.Second)},
		{Target: "payment-api", Probe: "calendar-idle", What: probes.EventClosed, Hold: 61 * time.Second, Until: now.Add(19 * time.Second), Close: &probes.Close{Age: 31 * time.Second, How: probes.HowFIN}},
		{Target: "payment-api", Probe: "calendar-idle", What: probes.EventHolding, Hold: 2 * time.Minute, Until: now.Add(78 * time.Second)},
	}
	s.Incidents = []probes.Incident{{
		Name: "stock-api/connection#3", Target: "stock-api", Family: probes.FamilyConnection, State: probes.IncidentFiring, Since: now.Add(-36 * time.Minute),
		Failed: 6, Counted: 8, Notice: probes.NoticeTold, Said: "stock-api (connection) is firing since 2026-03-01 23:28 UTC: 6 of 8 runs failed; told",
	}}
	return s
}

// wellStatus is one with nothing to say.
func wellStatus() Status {
	s := incidentStatus()
	s.Targets = []StatusTarget{s.Targets[0], s.Targets[2]}
	s.Incidents, s.Held, s.Role = nil, nil, ""
	return s
}

// crowdedStatus has many targets, all with ladders; each nth fails.
func crowdedStatus(targets, nth int) Status {
	s := incidentStatus()
	good, bad := s.Targets[2], s.Targets[1]
	s.Targets = nil
	for n := range targets {
		t := good
		if n%nth == 0 {
			t = bad
		}
		s.Targets = append(s.Targets, renamed(t, fmt.Sprintf("%s-%03d", t.Name, n)))
	}
	return s
}
