package diagnose

import "perch.example/probes"

// manyRules judge a connection of kind http that is to carry many requests, one after
// the other: as a rung of which nothing is expected of its age. One that ended with a
// word (Connection: close, GOAWAY) was answered, and its first request decides.
func manyRules() []Rule {
	rules := []Rule{
		many(Rule{
			Reasons: unanswered(), Control: []Control{ControlNone},
			Verdict: probes.VerdictIncomplete, Family: probes.FamilyOwn,
			Why: "Without a control a dead connection and a dead service look the same.",
		}),
	}
	for _, r := range manyRows() {
		if r.Verdict == "" {
			r.Verdict = probes.VerdictDegraded
		}
		if r.Family == "" {
			r.Family = probes.FamilyConnection
		}
		r.Control = []Control{ControlOK}
		rules = append(rules, many(r))
	}
	return rules
}

func many(r Rule) Rule {
	r.Table, r.Kinds, r.Connections = TableMany, []probes.Kind{probes.KindHTTP}, []probes.Connection{probes.ConnectionReused}
	return r
}

// manyRows are what a request came to after others on its connection, where a fresh
// one worked: degraded, unless a row says otherwise.
func manyRows() []Rule {
	return []Rule{
		{
			Reasons: []probes.Reason{probes.ReasonUnavailable}, Diagnosis: probes.DiagnosisUnstable, Family: probes.FamilyReachability,
			Why: "An answer like any other: the connection has nothing to do with it.",
		},
		{
			Reasons: []probes.Reason{probes.ReasonStatus, probes.ReasonExpectation}, Diagnosis: probes.DiagnosisContract, Family: probes.FamilyContract,
			Why: "A whole answer that is not the expected one, while a fresh connection got it.",
		},
		{
			Reasons: []probes.Reason{probes.ReasonRefusedStream, probes.ReasonStreamReset}, Causes: []Cause{CauseStream},
			Diagnosis: probes.DiagnosisUnstable, Family: probes.FamilyReachability,
			Why: "The request's stream was reset; the connection went on.",
		},
		{
			Reasons: goneReasons(), Causes: []Cause{CauseError, CausePings}, Diagnosis: probes.DiagnosisUndeclaredClose,
			Why: "Ended with an error's code: no limit that a server has by itself.",
		},
		{
			Reasons: ended(), Instant: true, Diagnosis: probes.DiagnosisUndeclaredClose,
			Why: "Closed within 100 ms of the answer, which did not say so.",
		},
		{
			Reasons: []probes.Reason{
				probes.ReasonIdleFIN, probes.ReasonIdleCloseNotify, probes.ReasonIdleGoaway, probes.ReasonGoawayUnprocessed,
			},
			Verdict: probes.VerdictPass, Diagnosis: probes.DiagnosisEarlyClose,
			Why: "Closed in good order between two requests, so that a client that looks can see it.",
		},
		{
			Reasons: []probes.Reason{probes.ReasonIdleRST, probes.ReasonIdleBytes}, Diagnosis: probes.DiagnosisStaleConnection,
			Why: "Ended by force between two requests, or with bytes that a client may take for an answer.",
		},
		{
			Reasons: ended(), Diagnosis: probes.DiagnosisUndeclaredClose,
			Why: "It broke under a request, after others had been answered, and nothing had said so.",
		},
		{
			Reasons: []probes.Reason{probes.ReasonNoResponse}, Verdict: probes.VerdictFail, Diagnosis: probes.DiagnosisStalled,
			Why: "The connection took the request and never answered.",
		},
		{
			Reasons: []probes.Reason{probes.ReasonBlackhole}, Verdict: probes.VerdictFail, Diagnosis: probes.DiagnosisSilentDrop,
			Why: "The path forgot the connection without a word: no client can see it by looking.",
		},
		{
			Reasons: []probes.Reason{probes.ReasonProxyUpstreamReset}, Verdict: probes.VerdictFail, Diagnosis: probes.DiagnosisProxyStale,
			Why: "A proxy used a dead connection of its own.",
		},
	}
}
