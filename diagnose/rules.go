package diagnose

import (
	"slices"
	"sync"

	"perch.example/probes"
)

// Rule is one line of the judging table. Empty conditions match everything;
// the flags, when set, ask for the fact of the same name.
type Rule struct {
	Table       Table
	Kinds       []probes.Kind
	Connections []probes.Connection
	Reasons     []probes.Reason
	Delayed     bool
	Exhausted   bool
	Instant     bool
	Changed     bool
	Causes      []Cause
	Again       []Again
	Control     []Control
	Ages        []Age
	Early       []Early
	Expiry      []Expiry

	Verdict   probes.Verdict
	Diagnosis probes.Diagnosis // of a pass: what it becomes where the client makes it worse
	Family    probes.Family    // likewise
	Why       string           // one line for the docs
}

// Table groups rules in the docs.
type Table string

// The tables, in walking order.
const (
	TableEverything Table = "Everything"
	TableRung       Table = "A rung of kind idle, a reused call of kind burst"
	TableMany       Table = "Many requests on one connection"
	TableFresh      Table = "A fresh exchange"
	TableElse       Table = "Anything else"
)

// Rules returns the judging table, in deciding order. The last rule matches
// everything, so that every case has a judgement and none is a pass by chance.
func Rules() []Rule {
	return slices.Concat(everythingRules(), answeredRules(), rungRules(), manyRules(), freshRules(), elseRules())
}

// rulesOf are those of Rules that can match a probe of this kind, in their order.
// Nobody may change them.
func rulesOf(kind probes.Kind) []Rule {
	if held(kind) {
		return rungBook()
	}
	return manyBook()
}

// The rules of each kind of probe, and the reasons that most of what is judged is
// held against: made once, for perch serve judges hundreds of probes a second.
//
//nolint:gochecknoglobals // they cannot change: constants that have to be computed
var (
	rungBook = sync.OnceValue(func() []Rule { return rulesWith(rungRules()) })
	manyBook = sync.OnceValue(func() []Rule { return rulesWith(manyRules()) })

	failures   = sync.OnceValue(reasonsOfFailures)
	unanswered = sync.OnceValue(reasonsOfReuse)
)

func rulesWith(reused []Rule) []Rule {
	return slices.Concat(everythingRules(), answeredRules(), reused, freshRules(), elseRules())
}

func elseRules() []Rule {
	return []Rule{{
		Table: TableElse, Verdict: probes.VerdictIncomplete, Family: probes.FamilyOwn,
		Why: "A pair that cannot happen: perch does not judge what it does not understand.",
	}}
}

// find returns the first rule that matches.
func find(rules []Rule, f Facts) Rule {
	for i := range rules {
		if rules[i].matches(&f) {
			return rules[i]
		}
	}
	return Rule{Verdict: probes.VerdictIncomplete, Family: probes.FamilyOwn}
}

func (r *Rule) matches(f *Facts) bool {
	return within(r.Kinds, f.Kind) &&
		within(r.Connections, f.Connection) &&
		within(r.Reasons, f.Reason) &&
		(!r.Delayed || f.Delayed) &&
		(!r.Exhausted || f.Exhausted) &&
		(!r.Instant || f.Instant) &&
		(!r.Changed || f.Changed) &&
		within(r.Causes, f.Cause) &&
		within(r.Again, f.Again) &&
		within(r.Control, f.Control) &&
		within(r.Ages, f.Age) &&
		within(r.Early, f.Early) &&
		within(r.Expiry, f.Expiry)
}

// within reports whether v is in set; the empty set holds everything.
func within[T comparable](set []T, v T) bool {
	return len(set) == 0 || slices.Contains(set, v)
}

// everythingRules hold whatever was probed.
func everythingRules() []Rule {
	return []Rule{
		{
			Table: TableEverything, Delayed: true, Reasons: failures(),
			Verdict: probes.VerdictIncomplete, Diagnosis: probes.DiagnosisOwnPod, Family: probes.FamilyOwn,
			Why: "Perch itself was delayed for as long as the failure took: it says nothing of the API.",
		},
		{
			Table: TableEverything, Exhausted: true, Reasons: failures(),
			Verdict: probes.VerdictIncomplete, Diagnosis: probes.DiagnosisOwnPod, Family: probes.FamilyOwn,
			Why: "Perch's own pod had no more of what a connection takes: it says nothing of the API.",
		},
		{
			Table: TableEverything, Reasons: []probes.Reason{probes.ReasonCanceled},
			Verdict: probes.VerdictIncomplete, Family: probes.FamilyOwn,
			Why: "Cut short by a deadline or a signal.",
		},
		{
			Table: TableEverything, Reasons: []probes.Reason{probes.ReasonInternal},
			Verdict: probes.VerdictIncomplete, Family: probes.FamilyOwn,
			Why: "A bug in perch, or a config that asks for what cannot be done; also a problem of the run.",
		},
		{
			Table: TableEverything, Reasons: []probes.Reason{probes.ReasonSkipped},
			Verdict: probes.VerdictSkipped, Family: probes.FamilyOwn,
			Why: "Not tried: budget, breaker, Retry-After or not due.",
		},
	}
}

// reasonsOfFailures are those of attempts that were made and failed.
func reasonsOfFailures() []probes.Reason {
	var failed []probes.Reason
	for _, r := range probes.Reasons() {
		switch r {
		case probes.ReasonCanceled, probes.ReasonSkipped, probes.ReasonInternal,
			probes.ReasonNoKeepAlive, probes.ReasonOK:
		default:
			failed = append(failed, r)
		}
	}
	return failed
}
