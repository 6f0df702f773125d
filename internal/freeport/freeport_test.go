package freeport

import (
	"net"
	"strconv"
	"testing"
)

// TestLoopback: the port is outside of what the kernel gives away, and a server
// gets it.
func TestLoopback(t *testing.T) {
	port := Loopback(t)
	if port < lowest || port >= beyond {
		t.Fatalf("port %d, want one from %d to %d", port, lowest, beyond-1)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
}

// TestOnPassesPortsInUse: a port that is taken is not handed out.
func TestOnPassesPortsInUse(t *testing.T) {
	var looked []string
	port := On(t, func(network, address string) (net.Listener, error) {
		looked = append(looked, address)
		if len(looked) == 1 { // somebody is quicker
			held, err := net.Listen(network, address)
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() { _ = held.Close() })
		}
		return net.Listen(network, address)
	}, "127.0.0.1")
	if last := looked[len(looked)-1]; len(looked) < 2 || last != net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) {
		t.Fatalf("looked at %v and gave %d, want the second", looked, port)
	}
}
