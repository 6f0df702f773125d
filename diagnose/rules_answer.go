package diagnose

import "perch.example/probes"

// goesOnRules judge a whole answer that is not the expected one, on a reused connection
// that nothing says has ended with it: an answer as on any connection. In a burst the
// calls after it stand for the control that it may not have had.
func goesOnRules() []Rule {
	var rules []Rule
	for _, w := range []struct {
		reasons       []probes.Reason
		again, failed probes.Diagnosis
		family        probes.Family
	}{
		{[]probes.Reason{probes.ReasonUnavailable}, probes.DiagnosisUnstable, probes.DiagnosisServiceDown, probes.FamilyReachability},
		{[]probes.Reason{probes.ReasonStatus, probes.ReasonExpectation}, probes.DiagnosisContract, probes.DiagnosisContract, probes.FamilyContract},
	} {
		controlled := rung(Rule{
			Reasons: w.reasons, Causes: []Cause{CauseAnswer}, Control: []Control{ControlOK},
			Verdict: probes.VerdictDegraded, Diagnosis: w.again, Family: w.family,
			Why: "An answer like any other: the connection has nothing to do with it.",
		})
		followed := controlled
		followed.Kinds, followed.Causes = []probes.Kind{probes.KindBurst}, nil // one that ended its connection may have had no control either
		followed.Control, followed.Again = []Control{ControlNone}, []Again{AgainOK}
		followed.Why = "In a burst: a call within 10 s after it was answered as expected."
		last := followed
		last.Again, last.Verdict, last.Diagnosis = []Again{AgainNotTried}, probes.VerdictFail, w.failed
		last.Why = "In a burst: no call within 10 s after it was answered as expected."
		rules = append(rules, controlled, followed, last)
	}
	return rules
}
