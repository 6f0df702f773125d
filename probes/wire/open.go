package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Open resolves, connects (each address in turn) and, with o.TLS, shakes
// hands. The Conn is nil when that failed; the evidence says in which phase
// and how.
func Open(ctx context.Context, o Options) (*Conn, Evidence) {
	began := time.Now()
	var e Evidence
	c, failure, err := open(ctx, o, &e)
	e.Elapsed = time.Since(began)
	if err != nil {
		e.Failure, e.Error = failure, err.Error()
		e.Canceled = ctx.Err() != nil
		return nil, e
	}
	c.opening = openingOf(e)
	return c, e
}

func open(ctx context.Context, o Options, e *Evidence) (*Conn, Failure, error) {
	addrs, err := resolve(ctx, o, e)
	if err != nil {
		return nil, FailureDNS, err
	}
	raw, failure, err := connect(ctx, o, addrs, e)
	if err != nil {
		return nil, failure, err
	}
	c := &Conn{raw: raw, opened: time.Now()}
	var first *Snapshot
	c.kern, first = kernelOf(raw, &c.tap.in)
	c.tap.Conn, c.tap.kern, c.tap.records = raw, c.kern, o.TLS != nil
	e.Local, e.Remote = addrPort(raw.LocalAddr()), addrPort(raw.RemoteAddr())
	if c.kern != nil {
		e.Kernel, e.RTT, e.MinRTT, c.ackBase = true, first.RTT, first.MinRTT, first.BytesAcked
	}
	if o.TLS != nil {
		if failure, err := c.handshake(ctx, o, e); err != nil {
			_ = raw.Close()
			return nil, failure, err
		}
		c.opened = time.Now()
	}
	c.idleSince = c.opened
	return c, "", nil
}

// resolve returns the addresses of o.Host, in the resolver's order.
func resolve(ctx context.Context, o Options, e *Evidence) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(o.Host); err == nil {
		return []netip.Addr{ip}, nil
	}
	lookup, sockets := o.Resolve, &resolverSockets{}
	if lookup == nil {
		lookup = sockets.resolve
	}
	ctx, cancel := within(ctx, o.DNS)
	defer cancel()
	began := time.Now()
	addrs, err := lookup(ctx, o.Host)
	e.Phases.DNS = time.Since(began)
	if err != nil {
		e.DialErr = sockets.errno()
		return nil, fmt.Errorf("resolving %q: %w", o.Host, err)
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("resolving %q: no address", o.Host)
	}
	return addrs, nil
}

// connect tries each address. When none answers, it reports the first that
// said more than "failed": an address family that this machine lacks says
// nothing about the peer.
func connect(ctx context.Context, o Options, addrs []netip.Addr, e *Evidence) (net.Conn, Failure, error) {
	dial := o.Dial
	if dial == nil {
		dial = dialer(o.TCPKeepAlive).DialContext
	}
	var failure Failure
	var failed, refused error
	for _, a := range addrs {
		if err := allowed(o, a); err != nil {
			if refused == nil {
				refused = err
			}
			continue
		}
		e.Tried = append(e.Tried, a)
		began := time.Now()
		conn, err := connectOne(ctx, dial, o.Connect, net.JoinHostPort(a.String(), o.Port))
		e.Phases.Connect += time.Since(began)
		if err == nil {
			return conn, "", nil
		}
		if f := connectFailure(err); failed == nil || failure == FailureConnect && f != FailureConnect {
			failure, failed = f, err
		}
		if ctx.Err() != nil {
			break
		}
	}
	if failed == nil { // none was dialled
		failure, failed = FailureConnect, refused
	}
	e.DialErr = errnoOf(failed)
	return nil, failure, failed
}

// allowed asks about the very address that is dialled next: what a name meant a
// moment ago says nothing.
func allowed(o Options, a netip.Addr) error {
	if o.Allow == nil {
		return nil
	}
	return o.Allow(a)
}

func connectOne(ctx context.Context, dial DialFunc, limit time.Duration, addr string) (net.Conn, error) {
	ctx, cancel := within(ctx, limit)
	defer cancel()
	conn, err := dial(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", addr, err)
	}
	return conn, nil
}

func connectFailure(err error) Failure {
	var timeout net.Error
	switch {
	case errnoOf(err) == ErrnoRefused:
		return FailureRefused
	case errors.As(err, &timeout) && timeout.Timeout():
		return FailureConnectTimeout
	default:
		return FailureConnect
	}
}

// dialer is the network as an application sees it, but with TCP keep-alive off
// unless asked for: Go's default of 15 s would keep an idle path awake.
func dialer(keepAlive time.Duration) *net.Dialer {
	if keepAlive <= 0 {
		return &net.Dialer{KeepAlive: -1}
	}
	return &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAlive}}
}

// within bounds ctx; a limit of 0 is none.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, limit)
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
