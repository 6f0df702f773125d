package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// errHeadLimit ends the reading of a head that has no end.
var errHeadLimit = errors.New("the answer's head is too large")

// source is what the HTTP parser reads an answer from. It notes what the first
// byte and the end showed, for the parser's own errors do not tell how reading
// ended.
type source struct {
	r     io.Reader // the tap, or TLS over it
	x     *exchange
	stage Stage
	head  []byte // raw bytes while the head is read, and what came with them
	limit int64  // of the head

	first   time.Time // when the first byte came
	ended   Ending    // empty: not yet
	endedAt time.Time
	closed  bool // cut short: the context ended, or the connection was closed here
	err     error
}

func (s *source) Read(p []byte) (int, error) {
	inHead := s.stage == StageNone || s.stage == StageHead
	if inHead && int64(len(s.head)) >= s.limit {
		return 0, errHeadLimit
	}
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.r.Read(p)
	if n > 0 && s.stage == StageNone {
		s.began(s.x.conn.tap.start)
	}
	if n > 0 && inHead {
		s.head = append(s.head, p[:n]...)
	}
	if err != nil {
		s.end(err)
	}
	return n, err
}

// frameSource is what frames are read from: they have their own heads and
// limits.
type frameSource struct{ *source }

func (s frameSource) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.r.Read(p)
	if err != nil {
		s.end(err)
	}
	return n, err
}

// began notes what the first byte of an answer showed, which came at an offset
// in the peer's stream.
func (s *source) began(start int64) {
	x, t := s.x, &s.x.conn.tap
	s.stage, s.first = StageHead, t.lastRead
	t.watching = false // what comes from here on is counted, no longer looked at
	x.decided(start)
	if start < x.before && x.conn.h2 == nil {
		x.e.Pushed = true
	}
}

// decided notes what was seen when the bytes from start on came.
func (x *exchange) decided(start int64) {
	x.origin = start
	x.note(x.conn.tap.covering(start))
}

// note keeps the snapshot at the event that decided.
func (x *exchange) note(s *Snapshot) {
	if s == nil {
		return
	}
	first := *s
	first.Acked = x.conn.acked(&first, x.from, x.e.RequestSize)
	x.e.First = &first
}

// end notes how reading ended.
func (s *source) end(err error) {
	x, t := s.x, &s.x.conn.tap
	s.err, s.endedAt = err, time.Now()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		s.ended = EndTimeout
		s.closed = x.ctx.Err() != nil && !x.overdue(s.endedAt)
	case errors.Is(err, net.ErrClosed):
		s.closed = true
	case t.ended != "":
		s.ended = t.ended
	case x.conn.tls == nil:
		// Unknown to us: no ending, so no reason but internal.
	case err == io.EOF: //nolint:errorlint // crypto/tls returns it bare
		s.ended = EndCloseNotify
	case remoteAlert(err):
		s.ended = EndAlert
	default:
		s.ended = EndGarbage
	}
	if s.stage != StageNone {
		return
	}
	switch s.ended {
	case EndCloseNotify, EndAlert:
		x.decided(t.start)
		x.e.Alerted = t.start < x.before
	case EndEOF, EndReset:
		x.note(t.ending())
	default:
	}
}

// remoteAlert reports whether crypto/tls passed on an alert of the peer's: its
// type is not exported, the operation it is wrapped in is.
func remoteAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// overdue reports whether the exchange's own timeout has passed.
func (x *exchange) overdue(now time.Time) bool {
	return x.req.Timeout > 0 && !x.e.Started.IsZero() && !now.Before(x.e.Started.Add(x.req.Timeout))
}

// decrypted are the first of the bytes that crypto/tls holds, decrypted, beyond the
// answer.
func (c *Conn) decrypted() []byte {
	if c.tls == nil {
		return nil
	}
	var some [64]byte
	c.tap.only, c.tap.room = true, 0
	n, _ := c.tls.Read(some[:])
	c.tap.only = false
	return append([]byte(nil), some[:n]...)
}
