package report

import (
	"net/netip"

	"perch.example/probes"
)

func newDocument(run probes.Run) document {
	d := document{
		Version: run.Version, Name: run.Name, RunID: run.RunID, Seed: run.Seed, Vantage: run.Vantage,
		StartedAt: timestamp(run.Started), FinishedAt: timestamp(run.Finished), Verdict: overall(run),
		Outcomes: []outcomeJSON{}, Idle: []idleJSON{}, Clients: newIdleClients(run.Clients), Budget: []budgetJSON{}, Problems: []string{},
	}
	for _, o := range run.Outcomes {
		d.Outcomes = append(d.Outcomes, newOutcome(o))
	}
	for _, r := range run.Idle {
		d.Idle = append(d.Idle, idleJSON{
			Target: r.Target, Probe: r.Probe, How: r.How, Address: bare(r.Address),
			Survived: seconds(r.Survived), Died: seconds(r.Died), Measured: seconds(r.Measured), Advertised: seconds(r.Advertised),
		})
	}
	for _, u := range run.Budget {
		b := budgetJSON{Target: u.Target, Limit: u.LimitPerSecond, Requests: u.Requests, Peak: u.PeakPerSecond}
		if u.LeaveAlone.After(run.Started) { // else an earlier run was asked, and that is over
			b.Alone = timestamp(u.LeaveAlone)
		}
		d.Budget = append(d.Budget, b)
	}
	for _, s := range run.Settled {
		d.Settled = append(d.Settled, settledJSON{Target: s.Target, Times: s.Times, Reason: s.Reason, After: seconds(s.After)})
	}
	for _, i := range run.Incidents {
		d.Incidents = append(d.Incidents, newIncident(i))
	}
	for _, p := range run.Problems {
		d.Problems = append(d.Problems, string(p.Part)+": "+p.Text)
	}
	return d
}

func newOutcome(o probes.Outcome) outcomeJSON {
	out := outcomeJSON{
		Target: o.Target, Probe: o.Probe, Kind: o.Kind, Verdict: o.Verdict, Reason: o.Reason, Diagnosis: o.Diagnosis,
		Message: o.Message, Attempts: []attemptJSON{}, TLS: newTLS(o), Path: newPath(o.Path), Client: newClient(o.Client),
		Hypotheses: []hypothesisJSON{}, Advice: append([]string{}, o.Advice...), Accepted: newAccepted(o.Accepted),
	}
	out.Unused, out.Limit, out.EndsAtAge = o.Unused, newLimit(o.Limit), seconds(o.EndsAtAge)
	out.Burst, out.Prediction = newBurst(o), newPredictions(o.Predicted)
	if o.Verdict == "" {
		out.Verdict = probes.VerdictIncomplete // an unset verdict is never a pass, and not in the contract
	}
	if o.Kind == probes.KindIdle {
		out.Hold = seconds(o.Hold)
		if o.Close != nil {
			after := seconds(o.Close.Age)
			out.ClosedAfter, out.ClosedBy = &after, o.ClosedBy
		}
	}
	for _, a := range o.Attempts {
		out.Attempts = append(out.Attempts, newAttempt(a))
	}
	if o.Retry != (probes.RetryOutcome{}) {
		out.Retry = &retryJSON{Result: o.Retry.Result, Application: o.Retry.Application}
	}
	for _, h := range o.Hypotheses {
		out.Hypotheses = append(out.Hypotheses, hypothesisJSON(h))
	}
	return out
}

func newAttempt(a probes.Attempt) attemptJSON {
	out := attemptJSON{
		Number: a.Number, Connection: a.Connection, Reason: a.Reason, Method: otherMethod(a), Renewed: a.Renewed, Status: a.Status,
		Elapsed: seconds(a.Elapsed), RTT: seconds(a.RTT), MinRTT: seconds(a.MinRTT), Hello: seconds(a.Hello),
		Idle: seconds(a.IdleTime), AckedAtFirst: a.AckedAtFirst, Timing: a.Timing(),
		WokeLate: seconds(a.WokeLate), Waited: seconds(a.Waited), Own: newOwn(a.Own),
		Address: bare(a.Address), PinnedIP: newPinned(a.PinnedIP),
		GRPC: newGRPC(a.GRPC), Goaway: newGoaway(a.Goaway),
		RequestBytes: a.RequestBytes, RequestAcked: a.RequestBytesAcked, ResponseBytes: a.ResponseBytes, PushedStatus: a.PushedStatus,
		LocalAddr: address(a.Local), RemoteAddr: address(a.Remote), Proto: a.Proto, TraceID: a.TraceID, SpanID: a.SpanID,
	}
	if a.Phases != (probes.Phases{}) {
		out.Phases = &phasesJSON{
			DNS: seconds(a.Phases.DNS), Connect: seconds(a.Phases.Connect), TLS: seconds(a.Phases.TLS),
			Wait: seconds(a.Phases.Wait), Transfer: seconds(a.Phases.Transfer),
		}
	}
	if a.DelayKnown {
		delay := seconds(a.Delay)
		out.Delay = &delay
	}
	return out
}

func newOwn(o *probes.OwnPod) *ownJSON {
	if o == nil {
		return nil
	}
	out := &ownJSON{
		Stalled: seconds(o.Stalled), Descriptors: newUsage(o.Descriptors), Ports: newUsage(o.Ports), Exhausted: o.Exhausted,
	}
	if o.ThrottledKnown {
		throttled := seconds(o.Throttled)
		out.Throttled = &throttled
	}
	return out
}

func newUsage(u probes.Usage) *usageJSON {
	if u.Limit == 0 {
		return nil
	}
	return &usageJSON{Used: u.Used, Limit: u.Limit}
}

func newPath(p probes.Path) pathJSON {
	out := pathJSON{TCPEnds: p.TCPEnds, Via: append([]string{}, p.Via...), By: p.By, TCPRTT: seconds(p.TCPRTT), Hello: seconds(p.Hello)}
	if out.TCPEnds == "" {
		out.TCPEnds = probes.TCPEndsUnknown
	}
	return out
}

func newClient(c *probes.ClientOutcome) *clientJSON {
	if c == nil {
		return nil
	}
	out := &clientJSON{Kind: c.Kind, Experiences: c.Experiences}
	if c.Band != nil {
		out.Band = &bandJSON{From: seconds(c.Band.From)}
		if !c.Band.Open {
			to := seconds(c.Band.To)
			out.Band.To = &to
		}
	}
	return out
}

func address(a netip.AddrPort) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}
