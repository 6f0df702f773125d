package diagnose

import (
	"flag"
	"net/netip"
	"net/url"
	"os"
	"testing"
	"time"

	"perch.example/probes"
)

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write docs/reasons.md anew")
	flag.Parse()
	os.Exit(m.Run())
}

func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// start is when the first rung of every test ladder is warmed.
func start() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// build makes one rung of a ladder, step by step.
type build struct{ o probes.Observation }

// rungAt is a rung warmed `after` the start, held for hold, whose reuse ended
// in reason and, when that failed, whose control worked.
func rungAt(after, hold time.Duration, reason probes.Reason) *build {
	warm := start().Add(after)
	reuse := warm.Add(142*time.Millisecond + hold)
	acked := int64(212)
	b := &build{probes.Observation{
		Target: "stock-api", Probe: "calendar-idle", Kind: probes.KindIdle,
		Hold: hold, Started: warm, Ended: reuse.Add(200 * time.Millisecond),
		Attempts: []probes.Attempt{
			{
				Number: 1, Connection: probes.ConnectionFresh, Reason: probes.ReasonOK, Status: 200,
				Started: warm, Elapsed: 142 * time.Millisecond, RTT: time.Millisecond,
			},
			{
				Number: 2, Connection: probes.ConnectionReused, Reason: reason,
				Started: reuse, Elapsed: 200 * time.Microsecond, RTT: time.Millisecond,
				IdleTime: hold, Served: 1, RequestBytes: 212, RequestBytesAcked: &acked,
				Delay: 400 * time.Microsecond, DelayKnown: true, Remote: remote(),
			},
		},
		Path: probes.Path{TCPEnds: probes.TCPEndsPeer},
	}}
	if reason == probes.ReasonOK {
		b.o.Attempts[1].Status, b.o.Attempts[1].Elapsed = 200, 139*time.Millisecond
		return b
	}
	b.o.Attempts = append(b.o.Attempts, probes.Attempt{
		Number: 3, Connection: probes.ConnectionControl, Reason: probes.ReasonOK, Status: 200,
		Started: reuse.Add(3200 * time.Microsecond), Elapsed: 142 * time.Millisecond, RTT: time.Millisecond,
	})
	return b
}

func remote() netip.AddrPort { return netip.MustParseAddrPort("192.0.2.7:443") }

// closed lets the peer close at that idle age.
func (b *build) closed(age time.Duration, how probes.HowClosed) *build {
	b.o.Close = &probes.Close{
		Age: age, AfterReply: age, How: how, Resolution: time.Millisecond,
		At: b.o.Started.Add(142*time.Millisecond + age),
	}
	b.o.Attempts[1].Queued = true
	return b
}

// control gives the control another reason; "" takes it away.
func (b *build) control(reason probes.Reason) *build {
	if reason == "" {
		b.o.Attempts = b.o.Attempts[:2]
		return b
	}
	b.o.Attempts[2].Reason, b.o.Attempts[2].Status = reason, 0
	return b
}

// reuse changes the reused attempt.
func (b *build) reuse(change func(*probes.Attempt)) *build {
	change(&b.o.Attempts[1])
	return b
}

// warmed changes the warm-up.
func (b *build) warmed(change func(*probes.Attempt)) *build {
	change(&b.o.Attempts[0])
	return b
}

// idleInput is a ladder with that keep_alive.
func idleInput(keepAlive time.Duration, rungs ...*build) Input {
	in := Input{
		Spec: probes.Spec{
			Target: "stock-api", Probe: "calendar-idle", Kind: probes.KindIdle, Method: "GET",
			URL: &url.URL{Scheme: "https", Host: "api.partner.example", Path: "/v1/calendar"}, KeepAlive: keepAlive,
		},
		Budget: probes.BudgetUse{LimitPerSecond: 2, Requests: 12, PeakPerSecond: 1},
		Now:    start().Add(time.Hour),
	}
	for _, b := range rungs {
		in.Observations = append(in.Observations, b.o)
	}
	return in
}

// httpInput is one exchange: a fresh attempt and, with again, a second one.
func httpInput(reasons ...probes.Reason) Input {
	in := idleInput(0)
	in.Spec.Kind, in.Spec.Probe = probes.KindHTTP, "calendar"
	o := probes.Observation{
		Target: "stock-api", Probe: "calendar", Kind: probes.KindHTTP, Started: start(), Ended: start().Add(time.Second),
		Path: probes.Path{TCPEnds: probes.TCPEndsPeer},
	}
	for i, r := range reasons {
		a := probes.Attempt{
			Number: i + 1, Connection: probes.ConnectionFresh, Reason: r, DelayKnown: true,
			Started: start().Add(time.Duration(i) * 400 * time.Millisecond), Elapsed: 142 * time.Millisecond,
		}
		if r == probes.ReasonOK {
			a.Status = 200
		}
		o.Attempts = append(o.Attempts, a)
	}
	in.Observations = []probes.Observation{o}
	return in
}

// judgeOne judges and returns the i-th outcome.
func judgeOne(t *testing.T, in Input, i int) probes.Outcome {
	t.Helper()
	outcomes := Judge(in)
	if len(outcomes) <= i {
		t.Fatalf("judging gave %d outcomes, want more than %d", len(outcomes), i)
	}
	return outcomes[i]
}
