package diagnose

import "perch.example/probes"

// manyRules judge a connection of kind http that is to carry many requests, one after
// the other: as a rung of which nothing is expected of its age. One that ended with a
// word (Connection: close, GOAWAY) was answered, and its first request decides.
func manyRules() []Rule {
	many := func(r Rule) Rule {
		r.Table, r.Kinds, r.Connections = TableMany, []probes.Kind{probes.KindHTTP}, []probes.Connection{probes.ConnectionReused}
		return r
	}
	rules := []Rule{
		many(Rule{
			Reasons: unanswered(), Control: []Control{ControlNone},
			Verdict: probes.VerdictIncomplete, Family: probes.FamilyOwn,
			Why: "Without a control a dead connection and a dead service look the same.",
		}),
	}
	for _, w := range rungRows() {
		r := many(Rule{
			Reasons: w.reasons, Instant: w.instant, Control: []Control{ControlOK},
			Verdict: w.later, Diagnosis: w.diagnose, Family: probes.FamilyConnection, Why: w.why,
		})
		if w.always {
			r.Verdict = probes.VerdictFail
		}
		rules = append(rules, r)
	}
	return rules
}
