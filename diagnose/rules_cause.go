package diagnose

import "perch.example/probes"

// answeredRules are about an answer that came with a GOAWAY: whole as it is, it is no
// plain pass where the server says that something is wrong.
func answeredRules() []Rule {
	return []Rule{{
		Table: TableEverything, Causes: []Cause{CauseError, CausePings},
		Reasons: []probes.Reason{probes.ReasonOK, probes.ReasonNoKeepAlive},
		Verdict: probes.VerdictDegraded, Diagnosis: probes.DiagnosisUndeclaredClose, Family: probes.FamilyConnection,
		Why: "Answered; and the server ended the connection with an error's code.",
	}}
}

// causeRules judge a held connection, or a request on it, that HTTP/2's frames say
// ended for something else than its idle age.
func causeRules() []Rule {
	certain := []Early{EarlyRepeated, EarlyOnly}
	gone := []probes.Reason{probes.ReasonIdleGoaway, probes.ReasonGoawayUnprocessed, probes.ReasonGoawayProcessed}
	pings := Rule{
		Causes: []Cause{CausePings}, Reasons: goneReasons(),
		Verdict: probes.VerdictDegraded, Diagnosis: probes.DiagnosisEarlyClose,
		Why: "Ended by the client's own PINGs, which come more often than the server allows: each idle connection ends so, at whatever age.",
	}
	failed := Rule{
		Causes: []Cause{CauseError}, Reasons: goneReasons(),
		Verdict: probes.VerdictDegraded, Diagnosis: probes.DiagnosisUndeclaredClose,
		Why: "Ended with an error's code: in good order, but no idle limit.",
	}
	stream := Rule{
		Causes: []Cause{CauseStream}, Reasons: []probes.Reason{probes.ReasonRefusedStream, probes.ReasonStreamReset},
		Verdict: probes.VerdictDegraded, Diagnosis: probes.DiagnosisStaleConnection, Ages: []Age{AgeEarly},
		Why: "The connection lives: its request was reset, before keep_alive.",
	}
	other := causes(Rule{
		Causes: []Cause{CauseProtocol}, Reasons: []probes.Reason{probes.ReasonBadResponse},
		Verdict: probes.VerdictDegraded, Diagnosis: probes.DiagnosisUnstable,
		Why: "It carried nothing before, and its peer speaks another version of HTTP than the fresh connection's: that has nothing to do with idleness.",
	})
	other.Family = probes.FamilyReachability
	refused, limit, cut := stream, failed, failed
	refused.Reasons, refused.Ages, refused.Verdict = []probes.Reason{probes.ReasonRefusedStream}, nil, probes.VerdictPass
	refused.Why = "The connection lives; the request was not processed, and any client may send it again."
	limit.Causes, limit.Reasons, limit.Verdict = []Cause{CauseAge, CauseStop}, gone[:2], probes.VerdictPass
	limit.Why = "Ended at an age of the connection's own or as the server was stopped, and told: no idle limit, and nothing is lost."
	cut.Causes, cut.Reasons = limit.Causes, []probes.Reason{probes.ReasonGoawayProcessed}
	cut.Why = "Ended so while the request was on it: it may have been processed."
	return []Rule{
		causes(early(pings, certain, "Ended early by the client's own PINGs, which come more often than the server allows.")), causes(pings),
		causes(early(failed, certain, "Ended early, with an error's code.")), causes(failed),
		causes(limit), causes(cut),
		causes(early(stream, certain, "The connection lives: its requests are reset, before keep_alive, and not by chance.")), causes(stream),
		causes(refused), other,
	}
}

// early is the rule of what is certain to end before keep_alive: a fail.
func early(r Rule, certain []Early, why string) Rule {
	r.Ages, r.Early, r.Verdict, r.Why = []Age{AgeEarly}, certain, probes.VerdictFail, why
	return r
}

func causes(r Rule) Rule {
	r.Control, r.Family = []Control{ControlOK}, probes.FamilyConnection
	return rung(r)
}
