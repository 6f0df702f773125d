package diagnose

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestAddressesAreLaddersOfTheirOwn: 127.0.0.1 closes after 1 s, and ::1 never. No
// sentence mixes them.
func TestAddressesAreLaddersOfTheirOwn(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	four, six := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")
	in := idleInput(3*s,
		rungAt(0, 500*ms, "ok"), rungAt(s, 700*ms, "ok"),
		rungAt(4*s, 1500*ms, "idle_fin").closed(s, "fin"), rungAt(8*s, 1600*ms, "ok"),
		rungAt(12*s, 2*s, "idle_fin").closed(s, "fin"), rungAt(16*s, 2100*ms, "ok"))
	for i := range in.Observations {
		for k := range in.Observations[i].Attempts {
			in.Observations[i].Attempts[k].Address = []netip.Addr{four, six}[i%2]
		}
	}
	in.Spec.Client = incidentClient()
	in.Last.Seen = true
	outcomes := Judge(in)
	if len(outcomes) != 6 {
		t.Fatalf("%d outcomes", len(outcomes))
	}
	for i, o := range outcomes {
		address, other := []string{"127.0.0.1", "::1"}[i%2], []string{"::1", "127.0.0.1"}[i%2]
		if i > 0 && o.Hold < outcomes[i-1].Hold {
			t.Errorf("rung %d is out of order", i)
		}
		if !strings.HasPrefix(o.Message, address+": ") || strings.Contains(o.Message, other) {
			t.Errorf("%s: %s", o.Hold, o.Message)
		}
		if want := i%2 == 0 && i > 1; want != (o.Verdict != probes.VerdictPass) || o.Diagnosis == probes.DiagnosisUndeclaredClose || o.Diagnosis == probes.DiagnosisBoundChanged {
			t.Errorf("%s: %s, %s: %s", o.Hold, o.Verdict, o.Diagnosis, o.Message)
		}
	}
	got := Idle(in)
	if got.Address != four || got.Measured != s || got.Survived != 500*ms || got.Died != 1500*ms {
		t.Errorf("%+v", got)
	}
	if path := IdlePath(in); path.Timeout != s {
		t.Errorf("%+v", path)
	}
	if b := NextBound(in); b != (Bound{}) {
		t.Errorf("a bound of two paths: %+v", b)
	}
	if early, mass := EarlyCloses(in); len(early) != 2 || len(mass) != 0 {
		t.Errorf("early %v, mass %v", early, mass)
	}
}
