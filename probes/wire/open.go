package wire

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// longestError bounds the text of an opening that failed, in bytes: a certificate's names
// stand in it, and what a proxy said.
const longestError = 1000

// Open resolves, connects (each address in turn), goes through the proxy that
// o.Proxy names and, with o.TLS, shakes hands. The Conn is nil when that failed;
// the evidence says in which phase and how.
func Open(ctx context.Context, o Options) (*Conn, Evidence) {
	began := time.Now()
	var e Evidence
	c, failure, err := open(ctx, o, &e)
	e.Elapsed = time.Since(began)
	if err != nil {
		e.Failure, e.Error = failure, Printable(err.Error(), longestError)
		e.Canceled = ctx.Err() != nil
		return nil, e
	}
	e.Proto = c.proto()
	c.opening = openingOf(e)
	return c, e
}

func open(ctx context.Context, o Options, e *Evidence) (*Conn, Failure, error) {
	target, failure, err := aim(ctx, o, e)
	if err != nil {
		return nil, failure, err
	}
	raw, failure, err := reach(ctx, o, e)
	if err != nil {
		return nil, failure, err
	}
	c := &Conn{raw: raw, opened: time.Now()}
	var first *Snapshot
	c.kern, first = kernelOf(raw, &c.tap.in)
	c.tap.Conn, c.tap.kern = raw, c.kern
	e.Local, e.Remote = addrPort(raw.LocalAddr()), addrPort(raw.RemoteAddr())
	if c.kern != nil {
		e.Kernel, e.RTT, e.MinRTT, c.ackBase = true, first.RTT, first.MinRTT, first.BytesAcked
	}
	if failure, err := c.speak(ctx, o, target, e); err != nil {
		_ = raw.Close()
		return nil, failure, err
	}
	c.idleSince = c.opened
	return c, "", nil
}

// speak has the proxy, where there is one, connect to the target, and shakes
// hands.
func (c *Conn) speak(ctx context.Context, o Options, target string, e *Evidence) (Failure, error) {
	if o.Proxy != nil {
		if err := c.through(ctx, o, target, e); err != nil {
			return FailureProxy, o.Proxy.failed(err)
		}
		c.opened = time.Now()
	}
	if o.TLS == nil {
		return "", c.agree(o)
	}
	c.tap.records = true
	if failure, err := c.handshake(ctx, o, e); err != nil {
		return failure, err
	}
	c.opened = time.Now()
	err := c.agree(o)
	e.Unagreed = err != nil
	return FailureTLS, err
}

func addrPort(a net.Addr) netip.AddrPort {
	if a == nil {
		return netip.AddrPort{}
	}
	if t, ok := a.(*net.TCPAddr); ok {
		ap := t.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
	}
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.AddrPort{}
	}
	return ap
}

// opening is what is kept of an opening's evidence for as long as the
// connection lives: ten thousand of them are held at once.
type opening struct {
	phases        Phases
	elapsed       time.Duration
	rtt, minRTT   time.Duration
	hello         time.Duration
	local, remote netip.AddrPort
	tried         []netip.Addr
	chain         *TLSFacts
}

func openingOf(e Evidence) opening {
	return opening{e.Phases, e.Elapsed, e.RTT, e.MinRTT, e.Hello, e.Local, e.Remote, e.Tried, e.Chain}
}

// evidence returns what each exchange repeats of the opening.
func (o opening) evidence() Evidence {
	return Evidence{
		RTT: o.rtt, MinRTT: o.minRTT, Hello: o.hello, Local: o.local, Remote: o.remote,
		Tried: o.tried, Chain: o.chain,
	}
}
