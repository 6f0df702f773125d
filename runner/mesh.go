package runner

import (
	"context"
	"net"
	"sync"
	"time"
)

// meshWait bounds how long a sidecar's port is waited for: on loopback a port
// answers at once, or a packet filter swallows what is sent there.
const meshWait = 250 * time.Millisecond

// sidecarPort is a port on which a mesh's sidecar listens in its pod.
type sidecarPort struct{ port, whose string }

// sidecarPorts are Envoy's and Istio's (istio.io: "Ports used by Istio") and
// Linkerd's (linkerd.io: "proxy admin port").
func sidecarPorts() []sidecarPort {
	return []sidecarPort{
		{"15000", "Envoy's admin port"},
		{"15020", "the port of Istio's agent"},
		{"15021", "the health port of Istio's sidecar"},
		{"4191", "Linkerd's admin port"},
	}
}

// meshLook looks once whether a sidecar stands beside perch.
type meshLook struct {
	cancel context.CancelFunc
	done   chan struct{}
	words  string
}

// lookForMesh starts to look, and returns at once. listens reports whether
// anything takes a connection there.
func lookForMesh(ctx context.Context, listens func(ctx context.Context, address string) bool) *meshLook {
	ctx, cancel := context.WithTimeout(ctx, meshWait)
	m := &meshLook{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(m.done)
		m.words = sidecar(ctx, listens)
	}()
	return m
}

// found returns how a sidecar was found; empty: none was. It waits until that is
// known.
func (m *meshLook) found() string {
	<-m.done
	return m.words
}

// over reports whether it is known.
func (m *meshLook) over() bool {
	select {
	case <-m.done:
		return true
	default:
		return false
	}
}

func (m *meshLook) end() {
	m.cancel()
	<-m.done
}

// sidecar asks each port in both families at once, and names the first of the
// list.
func sidecar(ctx context.Context, listens func(ctx context.Context, address string) bool) string {
	ports := sidecarPorts()
	seen := make([]string, len(ports))
	var asked sync.WaitGroup
	for i, p := range ports {
		asked.Go(func() {
			for _, host := range []string{"127.0.0.1", "::1"} {
				if address := net.JoinHostPort(host, p.port); listens(ctx, address) {
					seen[i] = p.whose + ": " + address + " takes connections"
					return
				}
			}
		})
	}
	asked.Wait()
	for _, words := range seen {
		if words != "" {
			return "by " + words
		}
	}
	return ""
}

func listens(ctx context.Context, address string) bool {
	c, err := (&net.Dialer{KeepAlive: -1}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = c.Close() // it told what was asked
	return true
}

// Sidecar returns how a mesh's sidecar was found beside perch, in words for
// people; empty: none was. It takes 250 ms at most.
func Sidecar(ctx context.Context) string {
	m := lookForMesh(ctx, listens)
	defer m.end()
	return m.found()
}
