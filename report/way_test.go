package report

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

func shownText(t *testing.T, outcomes ...probes.Outcome) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, probes.Run{RunID: "r", Outcomes: outcomes}, Style{Width: 200}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestAddressesAreTold: each with what it showed; a second try is of the same.
func TestAddressesAreTold(t *testing.T) {
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	got := shownText(t, probes.Outcome{
		Target: "api", Probe: "get", Kind: probes.KindHTTP, Verdict: probes.VerdictFail, Diagnosis: probes.DiagnosisUnreachable, Reason: probes.ReasonRefused, Message: "m",
		Attempts: []probes.Attempt{
			{Number: 1, Connection: probes.ConnectionFresh, Reason: probes.ReasonOK, Status: 200, Elapsed: 3 * time.Millisecond, Address: a},
			{Number: 2, Connection: probes.ConnectionFresh, Reason: probes.ReasonRefused, Elapsed: time.Millisecond, Address: b},
			{Number: 3, Connection: probes.ConnectionFresh, Reason: probes.ReasonRefused, Elapsed: time.Millisecond, Address: b},
		},
	})
	if want := "192.0.2.1: 200 in 3 ms, then 192.0.2.2: refused in 1 ms, then refused in 1 ms"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// TestPinnedIsShown below the ladder, also where all passed, and once.
func TestPinnedIsShown(t *testing.T) {
	rung := func(hold time.Duration, pin *probes.PinnedIP) probes.Outcome {
		return probes.Outcome{
			Target: "api", Probe: "idle", Kind: probes.KindIdle, Verdict: probes.VerdictPass, Reason: probes.ReasonOK, Hold: hold, Message: "m",
			Attempts: []probes.Attempt{
				{Number: 1, Connection: probes.ConnectionFresh, Reason: probes.ReasonOK, Status: 200, Elapsed: time.Millisecond},
				{Number: 2, Connection: probes.ConnectionReused, Reason: probes.ReasonOK, Status: 200, Elapsed: time.Millisecond, IdleTime: hold, PinnedIP: pin},
			},
		}
	}
	pin := &probes.PinnedIP{Address: netip.MustParseAddr("10.0.0.5"), Now: []netip.Addr{netip.MustParseAddr("10.0.0.8"), netip.MustParseAddr("10.0.0.9")}}
	got := shownText(t, rung(time.Second, pin), rung(2*time.Second, pin), rung(4*time.Second, nil))
	if want := "at 2 s the connection was still on 10.0.0.5; DNS names 10.0.0.8, 10.0.0.9 now, and a pool stays where it is"; !strings.Contains(got, want) || strings.Count(got, "still on") != 1 {
		t.Errorf("want %q once in\n%s", want, got)
	}
	if got := shownText(t, rung(time.Second, nil)); strings.Contains(got, "still on") {
		t.Errorf("nothing was pinned:\n%s", got)
	}
}
