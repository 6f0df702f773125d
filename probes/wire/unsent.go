package wire

import (
	"errors"
	"net"
	"os"
	"slices"
	"time"
)

// momentary is how long what waits may take to leave where there is no kernel to
// ask how much it takes now.
const momentary = 50 * time.Millisecond

// collect has all that TLS writes from here on wait in unsent: also what it
// writes by itself while it reads (it answers a KeyUpdate). A write of its own
// that a deadline cut short would end the connection for good.
func (c *Conn) collect() {
	if c.tls != nil {
		c.tap.gather = &c.unsent
	}
}

// seal returns b as it goes out: under TLS in records.
func (c *Conn) seal(b []byte) ([]byte, error) {
	if c.tls == nil {
		return b, nil
	}
	var sealed []byte
	waiting := c.tap.gather
	c.tap.gather = &sealed
	_, err := c.tls.Write(b)
	c.tap.gather = waiting
	return sealed, err
}

// flush sends the replies as far as the peer takes them now; the rest waits for
// the next flush or the request. Once the peer has closed they would only bring
// a RST, which hides what the FIN showed.
func (c *Conn) flush() {
	if !c.sealReplies() {
		return
	}
	if c.kern != nil {
		c.wrote(c.kern.offer(c.unsent))
		return
	}
	_ = c.raw.SetWriteDeadline(time.Now().Add(momentary)) // fails on a closed connection only, and then writing says so
	c.wrote(c.raw.Write(c.unsent))
}

// push sends the replies, and waits for the peer to take them as long as the
// exchange may last.
func (c *Conn) push() {
	if !c.sealReplies() {
		return
	}
	if c.kern != nil {
		s := c.kern.write(c.unsent, nil)
		c.wrote(s.n, s.err)
		return
	}
	c.wrote(c.raw.Write(c.unsent))
}

// sealReplies adds the replies to what waits, and reports whether any of it is to
// be sent. What cannot be sent is forgotten: reading tells how the connection
// ended.
func (c *Conn) sealReplies() bool {
	h := c.h2
	replies := h.replies
	h.replies = nil
	if len(replies)+len(c.unsent) == 0 || h.lost != "" || c.kern != nil && c.kern.snapshot().State != StateEstablished {
		return false
	}
	if len(replies) > 0 {
		if sealed, err := c.seal(replies); err == nil { // else TLS has read what is no TLS, which is told
			c.unsent = append(c.unsent, sealed...)
		}
	}
	return len(c.unsent) > 0
}

// wrote takes what was written off what waits.
func (c *Conn) wrote(n int, err error) {
	h := c.h2
	c.tap.out += int64(n)
	if c.unsent = c.unsent[n:]; len(c.unsent) == 0 {
		c.unsent = nil
	}
	if no := errnoOf(err); no == ErrnoReset || no == ErrnoPipe || no == ErrnoTimeout {
		h.lost, c.unsent = no, nil
		if no == ErrnoReset && c.tap.ended == "" {
			c.tap.ended = EndReset // the write took it: reading would find an EOF
		}
	}
}

// sendNow writes the request, behind what waits. What our deadline cut short goes
// on waiting: a record is never left half sent.
func (x *exchange) sendNow() sent {
	c := x.conn
	before := len(c.unsent)
	all := x.wire
	if before > 0 {
		all = slices.Concat(c.unsent, x.wire)
	}
	c.unsent = nil
	x.from = c.tap.out + int64(before)
	s := sent{started: time.Now()}
	if c.kern != nil {
		deadline(x.ctx, c.raw, time.Time{}) // its time begins with the write, however late this machine comes to it
		s = c.kern.write(all, x.until)
	} else {
		x.until(s.started)
		s.n, s.err = c.raw.Write(all)
	}
	c.tap.out += int64(s.n)
	if ours(s.err) {
		c.unsent = all[s.n:]
	}
	s.n = max(s.n-before, 0)
	return s
}

// ours reports whether a write ended by our own deadline or close, which is no
// verdict of the system's.
func ours(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed)
}
