package diagnose

import (
	"fmt"
	"slices"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// stalePool is ruled by the idle age at which the connection ended, against
// the ages at which the application's client still uses one. Who ended it does
// not matter to a pool: behind a proxy the ages are the proxy's.
func (j *judgement) stalePool() (probes.Ruling, string) {
	switch {
	case !j.reused():
		return j.noPool()
	case aboutAnswers(j.at.Reason):
		return probes.RuledOut, fmt.Sprintf("the connection was alive after %s idle: it %s", human(j.rung.reuseAge()), answer(*j.at))
	case !answered(j.rung.control) && !j.answeredItself():
		return probes.RuledOpen, fmt.Sprintf("it failed after %s idle, and no fresh connection was tried: a dead connection and a dead service look the same", human(j.rung.reuseAge()))
	case j.facts.Delayed:
		return probes.RuledOpen, fmt.Sprintf("perch itself was delayed by %s: the connection was idle for longer than the planned %s", human(j.delay()), human(j.rung.obs.Hold))
	case !slices.Contains(unanswered(), j.at.Reason) && !answered(j.at) && !j.answeredItself():
		return probes.RuledOpen, fmt.Sprintf("after %s idle it failed as no open connection can: %s", human(j.rung.reuseAge()), Meaning(j.at.Reason))
	case !slices.Contains(unanswered(), j.at.Reason):
		return probes.RuledOut, fmt.Sprintf("the connection was alive after %s idle: it %s", human(j.rung.reuseAge()), answer(*j.at))
	}
	if j.facts.Cause == CauseError {
		return probes.RuledOpen, fmt.Sprintf("it ended at %s idle with GOAWAY %s: that is an error's code, and no idle limit's", human(j.rung.age()), j.at.Goaway.Name())
	}
	if why := j.notIdleness(); why != "" {
		return probes.RuledOut, why
	}
	if j.facts.Kind == probes.KindHTTP && j.rung.obs.Close == nil {
		return probes.RuledOpen, fmt.Sprintf("it failed after %s idle, and one request before it does not tell what follows idleness", human(j.rung.reuseAge()))
	}
	if j.rung.obs.Unused {
		return j.unusedPool()
	}
	died, v := j.rung.age(), j.client
	ended := fmt.Sprintf("it ended at %s idle%s", human(died), j.earliest())
	switch {
	case v == nil:
		return probes.RuledIn, fmt.Sprintf("%s, and %s", ended, j.besideText())
	case clients.Holds(v.band, died) || clients.Holds(v.band, j.rung.reuseAge()):
		return probes.RuledIn, fmt.Sprintf("%s, and %s still uses what is idle for %s%s", ended, v.name, bandText(*v.band), j.bandStart())
	case v.band == nil && !v.bandKnown:
		return probes.RuledOpen, fmt.Sprintf("%s; at which idle age %s still uses such a connection is not known", ended, v.name)
	case v.band == nil:
		return probes.RuledOpen, fmt.Sprintf("%s; %s has no danger band here: it stops or looks before; only an application that overrides it would still use one", ended, v.name)
	}
	at, band := beside(died, *v.band)
	return probes.RuledOpen, fmt.Sprintf("it ended at %s idle%s, outside of %s's danger band of %s%s", at, j.earliest(), v.name, band, j.bandStart())
}

// earliest adds the ladder's earliest end, which the limits follow from, where
// this one came a little later; empty where it did not.
func (j *judgement) earliest() string {
	first, died := j.l.path().Timeout, j.rung.age()
	if first <= 0 || died-first > j.l.tol(first) || died < first || human(first) == human(died) {
		return ""
	}
	return " (earliest: " + human(first) + ")"
}

// bandStart says why the danger band begins before the earliest end.
func (j *judgement) bandStart() string {
	path, band := j.l.path(), j.client.band
	if band == nil || path.Unseen || path.Timeout <= band.From {
		return ""
	}
	return fmt.Sprintf(" (%s before the close: round trip and timer accuracy)", human(path.Timeout-band.From))
}

// noPool rules on a fresh connection: it never was in a pool.
func (j *judgement) noPool() (probes.Ruling, string) {
	if j.tokenless() {
		return probes.RuledOut, "no connection was used"
	}
	a := j.at
	switch {
	case a.Reason == probes.ReasonNoKeepAlive:
		return probes.RuledOut, "it " + answer(*a) + " and ended its connection: a pool keeps none"
	case answered(a):
		return probes.RuledOut, "a fresh connection, 0 s idle, " + answer(*a)
	case a.Connection == probes.ConnectionControl && j.diedBeside():
		return probes.RuledOpen, fmt.Sprintf("it ended at %s idle, and a fresh connection %s%s: two things went wrong", human(j.rung.age()), j.sinceReuse(), answer(*a))
	case a.Connection == probes.ConnectionControl:
		return probes.RuledOut, fmt.Sprintf("a fresh connection %sfailed too, after %s: %s", j.sinceReuse(), human(a.Elapsed), Meaning(a.Reason))
	}
	return probes.RuledOut, "a fresh connection, 0 s idle, " + freshly(*a)
}

// diedBeside reports whether the held connection was dead while the API
// answered the control, though not as expected: that answer is a fault of its
// own, and no word for the held connection.
func (j *judgement) diedBeside() bool {
	r := j.rung.reuse
	heard := j.answeredItself() || j.at.Reason == probes.ReasonProxyUpstreamReset
	return r != nil && heard && !answered(r) && slices.Contains(unanswered(), r.Reason) && !aboutAnswers(r.Reason)
}

// aboutAnswers reports whether a reason says that the connection carried a
// whole answer.
func aboutAnswers(r probes.Reason) bool {
	switch r {
	case probes.ReasonProxyUpstreamReset, probes.ReasonUnavailable, probes.ReasonStatus, probes.ReasonExpectation:
		return true
	default:
		return false
	}
}

// sinceReuse words how long after the reuse its control started.
func (j *judgement) sinceReuse() string {
	r := j.rung
	gap := r.control.Started.Sub(endOf(r.obs, *r.reuse))
	if r.control.Started.IsZero() || gap < 0 {
		return ""
	}
	return human(gap) + " later "
}

// notIdleness says why the end of the connection did not follow its idle age;
// empty where it may have.
func (j *judgement) notIdleness() string {
	if why := j.causeOut(); why != "" {
		return why
	}
	switch {
	case j.facts.Kind == probes.KindHTTP:
		return j.notTheGap()
	case j.rule.Diagnosis == probes.DiagnosisMassClose:
		return "connections of different idle ages were closed within " + human(oneMoment) + " of each other"
	case j.rule.Diagnosis != probes.DiagnosisUndeclaredClose:
		return ""
	case j.facts.Instant:
		return "it was closed " + human(j.rung.age()) + " after its answer: too soon for an idle timeout"
	}
	return fmt.Sprintf("it ended at %s idle, and another connection worked after %s", human(j.rung.age()), human(j.l.idle.Survived))
}

// causeOut says what the server itself named, which is no idle limit; empty: it named
// nothing.
func (j *judgement) causeOut() string {
	switch j.facts.Cause {
	case CausePings:
		return fmt.Sprintf("the server ended it after %s idle for the client's own PINGs (GOAWAY ENHANCE_YOUR_CALM, too_many_pings)", human(j.rung.age()))
	case CauseAge:
		return fmt.Sprintf("the server ended it at a connection age of %s, whatever its idle age", human(j.rung.connectionAge()))
	case CauseStop:
		return fmt.Sprintf("the server ended it after %s idle as it was being stopped (GOAWAY, graceful_stop)", human(j.rung.age()))
	case CauseStream:
		return fmt.Sprintf("the connection was alive after %s idle: the server reset the request's stream only", human(j.rung.reuseAge()))
	case CauseAnswer:
		return fmt.Sprintf("the connection was alive after %s idle: it carried a whole answer", human(j.rung.reuseAge()))
	case CauseUnsaid, CauseError, CauseProtocol:
	}
	return ""
}

// notTheGap is about a connection of many requests, whose idle ages were all alike;
// empty where its end may have followed one.
func (j *judgement) notTheGap() string {
	if c := j.rung.obs.Close; j.at.Served < 2 || c != nil && !j.rung.instant() {
		return ""
	}
	return fmt.Sprintf("it carried %d requests, and failed then without having been idle for longer", j.at.Served)
}

// beside words an age and the danger band that it is outside of, with as many digits as
// show that it is.
func beside(age time.Duration, b probes.Band) (at, band string) {
	switch {
	case age < b.From && b.Open:
		at, band = distinct(age, b.From)
		return at, band + " and longer"
	case age < b.From:
		at, band = distinct(age, b.From)
		return at, band + " to " + human(b.To)
	case b.Open: // it lies inside
		return human(age), bandText(b)
	case age == b.To: // its end is not in it, which no digit shows
		return human(age), human(b.From) + " to just below " + human(b.To)
	}
	at, band = distinct(age, b.To)
	return at, human(b.From) + " to " + band
}

// distinct words two durations that differ so that their words do.
func distinct(a, b time.Duration) (one, other string) {
	const nanosecond = 9 // the decimals of a second
	one, other = human(a), human(b)
	for decimals := 1; one == other && decimals <= nanosecond; decimals++ {
		one, other = trim(a.Seconds(), decimals)+" s", trim(b.Seconds(), decimals)+" s"
	}
	return one, other
}

// bandText words a danger band.
func bandText(b probes.Band) string {
	switch {
	case b.Open && b.From == 0: // an end that nobody saw, and nothing shorter worked
		return "any time"
	case b.Open:
		return human(b.From) + " and longer"
	}
	return human(b.From) + " to " + human(b.To)
}
