package diagnose

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"perch.example/probes"
)

// Input is all that a probe is judged by.
type Input struct {
	Spec          probes.Spec
	Observations  []probes.Observation // all rungs of the ladder, or the one exchange; any order
	Last          Last
	OtherAnswered []Answered
	Budget        probes.BudgetUse // so far; zero: not known
	Now           time.Time

	unused bool                 // of the observations, those are meant whose connections carried nothing before
	whole  []probes.Attempt     // of a burst, whose calls are the observations
	run    []probes.Observation // all of the probe, also where a part is judged by itself
}

// Last is what the last run saw. The zero value is a first run.
type Last struct {
	// Seen says that there was one: this probe ran whole before.
	Seen bool
	// EarlyCloses are the holds whose connection ended early, with the idle age
	// of its end; without those that no idle timeout explains.
	EarlyCloses map[time.Duration]time.Duration
	// MassCloses are those that ended early at one moment with others, likewise.
	MassCloses map[time.Duration]time.Duration
	// Bound is what all runs before know of the path's idle bound.
	Bound Bound
}

// Answered says when another target last answered in this run.
type Answered struct {
	Target string
	At     time.Time
}

// Judge turns one probe's finished observations into outcomes: one a rung
// (idle), in the order of their holds, else one. Of a burst the worst call decides. Every outcome has a verdict
// and a reason. Connections that carried nothing before they were held are a ladder of
// their own, since servers have other timeouts for them; so are those with each of a
// host's addresses.
func Judge(in Input) []probes.Outcome {
	in.run = in.Observations
	if in.Spec.Kind == probes.KindBurst {
		return judgeBurst(in)
	}
	if in.Spec.Kind != probes.KindIdle {
		return judgeBoth(in)
	}
	if all := ladders(in); len(all) > 1 {
		var outcomes []probes.Outcome
		for _, one := range all {
			outcomes = append(outcomes, judgeBoth(one)...)
		}
		return byHold(outcomes)
	}
	return judgeBoth(in)
}

// judgeBoth judges the connections that carried something, and those that did not.
func judgeBoth(in Input) []probes.Outcome {
	outcomes := judgeLadder(in)
	if !slices.ContainsFunc(in.Observations, func(o probes.Observation) bool { return o.Unused }) {
		return outcomes
	}
	in.unused, in.Last, in.Spec.Client = true, Last{}, nil // whether the client opens such ones is not known
	return append(outcomes, judgeLadder(in)...)
}

func judgeLadder(in Input) []probes.Outcome {
	l := newLadder(in)
	if len(l.rungs) == 0 {
		return nil
	}
	last := l.rungs[len(l.rungs)-1].obs
	if parts := byAddress(last); parts != nil {
		return []probes.Outcome{worstAddress(in, last, parts)}
	}
	rules := rulesOf(last.Kind)
	var judged []*judgement
	for i := range l.rungs {
		judged = append(judged, l.judge(rules, i))
	}
	l.tellChange(rules, judged)
	var outcomes []probes.Outcome
	for _, j := range judged {
		outcomes = append(outcomes, j.outcome())
	}
	if in.Spec.Kind != probes.KindIdle && len(outcomes) > 1 {
		return outcomes[len(outcomes)-1:] // one exchange is one outcome: the last
	}
	return outcomes
}

// judgement is one observation on its way to an outcome.
type judgement struct {
	l       *ladder
	rung    rungView
	facts   Facts
	at      *probes.Attempt // the attempt that decides; nil: none was made
	again   *probes.Attempt // the second try; nil: none
	spoke   *probes.Attempt // where the peer speaks another protocol: an attempt of the run that was answered; nil: none
	rule    Rule
	verdict probes.Verdict
	client  *clientView // nil: not declared
	changed bool        // it tells that the path's bound has moved
}

func (l *ladder) judge(rules []Rule, i int) *judgement {
	j := l.look(i)
	j.apply(rules)
	return j
}

// look finds the facts of rung i.
func (l *ladder) look(i int) *judgement {
	j := &judgement{l: l, rung: l.rungs[i]}
	j.decide()
	if j.reused() {
		j.facts.Age = l.ageOf(j.rung)
		j.facts.Instant = j.rung.instant()
		j.facts.Cause = l.causeOf(i)
		if j.facts.Age == AgeEarly {
			j.facts.Early = l.earlyCase(i)
		}
	}
	if j.at != nil && j.facts.Cause == CauseUnsaid {
		j.facts.Cause = cmp.Or(errorOf(*j.at), protocolOf(*j.at))
	}
	if j.at != nil && otherProtocol(*j.at) {
		j.spoke = spoken(l.in.run, j.at.Address)
	}
	if j.facts.Cause == CauseProtocol && j.spoke != nil && j.spoke.Address == j.at.Address {
		j.facts.Again = AgainOK // whatever the second try met: another one speaks it
	}
	return j
}

// apply walks the rules, and asks the client what it makes of it.
func (j *judgement) apply(rules []Rule) {
	j.rule = find(rules, j.facts)
	if j.rule.Verdict != probes.VerdictPass && j.late() {
		j.facts.Delayed = true
		j.rule = find(rules, j.facts)
	}
	j.verdict = j.rule.Verdict
	j.client = newClientView(j)
	if worse := j.client.verdict(j); worse != "" {
		j.verdict = worse
	}
}

// reused reports whether the attempt that decides ran on the held connection.
func (j *judgement) reused() bool {
	return j.at != nil && j.at.Connection == probes.ConnectionReused
}

// decide finds the attempt that decides: the failed warm-up or control, else
// the reuse, else the first attempt.
func (j *judgement) decide() {
	r := j.rung
	j.facts = Facts{
		Kind: r.obs.Kind, Connection: probes.ConnectionFresh,
		Again: AgainNotTried, Control: ControlNone, Age: AgeLonger, Early: EarlyFirst, Expiry: ExpiryFar,
	}
	switch {
	case r.obs.Cut != "":
		j.facts.Reason = cutReason(r.obs.Cut)
		return
	case r.reuse == nil && r.warm == nil,
		r.obs.Kind == probes.KindIdle && r.reuse == nil && r.warm.OK():
		j.facts.Reason = probes.ReasonInternal // the step ended without saying why
		return
	case r.reuse == nil, r.obs.Kind == probes.KindHTTP && r.reuse.OK() && errorOf(*r.reuse) == CauseUnsaid:
		j.decideFresh()
	case !r.reuse.OK() && r.control != nil && !answered(r.control):
		j.at = r.control
		if next := j.l.recoveredAt(endOf(r.obs, *r.control), r.control.Status > 0); next != nil && triedAgain(r.control.Reason) {
			j.again, j.facts.Again = next, AgainOK
		}
	default:
		j.at = r.reuse
		if answered(r.control) {
			j.facts.Control = ControlOK
			if triedAgain(r.reuse.Reason) {
				j.facts.Again = AgainOK
			}
		} else {
			j.decideAnswer()
		}
	}
	j.facts.Connection, j.facts.Reason = j.at.Connection, j.at.Reason
	if !slices.Contains(probes.Reasons(), j.facts.Reason) {
		j.facts.Reason = probes.ReasonInternal // an attempt without a reason is never ok
	}
	j.facts.Exhausted = j.spent()
	j.facts.Expiry = expiry(*j.at, j.l.in.Now)
}

// decideFresh judges by the first fresh attempt, and by a second where perch
// made one.
func (j *judgement) decideFresh() {
	j.at = j.rung.warm
	last := j.rung.obs.Attempt(probes.ConnectionFresh)
	if j.rung.obs.Kind == probes.KindBurst && !answered(j.at) { // its next calls are further tries
		last = j.l.recoveredAt(endOf(j.rung.obs, *j.at), j.at.Status > 0)
	}
	if answered(j.at) || last == j.at || last == nil || !triedAgain(j.at.Reason) {
		return
	}
	j.again, j.facts.Again = last, AgainFailed
	if answered(last) {
		j.facts.Again = AgainOK
	}
}

// decideAnswer is about an answer on a burst's connection that has no control beside it:
// what the calls after it got says whether the service is well.
func (j *judgement) decideAnswer() {
	r := &j.rung
	likeAny := aboutAnswers(r.reuse.Reason) || r.reuse.Status > 0 && triedAgain(r.reuse.Reason)
	if r.obs.Kind != probes.KindBurst || !likeAny {
		return
	}
	if next := j.l.recoveredAt(endOf(r.obs, *r.reuse), true); next != nil {
		j.again, j.facts.Again = next, AgainOK
	}
}

func cutReason(c probes.Cut) probes.Reason {
	switch c {
	case probes.CutCanceled:
		return probes.ReasonCanceled
	case probes.CutSkipped:
		return probes.ReasonSkipped
	case probes.CutInternal, probes.CutConfig:
		return probes.ReasonInternal
	}
	return probes.ReasonInternal
}

// outcome puts everything together.
func (j *judgement) outcome() probes.Outcome {
	spec, obs := j.l.in.Spec, j.rung.obs
	o := probes.Outcome{
		Target: spec.Target, Probe: spec.Probe, Kind: spec.Kind,
		Verdict: j.verdict, Reason: j.facts.Reason,
		Method: j.method(), Every: spec.Every, Notice: spec.Notice,
		Hold: obs.Hold, Search: obs.Search, Unused: obs.Unused, Limit: obs.Limit, Started: obs.Started, Attempts: obs.Attempts,
		Close: obs.Close, ClosedBy: j.closedBy(), Path: obs.Path,
		Retry:  probes.RetryOutcome{Result: j.retried(), Application: j.client.application(j), Hidden: j.client.hides(), Beside: j.client.beside(j)},
		Client: j.client.outcome(),
	}
	if held(spec.Kind) {
		o.KeepAlive = spec.KeepAlive
	}
	if j.facts.Cause == CauseAge {
		o.EndsAtAge = j.rung.connectionAge()
	}
	if j.facts.Reason == probes.ReasonInternal {
		o.Problem = j.problem()
	}
	if j.verdict != probes.VerdictPass {
		o.Diagnosis, o.Family = j.rule.Diagnosis, j.rule.Family
		o.Hypotheses = j.hypotheses()
		o.Advice = j.advice()
		o.ByClient = j.byClient()
		o.Accepted, o.Lapsed = j.accepted()
	}
	o.RetryGaps = j.gaps()
	o.Message = j.message()
	return o
}

// byClient reports whether the table passes the rung and the client alone makes
// it worse.
func (j *judgement) byClient() bool {
	return j.rule.Verdict == probes.VerdictPass && j.verdict != probes.VerdictPass
}

func (j *judgement) method() string {
	if j.l.in.Spec.Method != "" {
		return j.l.in.Spec.Method
	}
	return http.MethodGet
}

// closedBy is who ended the connection: not known where TCP ends before the
// peer, or where nothing was sent.
func (j *judgement) closedBy() string {
	c := j.rung.obs.Close
	switch {
	case c == nil:
		return ""
	case c.How == probes.HowSilent || j.rung.obs.Path.TCPEnds == probes.TCPEndsBeforePeer:
		return "unknown"
	}
	return "peer"
}

// problem is what perch itself did wrong.
func (j *judgement) problem() string {
	obs := j.rung.obs
	switch {
	case obs.Problem != "":
		return obs.Problem
	case obs.CutDetail != "":
		return obs.CutDetail
	case j.at != nil && j.at.Detail != "":
		return j.at.Detail
	}
	return "the step ended without saying why"
}

// retried is the fate of perch's own second try, or of the control.
func (j *judgement) retried() probes.RetryResult {
	second := j.again
	if j.rung.reuse != nil {
		second = j.rung.control
	}
	switch {
	case j.at == nil:
		return probes.RetryNotTried
	case answered(j.at):
		return probes.RetryNotNeeded
	case second == nil && j.at.Reason.Resend() == probes.ResendIdempotent && !readOnly(j.method()) && j.l.in.Spec.GRPC == nil: // a gRPC method is declared read-only
		return probes.RetryUnsafe
	case second == nil:
		return probes.RetryNotTried
	case answered(second):
		return probes.RetryRecovered
	}
	return probes.RetryFailed
}

func readOnly(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}
