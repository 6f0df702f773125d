package wire

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// recordHeader is the length of a TLS record's header.
const recordHeader = 5

// tap stands between a connection and whoever reads it (crypto/tls or the HTTP
// parser). It counts, remembers how reading ended, dates what comes, and under
// TLS hands over one record at a time: so crypto/tls never reads ahead, and the
// record that a plaintext or an alert came from is known by its offset.
type tap struct {
	net.Conn // the raw connection

	kern    kernel // nil: none
	records bool   // TLS

	in, out  int64 // stream bytes read and written so far
	start    int64 // offset at which the current record begins
	header   [recordHeader]byte
	got      int // bytes of the header read
	left     int // bytes of the record's body not read yet
	lastRead time.Time
	// TLS: when the first byte left, and when the first came, which may be before
	// it was read.
	firstWrite, firstRead time.Time

	gather *[]byte // writes go here in place of the connection
	only   bool    // reads find no more than room, and do not wait: with 0, what crypto/tls gives it held already
	room   int     // bytes that are known to have come

	overdue  func() bool // whether the exchange's own timeout has passed; nil: it has none
	watching bool        // look before each read: what is to come decides
	after    *Snapshot   // the first look of all
	steps    []*Snapshot // what was seen so, each time that something came
	ended    Ending      // how the raw connection ended; empty: it has not
}

// maxSteps bounds what is remembered while watching, and the events of a hold.
const maxSteps = 16

func (t *tap) Read(p []byte) (int, error) {
	if t.only && t.room <= 0 {
		return 0, os.ErrDeadlineExceeded // which crypto/tls does not remember
	}
	if err := t.watch(); err != nil {
		return 0, err
	}
	if t.got == 0 {
		t.start = t.in
	}
	n, err := t.Conn.Read(t.limit(p))
	if errors.Is(err, os.ErrDeadlineExceeded) && t.late() {
		n, err = t.readNow(p)
	}
	if n > 0 {
		t.lastRead = time.Now()
		t.in += int64(n)
		t.room -= n
		t.first()
	}
	if t.records {
		t.count(p[:n])
	}
	if err != nil {
		t.end(err)
	}
	return n, err
}

// first dates the first bytes of a TLS peer. Perch may have looked late, which
// would put the peer further away than it is; the kernel's coarse steps may put
// it nearer, and at worst its distance is not known.
func (t *tap) first() {
	if !t.records || !t.firstRead.IsZero() {
		return
	}
	t.firstRead = t.lastRead
	if t.kern != nil {
		t.firstRead = t.firstRead.Add(-waited(t.kern.snapshot().LastDataRecv))
	}
	if t.firstRead.Before(t.firstWrite) {
		t.firstRead = t.firstWrite
	}
}

// late reports whether the exchange's own timeout has passed and something had
// come by the time we looked: perch may have been the one that was slow, and
// then what came in time is no silence.
func (t *tap) late() bool {
	return t.kern != nil && t.overdue != nil && t.overdue() && !t.kern.snapshot().quiet()
}

// readNow reads what has come, which does not wait, whatever the deadline.
func (t *tap) readNow(p []byte) (int, error) {
	_ = t.SetReadDeadline(time.Time{}) // fails on a closed connection only, and then reading says so
	n, err := t.Conn.Read(t.limit(p))
	_ = t.SetReadDeadline(past())
	return n, err
}

// limit cuts p to what is left of the current record's header or body, and to
// what may be read now.
func (t *tap) limit(p []byte) []byte {
	left := len(p)
	switch {
	case !t.records:
	case t.got < recordHeader:
		left = recordHeader - t.got
	default:
		left = t.left
	}
	if t.only {
		left = min(left, t.room)
	}
	return p[:min(left, len(p))]
}

// count follows the records through the bytes just read.
func (t *tap) count(b []byte) {
	if t.got < recordHeader {
		t.got += copy(t.header[t.got:], b)
		if t.got == recordHeader {
			t.left = int(binary.BigEndian.Uint16(t.header[3:]))
		}
	} else {
		t.left -= len(b)
	}
	if t.got == recordHeader && t.left == 0 {
		t.got = 0
	}
}

// end remembers how the raw connection ended.
func (t *tap) end(err error) {
	switch {
	case t.ended != "":
	case err == io.EOF: //nolint:errorlint // a net.Conn returns it bare, and a wrapped one is another event
		t.ended = EndEOF
	case errnoOf(err) == ErrnoReset:
		t.ended = EndReset
	case errnoOf(err) == ErrnoTimeout:
		t.ended = EndTimeout
	}
}

// watch waits until something has come and remembers the kernel's view of it,
// before any of it is read.
func (t *tap) watch() error {
	if !t.watching || t.kern == nil {
		return nil
	}
	err := t.kern.watch(t.see)
	if errors.Is(err, os.ErrDeadlineExceeded) && t.late() {
		t.see(t.kern.snapshot())
		return nil
	}
	return err
}

// see reports whether something has come, and remembers it.
func (t *tap) see(s *Snapshot) bool {
	if t.after == nil {
		t.after = s
	}
	if s.quiet() {
		return false
	}
	t.remember(s)
	return true
}

// remember keeps s if it shows anything new.
func (t *tap) remember(s *Snapshot) {
	if n := len(t.steps); n > 0 && t.steps[n-1].Received == s.Received && t.steps[n-1].State == s.State {
		return
	}
	if len(t.steps) < maxSteps {
		t.steps = append(t.steps, s)
	}
}

// covering returns the first step at which bytes beyond offset had come.
func (t *tap) covering(offset int64) *Snapshot {
	for _, s := range t.steps {
		if s.Received > offset {
			return s
		}
	}
	return nil
}

// ending returns the first step that shows a FIN or a RST.
func (t *tap) ending() *Snapshot {
	for _, s := range t.steps {
		if s.State != StateEstablished {
			return s
		}
	}
	return nil
}

func (t *tap) Write(p []byte) (int, error) {
	if t.gather != nil {
		*t.gather = append(*t.gather, p...)
		return len(p), nil
	}
	if t.records && t.firstWrite.IsZero() {
		t.firstWrite = time.Now() // a ClientHello is not made at once: its keys are not part of the way
	}
	n, err := t.Conn.Write(p)
	t.out += int64(n)
	return n, err
}
