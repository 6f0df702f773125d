package diagnose

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// ofAddresses gives each attempt of an http step an address of its own, or several
// the same.
func ofAddresses(in Input, addresses ...string) Input {
	for i := range in.Observations[0].Attempts {
		in.Observations[0].Attempts[i].Address = netip.MustParseAddr(addresses[i])
	}
	return in
}

// TestWorstAddressSpeaks: each address is judged by itself, with its own second
// try, and the worst is the host's verdict.
func TestWorstAddressSpeaks(t *testing.T) {
	const a, b, c = "192.0.2.1", "192.0.2.2", "2001:db8::1"
	tests := []struct {
		name    string
		reasons []probes.Reason
		of      []string
		verdict probes.Verdict
		says    string
	}{
		{"all answer", []probes.Reason{"ok", "ok"}, []string{a, b}, probes.VerdictPass, "each of 2 addresses answered; 192.0.2.1: it answered 200"},
		{"the last fails", []probes.Reason{"ok", "ok", "refused"}, []string{a, b, c}, probes.VerdictFail, "1 of 3 addresses (2001:db8::1); 2001:db8::1: a fresh connection failed"},
		{"the first fails", []probes.Reason{"refused", "ok"}, []string{a, b}, probes.VerdictFail, "1 of 2 addresses (192.0.2.1); 192.0.2.1: a fresh connection failed"},
		{"one recovers", []probes.Reason{"refused", "ok", "ok"}, []string{a, a, b}, probes.VerdictDegraded, "1 of 2 addresses (192.0.2.1); 192.0.2.1: "},
		{"a failure outweighs a recovery", []probes.Reason{"reset", "ok", "eof", "eof"}, []string{a, a, b, b}, probes.VerdictFail, "2 of 2"},
		{"all fail", []probes.Reason{"refused", "reset"}, []string{a, b}, probes.VerdictFail, "each of 2 addresses; 192.0.2.1: "},
		{"one address is the host", []probes.Reason{"refused", "ok"}, []string{a, a}, probes.VerdictDegraded, "a fresh connection failed"},
	}
	for _, tt := range tests {
		in := ofAddresses(httpInput(tt.reasons...), tt.of...)
		out := Judge(in)
		if len(out) != 1 {
			t.Fatalf("%s: %d outcomes", tt.name, len(out))
		}
		says := strings.Replace(tt.says, "2 of 2", "each of 2", 1)
		if o := out[0]; o.Verdict != tt.verdict || !strings.HasPrefix(o.Message, says) || len(o.Attempts) != len(tt.reasons) {
			t.Errorf("%s: %s of %d attempts: %s", tt.name, o.Verdict, len(o.Attempts), o.Message)
		}
	}
	in := ofAddresses(httpInput("ok", "ok"), a, b)
	in.Observations[0].Unprobed = []netip.Addr{netip.MustParseAddr(c)}
	if o := Judge(in)[0]; !strings.HasSuffix(o.Message, "; 1 more of its addresses were not probed") {
		t.Errorf("left out: %s", o.Message)
	}
}

// TestPinnedIsTold: by the message whatever the verdict, which it does not change,
// and by the advice where there is one.
func TestPinnedIsTold(t *testing.T) {
	pin := &probes.PinnedIP{Address: netip.MustParseAddr("10.0.0.5"), Now: []netip.Addr{netip.MustParseAddr("10.0.0.8"), netip.MustParseAddr("10.0.0.9")}}
	for _, reason := range []probes.Reason{"ok", "idle_fin"} {
		rung := func() *build { return rungAt(0, 30*time.Second, reason) }
		plain := judgeOne(t, idleInput(time.Minute, rung()), 0)
		told := judgeOne(t, idleInput(time.Minute, rung().reuse(func(a *probes.Attempt) { a.PinnedIP = pin })), 0)
		if told.Verdict != plain.Verdict || told.Diagnosis != plain.Diagnosis {
			t.Errorf("%s: %s %s, want %s %s", reason, told.Verdict, told.Diagnosis, plain.Verdict, plain.Diagnosis)
		}
		if want := plain.Message + "; it stayed on 10.0.0.5, and DNS names 10.0.0.8, 10.0.0.9 now: a pool stays there, too"; told.Message != want {
			t.Errorf("%s: %q, want %q", reason, told.Message, want)
		}
		advised := slices.ContainsFunc(told.Advice, func(s string) bool { return strings.HasPrefix(s, "2. Limit the age of connections") })
		if advised != (plain.Verdict != probes.VerdictPass) {
			t.Errorf("%s: advice %q", reason, told.Advice)
		}
	}
}
