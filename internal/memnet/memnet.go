// Package memnet is an in-memory network for tests: its connections block on
// channels only, so that they run inside testing/synctest bubbles. They have no
// kernel, so the engine takes its portable path.
package memnet

import (
	"context"
	"errors"
	"net"
	"sync"
)

// ErrRefused is what Dial returns once the network was closed.
var ErrRefused = errors.New("memnet: connection refused")

// Network is one listener that every dial reaches. The zero value is not
// usable; New makes one.
type Network struct {
	accept chan net.Conn
	once   sync.Once
	closed chan struct{}
}

// New returns an open network.
func New() *Network {
	return &Network{accept: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects to the listener, whatever the address.
func (n *Network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case n.accept <- far:
		return near, nil
	case <-n.closed:
		return nil, ErrRefused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for the next dial.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.accept:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses every later dial. Connections stay open.
func (n *Network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

// Addr names the network.
func (n *Network) Addr() net.Addr { return addr{} }

type addr struct{}

func (addr) Network() string { return "mem" }
func (addr) String() string  { return "memnet" }
