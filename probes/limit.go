package probes

import (
	"context"
	"fmt"
	"time"

	"perch.example/probes/wire"
)

// ConnectionLimit is how many requests one connection carried, and how it ended.
type ConnectionLimit struct {
	Requests int           // that were answered
	Age      time.Duration // of the connection at its end, or at the last answer where it did not end
	Ended    bool          // the server ended it
	Told     bool          // and said so before: in the last answer, or by a GOAWAY
	By       string        // how it was told: "Connection: close", "GOAWAY", with its code where that is an error's; empty: it was not
	Idle     time.Duration // it ended while it was idle, at this idle age, and had never been idle for as long: no limit was met; 0: not so
}

// Words is the limit as a sentence's part.
func (l ConnectionLimit) Words() string {
	served := "after " + counted(l.Requests)
	age := fmt.Sprintf("%s old", Spoken(roughly(l.Age)))
	switch {
	case l.Idle > 0:
		return fmt.Sprintf("the server ended the connection after %s of idleness%s, which is shorter than what lay between two requests here: a limit of requests was not reached",
			Spoken(roughly(l.Idle)), l.toldIdle())
	case !l.Ended:
		return fmt.Sprintf("the connection carried %s in %s, and the server did not end it", counted(l.Requests), Spoken(roughly(l.Age)))
	case l.Told:
		return fmt.Sprintf("the server ends a connection %s (%s) and says so (%s on #%d)", served, age, l.By, l.Requests)
	}
	return fmt.Sprintf("the server ended the connection %s (%s) without saying so", served, age)
}

func (l ConnectionLimit) toldIdle() string {
	if !l.Told {
		return ""
	}
	return " (" + l.By + ")"
}

func counted(requests int) string {
	if requests == 1 {
		return "1 request"
	}
	return fmt.Sprintf("%d requests", requests)
}

// roughly keeps what a reader needs of an age.
func roughly(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}

// RunLimit makes many requests on one connection, one after the other, until the
// server ends it or they are all made. The observation has the first attempt and the
// last; where that failed, a control, too. Each request asks the budget, and is held back
// for it: Gap is the least that lies between two.
func RunLimit(ctx context.Context, s *Spec, env Env) Observation {
	c := &call{spec: s, env: env}
	return c.play(func(o Observation) Observation { return c.untilEnded(ctx, o) })
}

func (c *call) untilEnded(ctx context.Context, o Observation) Observation {
	x := c.warmUp(ctx, &o)
	if x.denied != nil {
		return denied(ctx, o, x.denied)
	}
	defer x.close()
	c.add(&o, x.attempt, ConnectionFresh)
	if x.unended != nil {
		return denied(ctx, o, x.unended)
	}
	if !x.attempt.OK() {
		return o
	}
	m := &many{call: c, obs: &o, conn: x.conn, last: x.attempt, served: 1}
	if told := toldBy(x.attempt, x.evidence); told != "" {
		m.end(told)
		return o
	}
	return m.run(ctx, &x)
}

// many is a connection on its way through many requests.
type many struct {
	call   *call
	obs    *Observation
	conn   *wire.Conn
	last   Attempt // the last one that was answered
	served int
	idle   time.Duration // the longest after which a request was answered
}

func (m *many) run(ctx context.Context, x *exchanged) Observation {
	for m.served < m.call.spec.Requests {
		ahead := m.call.fetchAhead(ctx, m.next())
		held := m.conn.Hold(ctx, m.next(), false)
		if ahead != nil {
			ahead.Stop()
		}
		if held.Canceled {
			return denied(ctx, *m.obs, context.Cause(ctx))
		}
		m.call.authorizeHeld(ctx)
		x.take(m.call.exchange(ctx, m.conn, RoleNext))
		switch {
		case x.denied != nil:
			return m.without(ctx, x.denied)
		case x.attempt.Goaway.healthy() && (x.attempt.Reason == ReasonIdleGoaway || x.attempt.Reason == ReasonGoawayUnprocessed):
			// It was told: a client that reads would have sent nothing more, and any
			// may send again what was not processed.
			m.end("GOAWAY")
			m.left(*x.attempt.Goaway)
			return *m.obs
		case !x.attempt.OK():
			return m.failed(ctx, x, held)
		}
		m.last, m.served, m.idle = x.attempt, m.served+1, max(m.idle, x.attempt.IdleTime)
		if told := toldBy(x.attempt, x.evidence); told != "" {
			m.end(told)
			return *m.obs
		}
	}
	m.keep(false, "")
	return *m.obs
}

// next is when the next request may leave at the earliest.
func (m *many) next() time.Time {
	return m.last.Started.Add(m.last.Elapsed + m.call.spec.Gap)
}

// end notes that the server ended the connection, and told.
func (m *many) end(by string) { m.keep(true, by) }

func (m *many) keep(ended bool, told string) {
	a := m.last
	m.obs.Limit = &ConnectionLimit{Requests: m.served, Age: a.ConnectionAge + a.Elapsed, Ended: ended, Told: told != "", By: told}
	if m.served > 1 {
		m.call.add(m.obs, a, ConnectionReused)
	}
}

// failed is a request that was not answered, or not as expected: with a control, which
// tells what that says of the connection.
func (m *many) failed(ctx context.Context, x *exchanged, held wire.Held) Observation {
	o, a := m.obs, x.attempt
	if endsConnection(a) {
		o.Limit = &ConnectionLimit{Requests: m.served, Age: a.ConnectionAge, Ended: true}
	}
	var seen *Close
	if held.Close != nil {
		seen = seenClose(held.Close)
	}
	if o.Close = closeSeen(a, x.evidence, seen); o.Close != nil && o.Limit != nil {
		o.Limit.Age = max(0, a.ConnectionAge-x.evidence.Idle+o.Close.Age)
		m.between(o.Close.Age)
	}
	m.call.add(o, a, ConnectionReused)
	x.close()
	if !wantsControl(a.Reason) {
		return *o
	}
	again := m.call.fresh(ctx, RoleControl)
	switch {
	case again.denied == nil:
		again.close()
		m.call.add(o, again.attempt, ConnectionControl)
	case !o.without("control", again.denied):
		return denied(ctx, *o, again.denied)
	}
	return *o
}

// without ends the requests because the budget, or the run, has no more for them: what
// was seen until then stands.
func (m *many) without(ctx context.Context, err error) Observation {
	if ctx.Err() != nil {
		return denied(ctx, *m.obs, err)
	}
	m.keep(false, "")
	m.obs.without(fmt.Sprintf("request #%d", m.served+1), err)
	return *m.obs
}

// notAtOnce is the idle age from which an end does not follow the answer before it.
const notAtOnce = 100 * time.Millisecond

// between notes that the connection ended between two requests, at this idle age. One
// that had been idle for as long before, and lived, did not end for that.
func (m *many) between(age time.Duration) {
	if age > notAtOnce && age > m.idle {
		m.obs.Limit.Idle = age
	}
}

// left notes when a GOAWAY came that was read between two requests.
func (m *many) left(g Goaway) {
	m.obs.Limit.Age += g.Age
	if g.Debug != "max_age" {
		m.between(g.Age)
	}
}

// endsConnection reports whether a failed attempt was the end of its connection.
func endsConnection(a Attempt) bool {
	switch a.Reason {
	case ReasonRefusedStream:
		return a.Goaway != nil
	case ReasonPartialHead, ReasonPartialBody, ReasonGoawayProcessed:
		return true
	default:
		return a.Reason.Closed()
	}
}

// toldBy says how an answer tells that its connection ends; empty: it does not.
func toldBy(a Attempt, e wire.Evidence) string {
	switch {
	case a.Goaway != nil && !a.Goaway.healthy():
		return "GOAWAY " + a.Goaway.Name()
	case e.H2 != nil && e.H2.Goaway != nil:
		return "GOAWAY"
	case a.CloseAfter:
		return "Connection: close"
	}
	return ""
}

// limitTold is what the reuse of a held connection told of its end; nil: nothing.
func limitTold(a Attempt, e wire.Evidence) *ConnectionLimit {
	told := toldBy(a, e)
	if !a.OK() || told == "" {
		return nil
	}
	return &ConnectionLimit{Requests: a.Served + 1, Age: a.ConnectionAge + a.Elapsed, Ended: true, Told: true, By: told}
}
