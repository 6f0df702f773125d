package runner

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestSidecarsAreFound(t *testing.T) {
	for _, tt := range []struct {
		open []string
		want string
	}{
		{nil, ""},
		{[]string{"127.0.0.1:8080"}, ""},
		{[]string{"127.0.0.1:15000"}, "by Envoy's admin port: 127.0.0.1:15000 takes connections"},
		{[]string{"[::1]:15000"}, "by Envoy's admin port: [::1]:15000 takes connections"},
		{[]string{"127.0.0.1:15021", "127.0.0.1:15020"}, "by the port of Istio's agent: 127.0.0.1:15020 takes connections"},
		{[]string{"127.0.0.1:15021"}, "by the health port of Istio's sidecar: 127.0.0.1:15021 takes connections"},
		{[]string{"127.0.0.1:4191"}, "by Linkerd's admin port: 127.0.0.1:4191 takes connections"},
	} {
		m := lookForMesh(t.Context(), func(_ context.Context, address string) bool {
			for _, o := range tt.open {
				if o == address {
					return true
				}
			}
			return false
		})
		if got := m.found(); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.open, got, tt.want)
		}
		m.end()
	}
}

// A packet filter that swallows everything costs a moment, once, and a run that
// ends waits for nothing.
func TestLookingForAMeshIsBounded(t *testing.T) {
	swallowed := func(ctx context.Context, _ string) bool { <-ctx.Done(); return false }
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var asked atomic.Int32
		m := lookForMesh(t.Context(), func(ctx context.Context, a string) bool { asked.Add(1); return swallowed(ctx, a) })
		for range 3 {
			if got := m.found(); got != "" {
				t.Errorf("%q", got)
			}
		}
		if d := time.Since(start); d != meshWait || asked.Load() > int32(2*len(sidecarPorts())) {
			t.Errorf("%s, %d addresses asked", d, asked.Load())
		}
		start = time.Now()
		lookForMesh(t.Context(), swallowed).end()
		if d := time.Since(start); d != 0 {
			t.Errorf("the end took %s", d)
		}
	})
}

// The real look: a port that takes connections, and one that does not. A connection of
// the test's own has the latter, so that nobody else comes to listen there.
func TestListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if !listens(t.Context(), l.Addr().String()) {
		t.Error("an open port is not seen")
	}
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if listens(t.Context(), c.LocalAddr().String()) {
		t.Error("a closed port is seen")
	}
}
