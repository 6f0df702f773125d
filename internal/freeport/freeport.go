// Package freeport finds ports for tests' servers that cannot say on which port
// they listen.
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
	"testing"
)

// The kernel gives connections on their way out ports from 32768 on, and sidecars
// of meshes sit near 15000: between the two nobody takes a port between our look
// and the server's start.
const lowest, beyond = 20000, 32768

// most is how often another port is looked at.
const most = 100

// Listen is net.Listen, here or in another network namespace.
type Listen func(network, address string) (net.Listener, error)

// Loopback is a free TCP port on 127.0.0.1.
func Loopback(t testing.TB) int {
	t.Helper()
	return On(t, net.Listen, "127.0.0.1")
}

// On is a TCP port of a host on which nobody listens.
func On(t testing.TB, listen Listen, host string) int {
	t.Helper()
	for range most {
		port := lowest + rand.IntN(beyond-lowest)
		listener, err := listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			t.Fatalf("finding a free port: %v", err)
		}
		if err := listener.Close(); err != nil {
			t.Fatalf("finding a free port: %v", err)
		}
		return port
	}
	t.Fatalf("finding a free port: %d looked at, all in use", most)
	return 0
}
