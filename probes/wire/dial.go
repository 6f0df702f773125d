package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"
)

// Family says which addresses of a host are dialled, and in which order.
type Family string

// The families. The zero value takes all, in the resolver's order.
const (
	FamilyAny     Family = ""
	FamilyV4      Family = "ipv4"
	FamilyV6      Family = "ipv6"
	FamilyV4First Family = "prefer_ipv4"
	FamilyV6First Family = "prefer_ipv6"
)

// Lookup returns the addresses of o.Host that Open would dial, in its order, and
// asks nobody else than the resolver. An address is its own. Its error says what
// the resolver said, or that no address is left of o.Family and o.Source.
func Lookup(ctx context.Context, o Options) ([]netip.Addr, error) {
	var e Evidence
	return resolve(ctx, o, &e)
}

// reach makes the connection that all else runs on: to the socket, to the proxy,
// or to the host. A proxy that cannot be reached fails as the proxy.
func reach(ctx context.Context, o Options, e *Evidence) (net.Conn, Failure, error) {
	if o.Socket != "" {
		return dialSocket(ctx, o, e)
	}
	if o.Proxy == nil {
		return reachHost(ctx, o, e)
	}
	to := o
	to.Host, to.Port = o.Proxy.Host, o.Proxy.Port
	raw, _, err := reachHost(ctx, to, e)
	if err != nil {
		return nil, FailureProxy, o.Proxy.failed(err)
	}
	return raw, "", nil
}

func reachHost(ctx context.Context, o Options, e *Evidence) (net.Conn, Failure, error) {
	addrs, err := resolve(ctx, o, e)
	if err != nil {
		return nil, FailureDNS, err
	}
	return connect(ctx, o, addrs, e)
}

// resolve returns the addresses of o.Host that are to be dialled, in their order.
func resolve(ctx context.Context, o Options, e *Evidence) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(o.Host); err == nil {
		return o.eligible([]netip.Addr{ip})
	}
	lookup, sockets := o.Resolve, &resolverSockets{}
	switch {
	case lookup != nil:
	case o.Dial != nil: // another network than the system's, whose resolver knows no name of it
		return nil, fmt.Errorf("resolving %q: there is no resolver beside the dial function", o.Host)
	default:
		lookup = sockets.resolve
	}
	ctx, cancel := within(ctx, o.DNS)
	defer cancel()
	began := time.Now()
	addrs, err := lookup(ctx, o.Host)
	e.Phases.DNS += time.Since(began)
	if err != nil {
		e.DialErr = sockets.errno()
		return nil, fmt.Errorf("resolving %q: %w", o.Host, err)
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("resolving %q: no address", o.Host)
	}
	return o.eligible(addrs)
}

// eligible filters and orders addresses by o.Family; a source address reaches
// only those of its own family.
func (o Options) eligible(addrs []netip.Addr) ([]netip.Addr, error) {
	var v4, v6, all []netip.Addr
	for _, a := range addrs {
		switch {
		case o.Source.IsValid() && a.Unmap().Is4() != o.Source.Unmap().Is4():
			continue
		case a.Unmap().Is4():
			v4 = append(v4, a)
		default:
			v6 = append(v6, a)
		}
		all = append(all, a)
	}
	var kept []netip.Addr
	switch o.Family {
	case FamilyV4:
		kept = v4
	case FamilyV6:
		kept = v6
	case FamilyV4First:
		kept = slices.Concat(v4, v6)
	case FamilyV6First:
		kept = slices.Concat(v6, v4)
	default:
		kept = all
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("resolving %q: none of its %d addresses is of the family that is asked for: %s", o.Host, len(addrs), o.wanted())
	}
	return kept, nil
}

// wanted words what asks for a family.
func (o Options) wanted() string {
	if o.Source.IsValid() {
		return "connections come from " + o.Source.String()
	}
	return "ip_family is " + string(o.Family)
}

// connect tries each address. When none answers, it reports the first that
// said more than "failed": an address family that this machine lacks says
// nothing about the peer.
func connect(ctx context.Context, o Options, addrs []netip.Addr, e *Evidence) (net.Conn, Failure, error) {
	dial := o.Dial
	if dial == nil {
		dial = dialer(o.TCPKeepAlive, o.Source).DialContext
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
	if notOurs(o.Source, failed) {
		return nil, failure, fmt.Errorf("source_address %s is no address of this machine: %w", o.Source, failed)
	}
	e.DialErr = errnoOf(failed)
	return nil, failure, failed
}

// notOurs reports whether a connection failed because its source address is not
// one of this machine's. The system has the same word where no port is left: a
// bound address fails in bind, a port's lack in connect.
func notOurs(source netip.Addr, err error) bool {
	var call *os.SyscallError
	return source.IsValid() && errnoOf(err) == ErrnoNoAddress && errors.As(err, &call) && call.Syscall == "bind"
}

// dialSocket connects to a unix socket, which has no address to ask about.
func dialSocket(ctx context.Context, o Options, e *Evidence) (net.Conn, Failure, error) {
	dial := o.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	ctx, cancel := within(ctx, o.Connect)
	defer cancel()
	began := time.Now()
	conn, err := dial(ctx, "unix", o.Socket)
	e.Phases.Connect += time.Since(began)
	if err != nil {
		e.DialErr = errnoOf(err)
		return nil, connectFailure(err), fmt.Errorf("connecting to the socket %q: %w", o.Socket, err)
	}
	return conn, "", nil
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
func dialer(keepAlive time.Duration, source netip.Addr) *net.Dialer {
	d := &net.Dialer{KeepAlive: -1}
	if keepAlive > 0 {
		d = &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAlive}}
	}
	if source.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(source, 0))
	}
	return d
}

// within bounds ctx; a limit of 0 is none.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, limit)
}
