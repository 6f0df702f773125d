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
	tap     tap
	tls     *tls.Conn // nil: plain
	outer   *tls.Conn // that it runs in: an https proxy's; nil: it runs over the tap
	unsent  []byte    // what goes out before anything else: the peer had no room for it yet
	whole   *Proxy    // that reads our requests in the host's place; nil: the host does
	h2      *h2       // nil: HTTP/1.1
	kern    kernel    // nil: no kernel evidence
	opening opening

	opened    time.Time
	idleSince time.Time // the last answer's last byte, or opened
	ackBase   uint64    // the kernel's bytes_acked before our first byte: it counts the SYN
	served    int
	leftOver  int
	leftOf    int // the status of the answer that these bytes begin with; 0: none
	held      bool
	idle      idleRecord
	last      Held

	closing sync.Once
}

// Opening returns what Open said of the connection.
func (c *Conn) Opening() Evidence {
	e := c.opening.evidence()
	e.Phases, e.Elapsed = c.opening.phases, c.opening.elapsed
	e.TLS, e.Kernel, e.Proto = c.tls != nil, c.kern != nil, c.proto()
	return e
}

// Close closes the connection, also under TLS without a word to the peer. It is safe to
// call more than once, and beside a call that waits: that returns at once.
func (c *Conn) Close() error {
	var err error
	c.closing.Do(func() {
		// Not tls.Conn.Close: it waits up to 5 s for a peer that reads nothing.
		err = c.raw.Close()
	})
	return err
}

// proto is what the connection speaks, as answers name it.
func (c *Conn) proto() string {
	if c.h2 != nil {
		return protoH2
	}
	return "HTTP/1.1"
}

// reader returns what the answer is read from.
func (c *Conn) reader() io.Reader {
	if c.tls != nil {
		return c.tls
	}
	return &c.tap
}

// long past: a deadline that makes whatever waits return.
func past() time.Time { return time.Unix(1, 0) }

// cut makes the end of a context wake whatever waits on a connection.
type cut struct {
	raw    net.Conn
	cancel func() bool
	woken  sync.WaitGroup
}

// cutOn arms a cut; stop has to be called, and does nothing on nil.
func cutOn(ctx context.Context, raw net.Conn) *cut {
	if ctx.Done() == nil {
		return nil
	}
	k := &cut{raw: raw}
	k.woken.Add(1)
	k.cancel = context.AfterFunc(ctx, k.wake)
	return k
}

func (k *cut) wake() {
	_ = k.raw.SetDeadline(past()) // fails on a closed connection only, and then nothing waits
	k.woken.Done()
}

// stop disarms; when it is too late, it waits until the deadline is set, or
// that would hit the connection's next use.
func (k *cut) stop() {
	if k != nil && !k.cancel() {
		k.woken.Wait()
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
func (c *Conn) acked(s *Snapshot, from, size int64) int64 {
	return min(max(int64(s.BytesAcked)-int64(c.ackBase)-from, 0), size)
}
