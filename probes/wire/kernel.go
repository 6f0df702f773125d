package wire

import "time"

// kernel is what the operating system tells of a connection, and how to ask
// without consuming anything. Linux has it; elsewhere, and on connections that
// are no sockets, there is none and the evidence says so.
type kernel interface {
	// watch calls see at once and after each event, until it returns true, the
	// read deadline passes or the connection is closed here.
	watch(see func(*Snapshot) bool) error
	// write sends all of b, asking right before the first write(2), and tells starts
	// when that is; nil: nobody.
	write(b []byte, starts func(time.Time)) sent
	// offer sends of b what fits in the socket's buffer now; it waits for nothing,
	// and no deadline ends it.
	offer(b []byte) (int, error)
	// snapshot asks now.
	snapshot() *Snapshot
}

// sent is how a write went.
type sent struct {
	started time.Time
	n       int
	before  *Snapshot
	stood   time.Duration // how long the first write(2), which waits for nothing, took
	err     error
}

// jiffy is the step of the kernel's last_ack_recv and last_data_recv: 4 ms on
// the kernels that distributions build (CONFIG_HZ=250).
const jiffy = 4 * time.Millisecond

// waited is how long an event had waited for us at most, by a counter of the
// kernel's: what is within two steps is rounding, not waiting. On a machine
// that stands still as a whole the counter jumps when it goes on, by up to that
// time (measured: 40 ms too much on two cores that 20 processes wanted).
func waited(counter time.Duration) time.Duration {
	if counter < 2*jiffy {
		return 0
	}
	return counter
}

// maxLooks bounds how often one look is repeated.
const maxLooks = 10

// lastLook looks until a look is over at once, and returns it with the instant of
// its end. A machine may stand still behind a look: what came meanwhile had come
// before the write that follows.
func lastLook(look func() *Snapshot) (s *Snapshot, ended time.Time) {
	for range maxLooks {
		s, ended = look(), time.Now()
		if ended.Sub(s.At) < time.Millisecond {
			break
		}
	}
	return s, ended
}

// cameAt is when the event that s shows came, if it was looked at late: a FIN
// carries an acknowledgement, bytes are data; a RST leaves no trace. It is never
// put before floor, the last moment at which it had not come.
func (s *Snapshot) cameAt(floor time.Time) time.Time {
	at := s.At
	switch {
	case s.State == StateCloseWait:
		at = at.Add(-waited(s.LastAckRecv))
	case s.State == StateEstablished && s.Queued > 0:
		at = at.Add(-waited(s.LastDataRecv))
	}
	if at.Before(floor) {
		return floor
	}
	return at
}

// close is the event that s shows, as a close under the word state, since idle
// began.
func (s *Snapshot) close(state string, since time.Time) *Close {
	return &Close{Age: s.Came.Sub(since), At: s.Came, State: state, Resolution: s.At.Sub(s.Came) + jiffy}
}

// quiet reports whether nothing has come: no FIN, no RST, no byte.
func (s *Snapshot) quiet() bool { return s.State == StateEstablished && s.Queued == 0 }
