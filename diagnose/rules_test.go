package diagnose

import (
	"reflect"
	"slices"
	"testing"

	"perch.example/probes"
)

// everyCase walks every combination of facts.
func everyCase(visit func(Facts)) {
	for _, kind := range []probes.Kind{probes.KindHTTP, probes.KindIdle, probes.KindBurst} {
		for _, conn := range []probes.Connection{probes.ConnectionFresh, probes.ConnectionReused, probes.ConnectionControl} {
			for _, reason := range probes.Reasons() {
				for _, again := range againValues() {
					for _, control := range controlValues() {
						for bits := range 16 {
							everyCause(Facts{
								Kind: kind, Connection: conn, Reason: reason, Again: again, Control: control,
								Delayed: bits&1 > 0, Instant: bits&2 > 0, Exhausted: bits&4 > 0, Changed: bits&8 > 0,
							}, visit)
						}
					}
				}
			}
		}
	}
}

func everyCause(f Facts, visit func(Facts)) {
	causes := []Cause{CauseUnsaid}
	known := append(goneReasons(), probes.ReasonOK, probes.ReasonNoKeepAlive, probes.ReasonStreamReset)
	if slices.Contains(known, f.Reason) { // causeOf knows one of no other
		causes = causeValues()
	}
	if slices.Contains([]probes.Reason{probes.ReasonUnavailable, probes.ReasonStatus, probes.ReasonExpectation}, f.Reason) {
		causes = []Cause{CauseUnsaid, CauseAnswer}
	}
	if f.Reason == probes.ReasonTLS || f.Reason == probes.ReasonBadResponse {
		causes = []Cause{CauseUnsaid, CauseProtocol}
	}
	for _, f.Cause = range causes {
		everyAge(f, visit)
	}
}

func everyAge(f Facts, visit func(Facts)) {
	for _, f.Age = range ageValues() {
		for _, f.Early = range earlyValues() {
			for _, f.Expiry = range expiryValues() {
				visit(f)
			}
		}
	}
}

// TestRulesOfAKind: what a probe is judged by is the whole table, without what
// cannot match its kind.
func TestRulesOfAKind(t *testing.T) {
	for _, kind := range []probes.Kind{probes.KindHTTP, probes.KindIdle, probes.KindBurst, probes.KindGRPC, probes.KindTLS} {
		other := func(r Rule) bool { return !within(r.Kinds, kind) }
		got, want := slices.DeleteFunc(slices.Clone(rulesOf(kind)), other), slices.DeleteFunc(Rules(), other)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d rules, want %d: %+v", kind, len(got), len(want), got)
		}
	}
}

// TestRulesAreTotal proves that every case gets exactly one judgement, that the
// judgement is from the closed sets, and that nothing but what the table says
// is a pass.
func TestRulesAreTotal(t *testing.T) {
	rules := Rules()
	used := make([]bool, len(rules))
	var may []int
	var asked Facts
	everyCase(func(f Facts) {
		if here := (Facts{Kind: f.Kind, Connection: f.Connection, Reason: f.Reason}); here != asked {
			asked, may = here, mayMatch(rules, here)
		}
		first := slices.IndexFunc(may, func(i int) bool { return rules[i].matches(&f) })
		if first < 0 {
			t.Fatalf("no rule matches %+v", f)
		}
		i := may[first]
		used[i] = true
		r := rules[i]
		if !slices.Contains(probes.Verdicts(), r.Verdict) {
			t.Fatalf("%+v: verdict %q is none", f, r.Verdict)
		}
		if r.Diagnosis != "" && !slices.Contains(probes.Diagnoses(), r.Diagnosis) {
			t.Fatalf("%+v: diagnosis %q is none", f, r.Diagnosis)
		}
		if r.Verdict != probes.VerdictPass && !slices.Contains(probes.Families(), r.Family) {
			t.Fatalf("%+v: family %q is none", f, r.Family)
		}
		if r.Verdict == probes.VerdictPass && !mayPass(f) {
			t.Fatalf("%+v passes by rule %q", f, r.Why)
		}
		if bad := r.Verdict == probes.VerdictFail || r.Verdict == probes.VerdictDegraded; bad && r.Diagnosis == "" {
			t.Fatalf("%+v is %s without a diagnosis", f, r.Verdict)
		}
	})
	for i, r := range rules {
		if !used[i] {
			t.Errorf("rule %d never matches: %+v", i, r)
		}
	}
}

// mayMatch are the rules, in their order, that this kind, connection and reason leave
// to all the cases that differ in the rest.
func mayMatch(rules []Rule, f Facts) []int {
	var left []int
	for i, r := range rules {
		if part := (Rule{Kinds: r.Kinds, Connections: r.Connections, Reasons: r.Reasons}); part.matches(&f) {
			left = append(left, i)
		}
	}
	return left
}

// mayPass lists the only ways to a pass: a whole answer as expected, and a
// connection closed in good order, not early. A rung that is to tell of a moved
// bound is none, nor one that a GOAWAY with an error's code ended. What ended for the
// connection's own age, and told, is one at any idle age; so is a stream that was
// refused on a connection that lives, but not before keep_alive.
func mayPass(f Facts) bool {
	goaway := []probes.Reason{probes.ReasonIdleGoaway, probes.ReasonGoawayUnprocessed}
	ladder := held(f.Kind)
	held := ladder && f.Connection == probes.ConnectionReused && f.Control == ControlOK
	switch f.Cause {
	case CauseError, CausePings:
		if f.Reason == probes.ReasonOK || slices.Contains(goneReasons(), f.Reason) {
			return false
		}
	case CauseAge, CauseStop:
		if held && slices.Contains(goaway, f.Reason) {
			return true
		}
	case CauseStream:
		if held && f.Reason == probes.ReasonRefusedStream {
			return f.Age != AgeEarly
		}
		if f.Reason == probes.ReasonRefusedStream {
			return false
		}
	case CauseUnsaid, CauseAnswer, CauseProtocol:
	}
	if f.Changed && ladder && f.Connection == probes.ConnectionReused {
		return false
	}
	if f.Reason == probes.ReasonOK {
		return true
	}
	orderly := []probes.Reason{
		probes.ReasonIdleFIN, probes.ReasonIdleCloseNotify, probes.ReasonIdleGoaway,
		probes.ReasonGoawayUnprocessed, probes.ReasonRefusedStream,
	}
	if f.Kind == probes.KindHTTP && f.Reason == probes.ReasonRefusedStream {
		return false
	}
	early := ladder && f.Age == AgeEarly // nothing is expected of many requests on one connection
	return (ladder || f.Kind == probes.KindHTTP) && f.Connection == probes.ConnectionReused &&
		slices.Contains(orderly, f.Reason) && !early && !f.Instant && f.Control == ControlOK
}

// TestFreshTable holds the table of judging.md against the rules, cell by cell.
func TestFreshTable(t *testing.T) {
	const none = probes.Diagnosis("")
	tests := []struct {
		reasons   []probes.Reason
		again     probes.Diagnosis // none: perch does not try again
		otherwise probes.Diagnosis
		family    probes.Family
	}{
		{[]probes.Reason{"dns", "refused", "connect_timeout", "connect_failed", "proxy", "tls"}, "unstable", "unreachable", "reachability"},
		{[]probes.Reason{"certificate"}, none, "certificate", "certificate"},
		{[]probes.Reason{
			"eof", "crossed_close", "reset", "blackhole", "no_response", "partial_head", "partial_body", "bad_response",
			"goaway_processed", "goaway_unprocessed", "refused_stream", "stream_reset", "unavailable",
		}, "unstable", "service_down", "reachability"},
		{[]probes.Reason{"proxy_upstream_reset"}, "proxy_stale", "proxy_stale", "connection"},
		{[]probes.Reason{"rate_limited"}, "rate_limited", "rate_limited", "limits"},
		{[]probes.Reason{"unauthorized"}, none, "unauthorized", "authorization"},
		{[]probes.Reason{"redirected", "status", "too_large", "expectation"}, none, "contract", "contract"},
		{[]probes.Reason{"slow"}, none, "slow", "latency"},
	}
	seen := []probes.Reason{"canceled", "skipped", "internal", "no_keep_alive", "ok",
		"idle_goaway", "idle_close_notify", "idle_bytes", "idle_fin", "idle_rst"} // not on a fresh connection
	for _, tt := range tests {
		seen = append(seen, tt.reasons...)
		for _, reason := range tt.reasons {
			for _, conn := range []probes.Connection{"fresh", "control"} {
				for _, kind := range []probes.Kind{"http", "burst"} {
					f := Facts{Kind: kind, Connection: conn, Reason: reason, Control: ControlNone, Age: AgeLonger, Early: EarlyFirst, Expiry: ExpiryFar}
					for _, f.Again = range []Again{AgainNotTried, AgainFailed} {
						if f.Again == AgainFailed && tt.again == none {
							continue
						}
						expectRule(t, f, probes.VerdictFail, tt.otherwise, tt.family)
					}
					f.Again = AgainOK
					if tt.again != none {
						expectRule(t, f, probes.VerdictDegraded, tt.again, tt.family)
					} else {
						expectRule(t, f, probes.VerdictIncomplete, none, probes.FamilyOwn)
					}
				}
			}
		}
	}
	for _, reason := range []probes.Reason{"dns", "refused", "connect_timeout", "connect_failed", "proxy", "tls", "certificate"} {
		f := Facts{Kind: "idle", Connection: "reused", Reason: reason, Again: AgainNotTried, Control: ControlOK, Age: AgeLonger, Early: EarlyFirst, Expiry: ExpiryFar}
		expectRule(t, f, probes.VerdictIncomplete, none, probes.FamilyOwn) // a held connection is open
	}
	for _, r := range probes.Reasons() {
		if !slices.Contains(seen, r) {
			t.Errorf("reason %s is in no row", r)
		}
	}
}

// TestRungTable does the same for the idle table.
func TestRungTable(t *testing.T) {
	const always = probes.Verdict("")
	tests := []struct {
		reasons   []probes.Reason
		later     probes.Verdict // within and longer; always: fail at any age
		diagnosis probes.Diagnosis
	}{
		{[]probes.Reason{"idle_fin", "idle_close_notify", "idle_goaway", "goaway_unprocessed", "refused_stream"}, "pass", "early_close"},
		{[]probes.Reason{"idle_rst", "idle_bytes"}, "degraded", "stale_connection"},
		{[]probes.Reason{
			"crossed_close", "eof", "reset", "partial_head", "partial_body", "bad_response", "goaway_processed", "stream_reset",
		}, "degraded", "stale_connection"},
		{[]probes.Reason{"no_response"}, always, "stalled"},
		{[]probes.Reason{"blackhole"}, always, "silent_drop"},
		{[]probes.Reason{"proxy_upstream_reset"}, always, "proxy_stale"},
		{[]probes.Reason{"unavailable", "status", "expectation"}, "degraded", "undeclared_close"},
	}
	early := map[Early]struct {
		verdict   probes.Verdict
		diagnosis probes.Diagnosis // empty: the row's
	}{
		EarlyOutlived: {"degraded", "undeclared_close"},
		EarlyMass:     {"degraded", "mass_close"},
		EarlyRepeated: {"fail", ""},
		EarlyOnly:     {"fail", ""},
		EarlyFirst:    {"degraded", ""},
	}
	for _, tt := range tests {
		for _, reason := range tt.reasons {
			for _, kind := range []probes.Kind{"idle", "burst"} {
				f := Facts{Kind: kind, Connection: "reused", Reason: reason, Again: AgainNotTried, Control: ControlOK, Expiry: ExpiryFar, Early: EarlyFirst}
				for _, f.Age = range []Age{AgeWithin, AgeLonger} {
					want := tt.later
					if want == always {
						want = probes.VerdictFail
					}
					expectRule(t, f, want, tt.diagnosis, probes.FamilyConnection)
				}
				f.Age = AgeEarly
				for _, f.Early = range earlyValues() {
					want := early[f.Early]
					if want.diagnosis == "" {
						want.diagnosis = tt.diagnosis
					}
					if tt.later == always {
						want.verdict, want.diagnosis = probes.VerdictFail, tt.diagnosis
					}
					expectRule(t, f, want.verdict, want.diagnosis, probes.FamilyConnection)
				}
			}
		}
	}
}

func expectRule(t *testing.T, f Facts, v probes.Verdict, d probes.Diagnosis, family probes.Family) {
	t.Helper()
	r := find(Rules(), f)
	if r.Verdict != v || r.Diagnosis != d || r.Family != family {
		t.Errorf("%+v: %s %q %s, want %s %q %s", f, r.Verdict, r.Diagnosis, r.Family, v, d, family)
	}
}
