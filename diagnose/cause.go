package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"perch.example/probes"
)

// Cause is why a connection, or a request on it, ended, where HTTP/2's own frames
// tell that it was not for its idle age; of a new connection, that its two ends do not
// speak the same.
type Cause string

// The causes, and what the rules say of them. The zero value: nothing tells, as over
// HTTP/1.1, and an idle limit is what it looks like.
const (
	CauseUnsaid Cause = ""
	CausePings  Cause = "the GOAWAY says too_many_pings"
	CauseError  Cause = "the GOAWAY has an error's code"
	CauseAge    Cause = "GOAWAY at an age of the connection's: it says max_age, or several rungs ended at one such age, at different idle ages"
	CauseStop   Cause = "the GOAWAY says graceful_stop"
	CauseStream Cause = "the stream was reset, and the connection went on"
	CauseAnswer Cause = "a whole answer, and nothing says that the connection ended"

	CauseProtocol Cause = "the peer answers, and speaks another version of HTTP"
)

func causeValues() []Cause {
	return []Cause{CauseUnsaid, CausePings, CauseError, CauseAge, CauseStop, CauseStream, CauseAnswer, CauseProtocol}
}

// goneReasons are those of a request that a GOAWAY left open, or without an answer.
func goneReasons() []probes.Reason {
	return []probes.Reason{probes.ReasonIdleGoaway, probes.ReasonGoawayUnprocessed, probes.ReasonGoawayProcessed, probes.ReasonRefusedStream}
}

// causeOf is what ended rung i, by its reuse.
func (l *ladder) causeOf(i int) Cause {
	r := &l.rungs[i]
	if r.reuse == nil {
		return CauseUnsaid
	}
	if held(r.obs.Kind) && r.goesOn() {
		return CauseAnswer
	}
	gone := slices.Contains(goneReasons(), r.reuse.Reason)
	switch g := r.reuse.Goaway; {
	case g == nil:
		reset := r.reuse.Reason == probes.ReasonRefusedStream || r.reuse.Reason == probes.ReasonStreamReset
		if reset && r.obs.Close == nil {
			return CauseStream
		}
	case g.Code != 0:
		return errorOf(*r.reuse)
	case gone && (g.Debug == "max_age" || l.oneConnectionAge(i)):
		return CauseAge
	case gone && g.Debug == "graceful_stop":
		return CauseStop
	}
	return protocolOf(*r.reuse)
}

// errorOf is what the code of a GOAWAY tells of any attempt that got one: also of one
// that was answered.
func errorOf(a probes.Attempt) Cause {
	g := a.Goaway
	told := answered(&a) || slices.Contains(goneReasons(), a.Reason)
	switch {
	case g == nil || g.Code == 0 || !told:
		return CauseUnsaid
	case g.TooManyPings():
		return CausePings
	}
	return CauseError
}

// protocolOf is what the first attempt on a connection tells of the protocol: the peer is
// there, and does not speak the one that the probe does.
func protocolOf(a probes.Attempt) Cause {
	if a.Connection == probes.ConnectionReused && a.Served > 0 || !otherProtocol(a) {
		return CauseUnsaid
	}
	return CauseProtocol
}

// spoken is the attempt of a run that shows that something speaks what the probe does: it
// gave a whole answer, of whatever status. Of several one at the address tells most, of
// these one that was as expected. nil: none was answered.
func spoken(run []probes.Observation, address netip.Addr) *probes.Attempt {
	var found *probes.Attempt
	best := 0
	for i := range run {
		for k := range run[i].Attempts {
			a, tells := &run[i].Attempts[k], 1
			if !answered(a) && (a.Status == 0 || otherProtocol(*a)) {
				continue
			}
			if answered(a) {
				tells = 2
			}
			if a.Address == address {
				tells += 2
			}
			if tells > best {
				found, best = a, tells
			}
		}
	}
	return found
}

// otherProtocol reports whether the peer said that it speaks another version of HTTP:
// in text or in frames, by RST_STREAM HTTP_1_1_REQUIRED, or by ALPN.
func otherProtocol(a probes.Attempt) bool {
	return a.NoHTTP1 || a.NoHTTP2 || a.NoALPN || a.WantsHTTP1()
}

// oneConnectionAge reports whether another rung's GOAWAY came at the connection age of
// rung i's, and at another idle age: then it is not idleness that the server counts.
func (l *ladder) oneConnectionAge(i int) bool {
	this, age := l.rungs[i], l.rungs[i].connectionAge()
	if this.obs.Close == nil || age == 0 {
		return false
	}
	return slices.ContainsFunc(l.rungs, func(other rungView) bool {
		c := other.obs.Close
		if c == nil || c.How != probes.HowGoaway || other.reuse == nil || other.reuse.Goaway == nil || other.reuse.Goaway.Code != 0 {
			return false
		}
		return (other.connectionAge()-age).Abs() <= tolerance(age) && (c.Age-this.obs.Close.Age).Abs() > tolerance(max(c.Age, this.obs.Close.Age))
	})
}

// connectionAge is how old the connection was at its end; 0: not known.
func (r rungView) connectionAge() time.Duration {
	switch {
	case r.reuse == nil || r.reuse.ConnectionAge <= 0:
		return 0
	case r.obs.Close != nil:
		return max(0, r.reuse.ConnectionAge-r.reuse.IdleTime+r.obs.Close.Age)
	}
	return r.reuse.ConnectionAge + r.reuse.Elapsed
}

// notIdle reports whether rung i ended for a cause that is no idle limit.
func (l *ladder) notIdle(i int) bool { return l.causeOf(i) != CauseUnsaid }

// toldLimit reports whether rung i ended for a cause that is a healthy limit.
func (l *ladder) toldLimit(i int) bool {
	c := l.causeOf(i)
	return c == CauseAge || c == CauseStop
}

// causeText says the cause behind how it ended; empty: none is known.
func (j *judgement) causeText() string {
	switch j.facts.Cause {
	case CausePings:
		return "; the server says why: too_many_pings, the client's own HTTP/2 PINGs"
	case CauseError:
		return "; the GOAWAY's code is " + j.at.Goaway.Name() + ": the server takes it for an error, not for idleness"
	case CauseAge:
		return fmt.Sprintf("; the server ends connections at the age of %s%s, idle or not", human(j.rung.connectionAge()), j.saysSo())
	case CauseStop:
		return "; the server says why: graceful_stop, it is being stopped"
	case CauseStream:
		return "; the connection itself went on"
	case CauseAnswer:
		return "; the connection carried that answer, and nothing says that it ended"
	case CauseUnsaid, CauseProtocol:
	}
	return ""
}

func (j *judgement) saysSo() string {
	if j.at.Goaway.Debug != "max_age" {
		return ""
	}
	return " and says so (max_age)"
}

// causeAdvice is what to do where the cause is no idle limit; nil: there is none.
func (j *judgement) causeAdvice() []step {
	const notIdle = " Lowering the idle limit does not help."
	switch j.facts.Cause {
	case CausePings:
		return j.pingAdvice()
	case CauseError:
		if j.at.Calmed() != "" {
			return []step{
				next("send less on one connection: the peer says ENHANCE_YOUR_CALM, which is that it takes what it gets for too much (RFC 9113, 7)." + notIdle),
				next("For the API's owner: see which of the server's limits the connection has met."),
			}
		}
		return []step{next("For the API's owner: the server ended the connection with GOAWAY " + j.at.Goaway.Name() + ", which is an error and no idle limit. Its log says what went wrong." + notIdle)}
	case CauseAge, CauseStop:
		return []step{
			next("repeat what is idempotent: the server ended the connection while the request was on it." + notIdle),
			next("For the API's owner: give requests that are under way longer before the connection is closed (grpc-go: MaxConnectionAgeGrace)."),
		}
	case CauseStream:
		again := "only what is idempotent may be sent again, since it may have been executed"
		if j.at.Reason == probes.ReasonRefusedStream {
			again = "any request may be sent again, since it was not processed"
		}
		return []step{
			next("leave the pool as it is: the server reset the request's stream and kept the connection; " + again + "." + notIdle),
			next("For the API's owner: see why streams are reset on a connection that is idle first and not on a fresh one."),
		}
	case CauseProtocol:
		return j.protocolAdvice()
	case CauseUnsaid, CauseAnswer: // what to do about an answer follows from the diagnosis
	}
	return nil
}
