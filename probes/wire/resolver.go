package wire

import (
	"context"
	"net"
	"net/netip"
	"sync"
)

// resolverSockets is the system's resolver for one name. It remembers why a
// socket of its own could not be opened: a resolver's error hides what the
// system said, and without a file descriptor left the name is the first to fail.
type resolverSockets struct {
	mu   sync.Mutex // A and AAAA are asked at once, and go on after a timeout
	last Errno
}

// resolve asks as every program on the machine does.
func (r *resolverSockets) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	system := net.Resolver{Dial: r.dial} // used where Go itself asks, not the C library
	addrs, err := system.LookupNetIP(ctx, "ip", host)
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return addrs, err
}

func (r *resolverSockets) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.last = errnoOf(err)
	}
	return conn, err
}

// errno is the class of the last error; empty: each socket was opened.
func (r *resolverSockets) errno() Errno {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}
