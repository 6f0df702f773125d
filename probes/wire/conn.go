package wire

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"
)

// Conn is one connection and what is known of it. It is used by one goroutine
// at a time; only Close may be called beside another call, which it ends.
type Conn struct {
	raw     net.Conn
	tap     *tap
	tls     *tls.Conn // nil: plain
	kern    kernel    // nil: no kernel evidence
	opening Evidence

	opened    time.Time
	idleSince time.Time // the last answer's last byte, or opened
	ackBase   uint64    // the kernel's bytes_acked before our first byte: it counts the SYN
	served    int
	leftOver  int
	held      bool
	idle      idleRecord
	last      Held

	closing sync.Once
}

// Opening returns what Open said of the connection.
func (c *Conn) Opening() Evidence { return c.opening }

// Close closes the connection, under TLS with a close_notify. It is safe to
// call more than once, and beside a call that waits: that returns at once.
func (c *Conn) Close() error {
	var err error
	c.closing.Do(func() {
		// Not tls.Conn.Close: it waits up to 5 s for a peer that reads nothing.
		err = c.raw.Close()
	})
	return err
}

// reader returns what the answer is read from.
func (c *Conn) reader() io.Reader {
	if c.tls != nil {
		return c.tls
	}
	return c.tap
}

// long past: a deadline that makes whatever waits return.
func past() time.Time { return time.Unix(1, 0) }

// cutOn makes the end of ctx wake whatever waits on the connection; the
// function it returns ends that, and has to be called.
func cutOn(ctx context.Context, raw net.Conn) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	cut := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		// An error means that it is closed, and then nothing waits.
		_ = raw.SetDeadline(past())
		close(cut)
	})
	return func() {
		if !cancel() {
			<-cut // or its deadline would hit the connection's next use
		}
	}
}

// deadline sets the deadline to at (zero: none), unless ctx has ended: a cut
// that came before must not be undone.
func deadline(ctx context.Context, raw net.Conn, at time.Time) {
	_ = raw.SetDeadline(at) // fails on a closed connection only, and then reading says so
	if ctx.Err() != nil {
		_ = raw.SetDeadline(past())
	}
}

// acked returns how many bytes beyond the stream offset from the kernel on the
// other side has acknowledged, at most size.
func (c *Conn) acked(s Snapshot, from, size int64) int64 {
	return min(max(int64(s.BytesAcked)-int64(c.ackBase)-from, 0), size)
}
