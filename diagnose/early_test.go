package diagnose

import (
	"maps"
	"net/netip"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestEarly is about a rung of 30 s that the peer closed at 20 s, where 60 s
// were expected, beside other rungs and another run.
func TestEarly(t *testing.T) {
	const s = time.Second
	early := func() *build { return rungAt(0, 30*s, probes.ReasonIdleFIN).closed(20*s, probes.HowFIN) }
	closedAt := early().o.Close.At
	// together is another rung that is closed `later` than the first, at that age.
	together := func(later, age time.Duration) *build {
		b := rungAt(0, 45*s, probes.ReasonIdleFIN).closed(age, probes.HowFIN)
		b.o.Close.At = closedAt.Add(later)
		return b
	}
	elsewhere := rungAt(5*s, 59*s, probes.ReasonOK).reuse(func(a *probes.Attempt) {
		a.Remote = netip.MustParseAddrPort("192.0.2.8:443")
	})
	tests := []struct {
		name    string
		others  []*build
		last    map[time.Duration]time.Duration
		verdict probes.Verdict
		diag    probes.Diagnosis
	}{
		{"a: a longer one worked", []*build{rungAt(5*s, 59*s, probes.ReasonOK)}, nil, "degraded", "undeclared_close"},
		{"a: not when it is longer by less than tol", []*build{rungAt(5*s, 20900*time.Millisecond, probes.ReasonOK)}, nil, "degraded", "early_close"},
		{"a: not on another address", []*build{elsewhere}, nil, "degraded", "early_close"},
		{"a before b and c", []*build{rungAt(5*s, 59*s, probes.ReasonOK), together(0, 15*s), together(5*s, 20*s)}, nil, "degraded", "undeclared_close"},
		{"b: one moment, other ages", []*build{together(time.Second, 15*s)}, nil, "degraded", "mass_close"},
		{"b: not at the same age", []*build{together(500*time.Millisecond, 20500*time.Millisecond)}, nil, "degraded", "early_close"},
		{"b: not at another moment", []*build{together(1001*time.Millisecond, 15*s)}, nil, "degraded", "early_close"},
		{"b before c", []*build{together(0, 15*s), together(9*s, 20*s)}, nil, "degraded", "mass_close"},
		{"c: the same age at another moment", []*build{together(5*s, 20900*time.Millisecond)}, nil, "fail", "early_close"},
		{"c: not at another age", []*build{together(5*s, 21100*time.Millisecond)}, nil, "degraded", "early_close"},
		{"c: early in the last run too", []*build{rungAt(5*s, 10*s, probes.ReasonOK)}, map[time.Duration]time.Duration{30 * s: 12 * s}, "fail", "early_close"},
		{"c: another hold, the same age in the last run", []*build{rungAt(5*s, 10*s, probes.ReasonOK)}, map[time.Duration]time.Duration{45 * s: 20 * s}, "fail", "early_close"},
		{"d: the only rung", nil, nil, "fail", "early_close"},
		{"c before b: early in the last run, though not in a crowd", []*build{together(0, 15*s)}, map[time.Duration]time.Duration{30 * s: 20 * s}, "fail", "early_close"},
		{"c before a: a longer one worked, but longer by less than a tick", []*build{rungAt(5*s, 29*s, probes.ReasonOK)}, map[time.Duration]time.Duration{30 * s: 20 * s}, "fail", "early_close"},
		{"a before c: longer than the last end by more than a tick", []*build{rungAt(5*s, 29*s, probes.ReasonOK)}, map[time.Duration]time.Duration{30 * s: 18 * s}, "degraded", "undeclared_close"},
		{"a before c: longer by more than a tick", []*build{rungAt(5*s, 31*s, probes.ReasonOK)}, map[time.Duration]time.Duration{30 * s: 20 * s}, "degraded", "undeclared_close"},
		{"e: early in the last run, at another age", []*build{rungAt(5*s, 10*s, probes.ReasonOK)}, map[time.Duration]time.Duration{30 * s: 9 * s}, "degraded", "early_close"},
		{"e: a first sighting", []*build{rungAt(5*s, 10*s, probes.ReasonOK)}, nil, "degraded", "early_close"},
		{"e: another hold early in the last run", []*build{rungAt(5*s, 10*s, probes.ReasonOK)}, map[time.Duration]time.Duration{45 * s: 40 * s}, "degraded", "early_close"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := idleInput(time.Minute, append([]*build{early()}, tt.others...)...)
			in.Last.EarlyCloses = tt.last
			for _, o := range Judge(in) {
				if o.Hold != 30*s {
					continue
				}
				if o.Verdict != tt.verdict || o.Diagnosis != tt.diag {
					t.Errorf("%s %s, want %s %s", o.Verdict, o.Diagnosis, tt.verdict, tt.diag)
				}
			}
		})
	}
}

// TestTolerance walks the columns around keep_alive.
func TestTolerance(t *testing.T) {
	const ms = time.Millisecond
	for age, want := range map[time.Duration]time.Duration{
		time.Second: 100 * ms, 2 * time.Second: 100 * ms, 10 * time.Second: 500 * ms,
		20 * time.Second: time.Second, time.Hour: time.Second,
	} {
		if got := tolerance(age); got != want {
			t.Errorf("tolerance of %s is %s, want %s", age, got, want)
		}
	}
	tests := []struct {
		closed  time.Duration
		reason  probes.Reason
		verdict probes.Verdict
	}{
		{58999 * ms, "idle_fin", "fail"}, {59000 * ms, "idle_fin", "pass"}, {60000 * ms, "idle_fin", "pass"},
		{61000 * ms, "idle_fin", "pass"}, {61001 * ms, "idle_fin", "pass"},
		{58999 * ms, "idle_rst", "fail"}, {59000 * ms, "idle_rst", "degraded"}, {70000 * ms, "idle_rst", "degraded"},
		{58999 * ms, "eof", "fail"}, {60000 * ms, "eof", "degraded"},
		{58999 * ms, "unavailable", "fail"}, {60000 * ms, "unavailable", "degraded"},
		{58999 * ms, "blackhole", "fail"}, {70000 * ms, "blackhole", "fail"},
	}
	for _, tt := range tests {
		rung := rungAt(0, 120*time.Second, tt.reason).closed(tt.closed, probes.HowFIN)
		if o := judgeOne(t, idleInput(time.Minute, rung), 0); o.Verdict != tt.verdict {
			t.Errorf("%s closed at %s: %s, want %s", tt.reason, tt.closed, o.Verdict, tt.verdict)
		}
		// Without a close that was seen, the age of the reuse counts.
		blind := rungAt(0, tt.closed, tt.reason).reuse(func(a *probes.Attempt) { a.CloseAfter = a.Reason == probes.ReasonUnavailable })
		if o := judgeOne(t, idleInput(time.Minute, blind), 0); o.Verdict != tt.verdict {
			t.Errorf("%s, reused at %s: %s, want %s", tt.reason, tt.closed, o.Verdict, tt.verdict)
		}
	}
}

func TestInstantClose(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		age       time.Duration
		keepAlive time.Duration
		verdict   probes.Verdict
		diag      probes.Diagnosis
	}{
		{100 * ms, 0, "degraded", "undeclared_close"},
		{101 * ms, 0, "pass", ""},
		{100 * ms, time.Minute, "fail", "undeclared_close"}, // the only rung
		{100 * ms, 50 * ms, "degraded", "undeclared_close"},
	}
	for _, tt := range tests {
		in := idleInput(tt.keepAlive, rungAt(0, time.Second, probes.ReasonIdleFIN).closed(tt.age, probes.HowFIN))
		o := judgeOne(t, in, 0)
		if o.Verdict != tt.verdict || o.Diagnosis != tt.diag {
			t.Errorf("closed after %s, keep_alive %s: %s %q, want %s %q", tt.age, tt.keepAlive, o.Verdict, o.Diagnosis, tt.verdict, tt.diag)
		}
		// A client that would throw does not make it worse: idleness is not the cause.
		in.Spec.Client = incidentClient()
		if o := judgeOne(t, in, 0); tt.diag != "" && o.Verdict != tt.verdict {
			t.Errorf("closed after %s with a client: %s, want %s", tt.age, o.Verdict, tt.verdict)
		}
	}
}

// TestInstantNeedsBothAges: an age that is not known is zero, and proves nothing.
func TestInstantNeedsBothAges(t *testing.T) {
	rung := rungAt(0, 61*time.Second, probes.ReasonIdleFIN).closed(60*time.Second, probes.HowFIN)
	rung.o.Close.AfterReply = 0
	if o := judgeOne(t, idleInput(time.Minute, rung), 0); o.Verdict != probes.VerdictPass {
		t.Errorf("closed after 60 s: %s %s, want pass", o.Verdict, o.Diagnosis)
	}
}

// TestTicks is about the rung of 30 s that was closed at 20 s at one moment with
// others, in this run and in the last: a server that closes at its ticks what is
// idle does that, at about the same ages; a reload does not.
func TestTicks(t *testing.T) {
	const s = time.Second
	early := rungAt(0, 30*s, probes.ReasonIdleFIN).closed(20*s, probes.HowFIN)
	crowd := func(ages ...time.Duration) []*build {
		all := []*build{early}
		for i, age := range ages {
			b := rungAt(0, 45*s+time.Duration(i)*s, probes.ReasonIdleFIN).closed(age, probes.HowFIN)
			b.o.Close.At = early.o.Close.At
			all = append(all, b)
		}
		return all
	}
	last := func(age time.Duration) map[time.Duration]time.Duration {
		return map[time.Duration]time.Duration{30 * s: age}
	}
	for _, tt := range []struct {
		name  string
		rungs []*build
		last  map[time.Duration]time.Duration
		want  probes.Diagnosis
		verd  probes.Verdict
	}{
		{"the first time", crowd(15 * s), nil, "mass_close", "degraded"},
		{"again, at the same age", crowd(15 * s), last(20 * s), "early_close", "fail"},
		{"again, within a tick", crowd(15 * s), last(25 * s), "early_close", "fail"},
		{"again, but no tick closes both", crowd(15 * s), last(26 * s), "mass_close", "degraded"},
		{"again, at another age", crowd(15 * s), last(31 * s), "mass_close", "degraded"},
		{"again, but no tick closes ages so far apart", crowd(15*s, 9*s), last(20 * s), "mass_close", "degraded"},
		{"only another hold", crowd(15 * s), map[time.Duration]time.Duration{45 * s: 15 * s}, "mass_close", "degraded"},
		{"alone this time", []*build{early, rungAt(5*s, 10*s, probes.ReasonOK)}, last(22 * s), "early_close", "fail"},
		{"alone this time, at another age", []*build{early, rungAt(5*s, 10*s, probes.ReasonOK)}, last(5 * s), "early_close", "degraded"},
	} {
		in := idleInput(time.Minute, tt.rungs...)
		in.Last = Last{Seen: true, MassCloses: tt.last}
		for _, o := range Judge(in) {
			if o.Hold == 30*s && (o.Diagnosis != tt.want || o.Verdict != tt.verd) {
				t.Errorf("%s: %s %s, want %s %s", tt.name, o.Verdict, o.Diagnosis, tt.verd, tt.want)
			}
		}
	}
}

// TestALoneRung cannot tell a reload from idleness: in the first run it counts,
// later only what comes twice.
func TestALoneRung(t *testing.T) {
	const s = time.Second
	in := idleInput(time.Minute, rungAt(0, 30*s, probes.ReasonIdleFIN).closed(20*s, probes.HowFIN))
	for _, tt := range []struct {
		name string
		last Last
		want probes.Verdict
	}{
		{"the first run", Last{}, "fail"},
		{"it was well in the last", Last{Seen: true}, "degraded"},
		{"early in the last, too", Last{Seen: true, EarlyCloses: map[time.Duration]time.Duration{30 * s: 12 * s}}, "fail"},
		{"early in the last, but at another age", Last{Seen: true, EarlyCloses: map[time.Duration]time.Duration{30 * s: 9 * s}}, "degraded"},
	} {
		in.Last = tt.last
		if o := judgeOne(t, in, 0); o.Verdict != tt.want || o.Diagnosis != probes.DiagnosisEarlyClose {
			t.Errorf("%s: %s %s, want %s", tt.name, o.Verdict, o.Diagnosis, tt.want)
		}
	}
}

func TestEarlyCloses(t *testing.T) {
	const s = time.Second
	mass := rungAt(0, 45*s, probes.ReasonIdleFIN).closed(15*s, probes.HowFIN)
	massToo := rungAt(0, 50*s, probes.ReasonIdleFIN).closed(25*s, probes.HowFIN)
	farther := rungAt(0, 50*s, probes.ReasonIdleFIN).closed(26*s, probes.HowFIN)
	massToo.o.Close.At, farther.o.Close.At = mass.o.Close.At, mass.o.Close.At
	tests := []struct {
		name       string
		rungs      []*build
		want, mass map[time.Duration]time.Duration
	}{
		{"worked", []*build{rungAt(0, 30*s, "ok")}, nil, nil},
		{"early", []*build{rungAt(0, 30*s, "idle_fin").closed(20*s, "fin")}, map[time.Duration]time.Duration{30 * s: 20 * s}, nil},
		{"early, not seen", []*build{rungAt(0, 30*s, "eof")}, map[time.Duration]time.Duration{30 * s: 30 * s}, nil},
		{"in time", []*build{rungAt(0, 61*s, "idle_fin").closed(60*s, "fin")}, nil, nil},
		{"control failed", []*build{rungAt(0, 30*s, "idle_fin").closed(20*s, "fin").control("refused")}, nil, nil},
		{"outlived by less than a tick", []*build{rungAt(0, 30*s, "idle_fin").closed(20*s, "fin"), rungAt(0, 30*s, "ok")}, map[time.Duration]time.Duration{30 * s: 20 * s}, nil},
		{"outlived by more", []*build{rungAt(0, 30*s, "idle_fin").closed(20*s, "fin"), rungAt(0, 31*s, "ok")}, nil, nil},
		{"mass close of ages that no tick explains", []*build{mass, farther}, nil, nil},
		{"mass close", []*build{mass, massToo}, nil, map[time.Duration]time.Duration{45 * s: 15 * s, 50 * s: 25 * s}},
		{"twice one hold", []*build{
			rungAt(0, 30*s, "idle_fin").closed(20*s, "fin"), rungAt(5*s, 30*s, "idle_fin").closed(19*s, "fin"),
		}, map[time.Duration]time.Duration{30 * s: 19 * s}, nil},
	}
	for _, tt := range tests {
		got, mass := EarlyCloses(idleInput(time.Minute, tt.rungs...))
		if !maps.Equal(got, tt.want) || !maps.Equal(mass, tt.mass) {
			t.Errorf("%s: %v and %v, want %v and %v", tt.name, got, mass, tt.want, tt.mass)
		}
	}
}

// TestEarlyByOurOwnClockOnly: perch read the warm answer late and began to count
// the idle age then. The close is not early by as much as that.
func TestEarlyByOurOwnClockOnly(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name string
		late time.Duration
		want probes.Verdict
		says string
	}{
		{"in time", 0, probes.VerdictFail, "after 719 ms idle, before the expected 1 s"},
		{"late, but not by that much", 100 * ms, probes.VerdictFail, "after 719 ms idle, before the expected 1 s"},
		{"late by what is missing", 290 * ms, probes.VerdictPass, "as expected: 1 s (perch had read the answer before up to 290 ms late)"},
	} {
		late := func(a *probes.Attempt) { a.Delay, a.Waited, a.DelayKnown = tt.late, tt.late, true }
		in := idleInput(time.Second, rungAt(0, 1500*ms, "idle_fin").closed(719*ms, "fin").warmed(late))
		if o := judgeOne(t, in, 0); o.Verdict != tt.want || !strings.Contains(o.Message, tt.says) {
			t.Errorf("%s: %s, want %s: %s", tt.name, o.Verdict, tt.want, o.Message)
		}
	}
}

// TestEarlyAtThePlansDistance: rungs that the plan warms min(5 s, keep_alive/10)
// apart and that all end at one idle age are certain in the first run, however
// the moments fall, and whether a last run is known or not.
func TestEarlyAtThePlansDistance(t *testing.T) {
	const ms = time.Millisecond
	holds := []time.Duration{1500 * ms, 1800 * ms, 2500 * ms, 3500 * ms, 4500 * ms}
	for _, keepAlive := range []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second, time.Minute} {
		apart := min(5*time.Second, keepAlive/10)
		for _, jitter := range []time.Duration{0, apart / 5, -apart / 5} {
			for _, reason := range []probes.Reason{probes.ReasonIdleFIN, probes.ReasonIdleRST} {
				var rungs []*build
				for i, hold := range holds {
					at := time.Duration(i) * apart
					if i%2 == 1 {
						at += jitter
					}
					rungs = append(rungs, rungAt(at, hold, reason).closed(1000*ms+time.Duration(i)*ms, probes.HowFIN))
				}
				in := idleInput(keepAlive, rungs...)
				in.Spec.Client = &probes.Client{Kind: "okhttp"}
				first := Judge(in)
				in.Last.EarlyCloses, in.Last.MassCloses = EarlyCloses(in)
				for i, again := range Judge(in) {
					if first[i].Verdict != probes.VerdictFail || again.Verdict != probes.VerdictFail {
						t.Errorf("keep_alive %s, jitter %s, %s held for %s: %s, then %s; want fail both times",
							keepAlive, jitter, reason, again.Hold, first[i].Verdict, again.Verdict)
					}
				}
			}
		}
	}
}

// TestOneMomentIsNotTwo: closes at one moment and one age are one sighting,
// certain only when the last run saw it too.
func TestOneMomentIsNotTwo(t *testing.T) {
	const s = time.Second
	rungs := []*build{
		rungAt(0, 2*s, probes.ReasonIdleFIN).closed(s, probes.HowFIN),
		rungAt(200*time.Millisecond, 3*s, probes.ReasonIdleFIN).closed(s, probes.HowFIN),
	}
	in := idleInput(5*s, rungs...)
	if o := judgeOne(t, in, 0); o.Verdict != probes.VerdictDegraded {
		t.Errorf("first run: %s, want degraded", o.Verdict)
	}
	in.Last.EarlyCloses, in.Last.MassCloses = EarlyCloses(in)
	if o := judgeOne(t, in, 0); o.Verdict != probes.VerdictFail {
		t.Errorf("second run: %s, want fail", o.Verdict)
	}
}
