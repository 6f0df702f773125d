package diagnose

import "perch.example/probes"

// rungRules judge a reused connection whose control worked (or that worked
// itself). A warm-up or a control that failed is judged by freshRules.
func rungRules() []Rule {
	rules := []Rule{
		{
			Table: TableRung, Kinds: []probes.Kind{probes.KindIdle, probes.KindBurst},
			Connections: []probes.Connection{probes.ConnectionFresh},
			Reasons:     []probes.Reason{probes.ReasonNoKeepAlive},
			Verdict:     probes.VerdictSkipped, Diagnosis: probes.DiagnosisNoKeepAlive, Family: probes.FamilyConnection,
			Why: "The warm answer ended its connection: nothing can be held.",
		},
	}
	rules = append(rules, causeRules()...)
	rules = append(rules, goesOnRules()...)
	rules = append(rules,
		rung(Rule{
			Changed: true, Reasons: []probes.Reason{probes.ReasonOK},
			Verdict: probes.VerdictDegraded, Diagnosis: probes.DiagnosisBoundChanged, Family: probes.FamilyConnection,
			Why: "It still worked; two runs agree that the path ends idle connections at another age than before.",
		}),
		rung(Rule{
			Changed: true, Reasons: ended(), Control: []Control{ControlOK}, Ages: []Age{AgeWithin, AgeLonger},
			Verdict: probes.VerdictDegraded, Diagnosis: probes.DiagnosisBoundChanged, Family: probes.FamilyConnection,
			Why: "It ended; two runs agree that the path ends idle connections at another age than before.",
		}),
		rung(Rule{
			Reasons: []probes.Reason{probes.ReasonOK}, Verdict: probes.VerdictPass,
			Why: "The idle connection still worked.",
		}),
		rung(Rule{
			Reasons: unanswered(), Control: []Control{ControlNone},
			Verdict: probes.VerdictIncomplete, Family: probes.FamilyOwn,
			Why: "Without a control a dead connection and a dead service look the same.",
		}),
	)
	for _, w := range rungRows() {
		rules = append(rules, w.rules()...)
	}
	return rules
}

// rungRow is a line of the idle table: what a reason on the reused connection
// means at an age that is not early. Early closes go through earlyRules.
type rungRow struct {
	reasons  []probes.Reason
	instant  bool // only closes within 100 ms of the answer
	always   bool // the age does not matter: always fail
	later    probes.Verdict
	diagnose probes.Diagnosis
	why      string
}

func rungRows() []rungRow {
	return []rungRow{
		{
			reasons: ended(), instant: true, later: probes.VerdictDegraded, diagnose: probes.DiagnosisUndeclaredClose,
			why: "Closed within 100 ms of the answer, which did not say so.",
		},
		{
			reasons: []probes.Reason{
				probes.ReasonIdleFIN, probes.ReasonIdleCloseNotify, probes.ReasonIdleGoaway,
				probes.ReasonGoawayUnprocessed, probes.ReasonRefusedStream,
			},
			later: probes.VerdictPass, diagnose: probes.DiagnosisEarlyClose,
			why: "Closed in good order, so that a client that looks can see it.",
		},
		{
			reasons: []probes.Reason{probes.ReasonIdleRST, probes.ReasonIdleBytes},
			later:   probes.VerdictDegraded, diagnose: probes.DiagnosisStaleConnection,
			why: "Ended by force, or with bytes that a client may take for an answer.",
		},
		{
			reasons: []probes.Reason{
				probes.ReasonCrossedClose, probes.ReasonEOF, probes.ReasonReset,
				probes.ReasonPartialHead, probes.ReasonPartialBody, probes.ReasonBadResponse,
				probes.ReasonGoawayProcessed, probes.ReasonStreamReset,
			},
			later: probes.VerdictDegraded, diagnose: probes.DiagnosisStaleConnection,
			why: "It looked alive and did not carry the request.",
		},
		{
			reasons: []probes.Reason{probes.ReasonNoResponse}, always: true, diagnose: probes.DiagnosisStalled,
			why: "The idle connection took the request and never answered.",
		},
		{
			reasons: []probes.Reason{probes.ReasonBlackhole}, always: true, diagnose: probes.DiagnosisSilentDrop,
			why: "The path forgot the connection without a word: no client can see it by looking.",
		},
		{
			reasons: []probes.Reason{probes.ReasonProxyUpstreamReset}, always: true, diagnose: probes.DiagnosisProxyStale,
			why: "A proxy used a dead connection of its own.",
		},
		{
			reasons: []probes.Reason{probes.ReasonUnavailable, probes.ReasonStatus, probes.ReasonExpectation},
			later:   probes.VerdictDegraded, diagnose: probes.DiagnosisUndeclaredClose,
			why: "An answer that only the reused connection gave, which ended with it (Connection: close), or is about it (408, 421).",
		},
	}
}

// rules spells the row out.
func (w rungRow) rules() []Rule {
	base := rung(Rule{
		Reasons: w.reasons, Instant: w.instant, Control: []Control{ControlOK},
		Verdict: probes.VerdictFail, Diagnosis: w.diagnose, Family: probes.FamilyConnection, Why: w.why,
	})
	if w.always {
		return []Rule{base}
	}
	later := base
	later.Ages, later.Verdict = []Age{AgeWithin, AgeLonger}, w.later
	return append(earlyRules(base), later)
}

// earlyRules are what an early close comes to, a to e.
func earlyRules(base Rule) []Rule {
	base.Ages = []Age{AgeEarly}
	outlived, mass, certain, first := base, base, base, base
	outlived.Early = []Early{EarlyOutlived}
	outlived.Verdict, outlived.Diagnosis = probes.VerdictDegraded, probes.DiagnosisUndeclaredClose
	mass.Early = []Early{EarlyMass}
	mass.Verdict, mass.Diagnosis = probes.VerdictDegraded, probes.DiagnosisMassClose
	certain.Early = []Early{EarlyRepeated, EarlyOnly}
	first.Early = []Early{EarlyFirst}
	first.Verdict = probes.VerdictDegraded
	return []Rule{outlived, mass, certain, first}
}

func rung(r Rule) Rule {
	r.Table = TableRung
	r.Kinds = []probes.Kind{probes.KindIdle, probes.KindBurst}
	r.Connections = []probes.Connection{probes.ConnectionReused}
	return r
}

// ended are the reasons by which a connection ends so that it can be seen.
func ended() []probes.Reason {
	return []probes.Reason{
		probes.ReasonIdleFIN, probes.ReasonIdleCloseNotify, probes.ReasonIdleGoaway,
		probes.ReasonIdleRST, probes.ReasonIdleBytes,
		probes.ReasonGoawayUnprocessed, probes.ReasonRefusedStream,
		probes.ReasonGoawayProcessed, probes.ReasonStreamReset,
		probes.ReasonCrossedClose, probes.ReasonEOF, probes.ReasonReset,
		probes.ReasonPartialHead, probes.ReasonPartialBody, probes.ReasonBadResponse,
	}
}

// reasonsOfReuse are the failures on a reused connection that its being reused may
// explain. The other answers mean what they mean on a fresh connection.
func reasonsOfReuse() []probes.Reason {
	return append(ended(),
		probes.ReasonBlackhole, probes.ReasonNoResponse, probes.ReasonProxyUpstreamReset,
		probes.ReasonUnavailable, probes.ReasonStatus, probes.ReasonExpectation,
	)
}
