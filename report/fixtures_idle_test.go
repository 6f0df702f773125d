package report

import (
	"strings"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// search is what `perch idle` hands over: three connections, each held to its
// first close. Its clients are the catalog's, as in the command.
func search() probes.Run {
	run := baseRun(1400 * ms)
	run.Name, run.Vantage = "idle", ""
	for i, closed := range []time.Duration{1000 * ms, 1001 * ms, 998 * ms} {
		o := closedRung(closed, closed)
		o.Target, o.Probe, o.Verdict, o.Search = "api-partner-example", "idle", probes.VerdictPass, true
		o.Hold = []time.Duration{40 * time.Second, 2 * time.Minute, 6 * time.Minute}[i]
		o.KeepAlive, o.Diagnosis, o.Family, o.Hypotheses, o.Advice, o.Notice = 0, "", "", nil, nil, probes.NoticeInfo{}
		run.Outcomes = append(run.Outcomes, o)
	}
	run.Idle = []probes.IdleResult{{
		Target: "api-partner-example", Probe: "idle", Died: 998 * ms, Measured: 998 * ms, Advertised: 5 * time.Second, How: probes.HowFIN,
	}}
	run.Budget = []probes.BudgetUse{{Target: "api-partner-example", LimitPerSecond: 1, Requests: 9, PeakPerSecond: 2}}
	run.Clients = clients.Met(clients.Path{
		Timeout: 998 * ms, Margin: 110*ms + 100*us, Spread: 3 * ms, Advertised: 5 * time.Second, End: probes.ReasonIdleFIN,
	}, "api-partner-example")
	return run
}

// survivedSearch is `perch idle` on a path that closed nothing.
func survivedSearch() probes.Run {
	run := baseRun(370 * time.Second)
	run.Name, run.Vantage = "idle", ""
	for _, hold := range []time.Duration{40 * time.Second, 2 * time.Minute, 6 * time.Minute} {
		o := rungOK(hold)
		o.Target, o.Probe, o.Search = "api-partner-example", "idle", true
		run.Outcomes = append(run.Outcomes, o)
	}
	run.Idle = []probes.IdleResult{{Target: "api-partner-example", Probe: "idle", Survived: 6 * time.Minute}}
	return run
}

// silentSearch is `perch idle` on a path that forgets connections without a
// word: looking sees nothing, so that most clients have a band.
func silentSearch() probes.Run {
	run := survivedSearch()
	lost := dropped(6 * time.Minute)
	lost.Target, lost.Probe, lost.Search = "api-partner-example", "idle", true
	for i, text := range lost.Advice {
		lost.Advice[i] = strings.NewReplacer("61 s", "6 min", "30 s", "2 min").Replace(text)
	}
	run.Outcomes[2] = lost
	run.Idle[0].Survived, run.Idle[0].Died, run.Idle[0].How = 2*time.Minute, 6*time.Minute, probes.HowSilent
	run.Clients = clients.Met(clients.Path{
		Timeout: 6 * time.Minute, Margin: 110 * ms, Silent: true, Unseen: true, Survived: 2 * time.Minute, End: probes.ReasonBlackhole,
	}, "api-partner-example")
	return run
}
