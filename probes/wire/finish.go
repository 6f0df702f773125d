package wire

import (
	"context"
	"time"
)

// finish completes the evidence and readies the connection for its next use.
func (x *exchange) finish() {
	c, s := x.conn, &x.source
	x.e.Canceled = s.closed
	x.e.ResponseBytes = c.tap.in - x.in
	x.times()
	x.ask()
	x.lateness()
	if c.h2 != nil {
		x.e.H2 = c.h2.evidence(x.e.H2)
	}
	if x.e.Held {
		x.e.IdleClose = x.idleClose()
	}

	c.tap.watching, c.tap.after, c.tap.steps, c.tap.overdue = false, nil, nil, nil
	c.served++
	c.leftOver, c.leftOf = x.e.LeftAfter, x.leftStatus
	c.idleSince = x.endAt()
	c.held, c.last, c.idle = false, Held{}, idleRecord{frames: c.h2 != nil}
	if c.h2 != nil {
		c.restH2()
	}
	deadline(context.Background(), c.raw, time.Time{})
}

// endAt is when the attempt ended: the last byte of a whole answer, else when
// reading ended.
func (x *exchange) endAt() time.Time {
	if x.source.err != nil && x.e.Ending != EndWhole {
		return x.source.endedAt
	}
	if last := x.conn.tap.lastRead; last.After(x.e.Started) {
		return last
	}
	return time.Now()
}

func (x *exchange) times() {
	if x.e.Started.IsZero() {
		return
	}
	end := x.endAt()
	x.e.Elapsed = end.Sub(x.e.Started)
	x.e.Phases.Wait = x.e.Elapsed
	if first := x.source.first; !first.IsZero() {
		x.e.Phases.Wait = first.Sub(x.e.Started)
		x.e.Phases.Transfer = end.Sub(first)
	}
}

// ask takes the last snapshot and says what each acknowledged.
func (x *exchange) ask() {
	c := x.conn
	if c.kern == nil || x.e.Before == nil {
		return
	}
	last := c.kern.snapshot()
	x.e.After, x.e.Last = c.tap.after, last
	for _, s := range []*Snapshot{x.e.After, x.e.Last} {
		if s != nil {
			s.Acked = c.acked(s, x.from, x.e.RequestSize)
		}
	}
	if last.State == 0 {
		return // closed here: nothing is known
	}
	acked := last.Acked
	x.e.RequestBytesAcked = &acked
	if last.RTT > 0 {
		x.e.RTT = last.RTT
	}
	if last.MinRTT > 0 {
		x.e.MinRTT = last.MinRTT
	}
}

// lateness says how long the event that decided had waited for perch to look.
func (x *exchange) lateness() {
	first, s := x.e.First, &x.source
	switch {
	case first != nil && first.State == StateClose && x.e.Ending != EndWhole:
		// A RST leaves no time.
	case first != nil:
		wait := waited(first.LastDataRecv)
		if x.e.Ending == EndEOF && x.e.Stage == StageNone {
			wait = waited(first.LastAckRecv)
		}
		x.e.Wait, x.e.WaitKnown = min(wait, first.At.Sub(x.e.Started)), true
	case s.ended == EndTimeout && x.overdue(s.endedAt):
		x.e.Wait, x.e.WaitKnown = s.endedAt.Sub(x.e.Started.Add(x.req.Timeout)), true
		if last := x.e.Last; last != nil && last.Queued > 0 {
			x.e.Wait = max(x.e.Wait, waited(last.LastDataRecv))
		}
	}
	if x.stood > x.e.Wait { // what came meanwhile may have come before the write
		x.e.Wait, x.e.WaitKnown = x.stood, true
	}
	x.e.Wait = max(x.e.Wait, x.readLate())
}

// readLate is how long the end of a whole answer had waited to be read: idling is
// counted from when it was.
func (x *exchange) readLate() time.Duration {
	last := x.e.Last
	if x.e.Ending != EndWhole || last == nil {
		return 0
	}
	came := last.At.Add(-waited(last.LastDataRecv))
	return min(max(x.endAt().Sub(came), 0), x.e.Elapsed)
}

// idleClose says what ended the connection before our write, dated by what was
// seen while it was held, with the words that only reading gives.
func (x *exchange) idleClose() *Close {
	r, since := &x.conn.idle, x.conn.idleSince
	switch h := x.conn.h2; {
	case h != nil && h.goneAt != nil:
		return h.goneAt
	case h != nil && h.notified != nil:
		return h.notified
	case x.e.LeftOver > 0:
		return &Close{At: since, State: "bytes"}
	case x.e.Alerted:
		return x.dated("close_notify", r.bytes)
	case x.e.Pushed:
		return x.dated("bytes", r.bytes)
	case x.e.RequestBytes > 0 && (r.end == nil || x.e.Before.State == StateEstablished):
		return nil
	}
	switch x.e.WriteErr {
	case ErrnoReset:
		return x.dated("rst", r.end)
	case ErrnoTimeout:
		return x.dated("silent", r.end)
	case ErrnoPipe:
		return x.dated("fin", r.end)
	default:
	}
	return r.end
}

// dated returns seen under the word that turned out right; without it, a close
// at the moment of our write.
func (x *exchange) dated(state string, seen *Close) *Close {
	since := x.conn.idleSince
	if x.conn.tls != nil && (state == "bytes" || state == "close_notify") {
		// The first bytes may have been a ticket: date the record itself.
		if s := x.conn.idle.covering(x.origin); s != nil {
			return s.close(state, since)
		}
	}
	if seen == nil {
		at := x.e.Started
		if at.IsZero() {
			return nil
		}
		return &Close{Age: at.Sub(since), At: at, State: state, Resolution: jiffy}
	}
	c := *seen
	c.State = state
	return &c
}
