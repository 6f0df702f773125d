package report

import (
	"fmt"
	"net/netip"
	"time"

	"perch.example/probes"
)

// storyRun is the run of the pictures: the incident, a path that forgets, a burst, what
// passes, and what perch has to say of itself.
func storyRun() probes.Run {
	run := incident()
	run.Name = "shop"
	for _, o := range silentDrop().Outcomes {
		o.Target = "price-api"
		run.Outcomes = append(run.Outcomes, o)
	}
	run.Idle = append(run.Idle, probes.IdleResult{Target: "price-api", Probe: "calendar-idle", Survived: 30 * time.Second, Died: 61 * time.Second, How: probes.HowSilent})
	run.Outcomes = append(run.Outcomes, burstOf(20, 6), httpOK("pay-api", "health", 24*ms))
	for _, hold := range []time.Duration{30 * time.Second, 59 * time.Second} {
		o := rungOK(hold)
		o.Target, o.KeepAlive = "pay-api", time.Minute
		run.Outcomes = append(run.Outcomes, o)
	}
	run.Idle = append(run.Idle, probes.IdleResult{Target: "pay-api", Probe: "calendar-idle", Survived: 59 * time.Second})
	run.Finished = run.Started.Add(126 * time.Second)
	run.Budget = append(run.Budget,
		probes.BudgetUse{Target: "price-api", LimitPerSecond: 2, Requests: 8, PeakPerSecond: 2},
		probes.BudgetUse{Target: "pay-api", LimitPerSecond: 0.5, Requests: 5, PeakPerSecond: 1, Waited: 12 * ms})
	run.Incidents = []probes.Incident{{
		Name: "stock-api/connection#3", Target: "stock-api", Family: probes.FamilyConnection, State: probes.IncidentFiring, Since: started(),
		Failed: 6, Counted: 8, Notice: probes.NoticeTold, Said: "stock-api/connection#3 is firing since 2026-03-01 23:28 UTC: 6 of 8 runs failed; told",
	}}
	run.NotDue = []string{"pay-api/certificate"}
	return apart(run)
}

// apart gives each connection a local port of its own, as a kernel does.
func apart(run probes.Run) probes.Run {
	port := uint16(40000)
	for i := range run.Outcomes {
		o := &run.Outcomes[i]
		if o.Burst != nil {
			continue
		}
		for j := range o.Attempts {
			a := &o.Attempts[j]
			if a.Connection != probes.ConnectionReused {
				port += 2
			}
			if a.Local.IsValid() {
				a.Local = netip.AddrPortFrom(a.Local.Addr(), port)
			}
		}
	}
	return run
}

// burstOf is a pool that bursts against a server which closes after a second: after
// each gap the calls are given what is dead.
func burstOf(requests, bursts int) probes.Outcome {
	const pool = 4
	o := httpOK("pay-api", "checkout-burst", 24*ms)
	o.Kind, o.Verdict, o.Reason, o.Diagnosis, o.Family = probes.KindBurst, probes.VerdictFail, probes.ReasonIdleFIN, probes.DiagnosisStaleConnection, probes.FamilyConnection
	o.Message = fmt.Sprintf("%d calls in %d bursts; after each gap the first %d were given a connection that the peer had closed", requests*bursts, bursts, pool)
	o.Attempts = nil
	b := &probes.BurstSeen{Order: probes.PoolLIFO, Shape: probes.Shape{Requests: requests, Over: 2 * time.Second, Connections: pool, Bursts: bursts, Gap: 5 * time.Second}}
	for burst := 1; burst <= bursts; burst++ {
		for n := 1; n <= requests; n++ {
			conn := (n-1)%pool + 1
			port := uint16(50000 + burst*10 + conn)
			call := probes.BurstCall{Burst: burst, Number: n, Connection: (burst-1)*pool + conn, Attempt: len(o.Attempts)}
			var a probes.Attempt
			switch {
			case n <= pool && burst > 1: // the connection of the burst before
				a = reuse(probes.ReasonIdleFIN, 0, 300*us, 5*time.Second)
				port -= 10
				call.Close = &probes.Close{Age: time.Second, How: probes.HowFIN, Resolution: 100 * us}
			case n <= pool || n <= 2*pool && burst > 1:
				a = control(200, 24*ms)
				a.Connection = probes.ConnectionFresh
			default:
				a = reuse(probes.ReasonOK, 200, 22*ms, 400*ms)
			}
			a.Number, a.Local = len(o.Attempts)+1, netip.AddrPortFrom(a.Local.Addr(), port)
			o.Attempts = append(o.Attempts, a)
			b.Calls = append(b.Calls, call)
		}
	}
	o.Burst = b
	o.Predicted = []probes.Prediction{
		{Source: "the declared shape", Client: "apache-httpclient-4.5", Order: probes.PoolLIFO, Connections: 20, Timeout: time.Second, Calls: 1200, Fresh: 80, Dead: 230, Failed: 230, Gaps: 1120, InBand: 240},
		{Source: "calls.txt", Client: "okhttp-4", Order: probes.PoolLIFO, Connections: 5, Timeout: time.Second, Calls: 1200, Fresh: 310, Dead: 18, Failed: 0, Gaps: 890, InBand: 22},
	}
	return o
}
