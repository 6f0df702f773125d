package diagnose

import (
	"fmt"
	"slices"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// message is one human sentence about the outcome.
func (j *judgement) message() string {
	text := j.sentence()
	if answered(j.at) {
		text += j.causeText()
	}
	if l := j.rung.obs.Limit; l != nil {
		text += "; " + l.Words()
	}
	return text + j.pinnedText()
}

// subject is the held connection.
func (j *judgement) subject() string {
	if j.rung.obs.Unused {
		return "a connection that never carried a request"
	}
	return "the connection"
}

func (j *judgement) sentence() string {
	obs := j.rung.obs
	switch {
	case obs.Cut == probes.CutInternal || j.at == nil && obs.Cut == "":
		return "perch itself went wrong: " + j.problem()
	case obs.Cut == probes.CutConfig:
		return "not judged: the config asks for what cannot be done: " + j.problem()
	case obs.Cut == probes.CutSkipped && len(obs.Attempts) > 0:
		return withDetail("not judged: it was not tried to its end", obs.CutDetail)
	case obs.Cut != "":
		return withDetail("not judged: "+Meaning(j.facts.Reason), obs.CutDetail)
	case j.facts.Exhausted:
		return fmt.Sprintf("perch's own pod could not open a connection (%s): nothing can be said of the API", exhausted(*j.at))
	case j.facts.Delayed:
		return fmt.Sprintf("perch itself was delayed by %s while the attempt took %s: nothing can be said of the API",
			human(j.delay()), human(j.at.Elapsed))
	case j.facts.Reason == probes.ReasonNoKeepAlive:
		return j.nothingHeld()
	case j.reused() && j.at.OK():
		return fmt.Sprintf("%s still worked after %s idle: it %s", j.subject(), human(j.rung.reuseAge()), answer(*j.at)) + j.packetsText() + j.changeText()
	case j.reused():
		return j.rungMessage() + j.changeText()
	}
	return j.freshMessage()
}

func (j *judgement) nothingHeld() string {
	const text = "nothing could be held: the answer%s ends its connection"
	if j.at.Status == 0 {
		return fmt.Sprintf(text, "")
	}
	return fmt.Sprintf(text, " ("+j.at.Answer()+")")
}

func withDetail(text, detail string) string {
	if detail == "" {
		return text
	}
	return text + " (" + detail + ")"
}

// freshMessage is about an exchange on a fresh connection.
func (j *judgement) freshMessage() string {
	what := "a fresh connection"
	switch {
	case j.at.Connection == probes.ConnectionControl:
		what = fmt.Sprintf("the reuse after %s idle failed, and the control on a fresh connection too", human(j.rung.reuseAge()))
	case j.rung.obs.Kind == probes.KindIdle:
		what = "the warm-up on a fresh connection"
	}
	switch {
	case j.at.OK() && j.facts.Expiry != ExpiryFar:
		return fmt.Sprintf("it %s, but %s", answer(*j.at), j.expiring())
	case j.at.OK():
		return "it " + answer(*j.at)
	case j.tokenless():
		return "nothing was sent: " + j.at.Detail
	case j.at.Connection == probes.ConnectionControl:
		what += ": " + failure(*j.at)
	default:
		what += fmt.Sprintf(" failed after %s: %s", human(j.at.Elapsed), failure(*j.at))
	}
	switch {
	case j.spoke != nil && !answered(j.again):
		return what + "; another connection of this run " + answer(*j.spoke)
	case j.again == nil:
		return what
	case answered(j.again):
		return what + "; " + j.laterText("another one ")
	}
	return what + "; a second one failed too: " + means(*j.again)
}

// rungMessage is about a connection that did not survive its idle time.
func (j *judgement) rungMessage() string {
	text := j.endText()
	text += j.causeText()
	switch {
	case answered(j.rung.control):
		text += "; a fresh one worked"
	case answered(j.again):
		text += "; " + j.laterText("another call ")
	}
	throws := j.client != nil && j.client.result == clients.Failed && j.client.text != ""
	if j.byClient() {
		text += fmt.Sprintf("; %s keeps idle connections longer than the path does", j.client.name)
		if throws {
			text += " and " + j.client.text
		}
		return text
	}
	if throws {
		text += fmt.Sprintf("; %s %s", j.client.name, j.client.text)
	}
	return text
}

// endText says how the connection ended and what the reuse met.
func (j *judgement) endText() string {
	r, c := j.rung, j.rung.obs.Close
	took := human(j.at.Elapsed)
	switch {
	case j.facts.Reason == probes.ReasonBlackhole:
		return fmt.Sprintf("%s was dead without a word after %s idle: nothing acknowledged the request in %s",
			j.subject(), human(r.reuseAge()), took)
	case j.facts.Reason == probes.ReasonNoResponse:
		return fmt.Sprintf("%s took the request after %s idle and gave no answer in %s", j.subject(), human(r.reuseAge()), took)
	case c == nil:
		against := j.against("at the expected ")
		if against != "" {
			against += ","
		}
		met := j.moment()
		if met == "" {
			met = failure(*j.at)
		}
		if j.rung.obs.Unused {
			against += " on a connection that never carried a request"
		}
		return fmt.Sprintf("the reuse after %s idle%s failed in %s: %s", human(r.reuseAge()), against, took, met)
	}
	met := "with nothing answered"
	if j.at.ResponseBytes > 0 {
		met = "after " + bytesOf(j.at.ResponseBytes)
	}
	if moment := j.moment(); moment != "" {
		met += ": " + moment
	}
	return fmt.Sprintf("%s was %s after %s idle%s%s; reuse at %s failed in %s %s",
		j.subject(), j.doer(c.How), human(c.Age), j.earliest(), j.against("as expected: "), human(r.reuseAge()), took, met)
}

// moment says when the end came against our write, and what follows from that:
// whether looking first would have seen it, and whether the request may have
// been executed. Empty: nothing is known.
func (j *judgement) moment() string {
	a := j.at
	switch a.Timing() {
	case probes.TimingQueued:
		what := "close was"
		switch c := j.rung.obs.Close; {
		case c == nil:
		case c.How == probes.HowBytes:
			what = c.How.Words() + " were"
		default:
			what = c.How.Words() + " was"
		}
		return fmt.Sprintf("the %s queued before we wrote, looking first would have seen it", what)
	case probes.TimingInFlight:
		return j.inFlight()
	case probes.TimingRead:
		return fmt.Sprintf("%s read the request (all %d bytes acknowledged), then closed: it may have been executed", j.nextKernel(), a.RequestBytes)
	}
	if a.Reason == probes.ReasonReset {
		return "a RST came, which acknowledges nothing: the request may have been executed"
	}
	return ""
}

// inFlight is about an end that crossed the request: it does not acknowledge
// it, or came sooner than anything that the request caused.
func (j *judgement) inFlight() string {
	a, rtt := j.at, j.at.RoundTrip()
	what := map[probes.Reason]string{
		probes.ReasonIdleBytes: "answer that nobody had asked for", probes.ReasonReset: "RST",
	}[a.Reason]
	if what == "" {
		what = "FIN"
	}
	how := fmt.Sprintf("it acknowledges none of our %d bytes", a.RequestBytes)
	switch {
	case a.Reason == probes.ReasonReset:
		how = fmt.Sprintf("it came sooner than a round trip, %s", human(rtt))
	case rtt > 0 && a.Elapsed <= rtt:
		how = fmt.Sprintf("it came within one round trip, %s, and acknowledges none of our %d bytes", human(rtt), a.RequestBytes)
	}
	return fmt.Sprintf("the %s was in flight when we wrote (%s): nothing could have seen it, and the request was not accepted", what, how)
}

// nextKernel is who acknowledges our bytes.
func (j *judgement) nextKernel() string {
	if j.rung.obs.Path.TCPEnds == probes.TCPEndsBeforePeer {
		return "what stands before the API"
	}
	return "the peer"
}

// doer says who ended the connection, and how.
func (j *judgement) doer(how probes.HowClosed) string {
	by := "the peer"
	if j.closedBy() != "peer" {
		by = "something on the path"
	}
	switch how {
	case probes.HowRST:
		return "reset by " + by
	case probes.HowBytes:
		if status := j.at.PushedStatus; status > 0 {
			return fmt.Sprintf("given a %d that nobody had asked for, by %s,", status, by)
		}
		return "given bytes that nobody had asked for, by " + by + ","
	case probes.HowSilent:
		return "lost without a word"
	case probes.HowCloseNotify, probes.HowGoaway:
		return fmt.Sprintf("closed (%s) by %s", how.Words(), by)
	case probes.HowFIN:
		return "closed by " + by
	}
	return "closed by " + by
}

// against compares the end's age with keep_alive; near says that they are the
// same.
func (j *judgement) against(near string) string {
	want := j.l.in.Spec.KeepAlive
	if c := j.facts.Cause; want <= 0 || c == CauseAge || c == CauseStop || c == CauseStream || c == CauseAnswer {
		return "" // nothing was expected of what ended it
	}
	if j.reused() && (j.rung.carried() || !slices.Contains(unanswered(), j.facts.Reason)) {
		return "" // it was alive
	}
	switch j.facts.Age {
	case AgeEarly:
		return ", before the expected " + human(want)
	case AgeWithin:
		text := ", " + near + human(want)
		if j.rung.age() < want-tolerance(want) {
			text += " (perch had read the answer before up to " + human(j.rung.readLate()) + " late)"
		}
		return text
	case AgeLonger:
		return ", after the expected " + human(want)
	}
	return ""
}
