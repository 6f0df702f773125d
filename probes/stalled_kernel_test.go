package probes

import (
	"io"
	"net"
	"testing"
	"time"
)

// TestStallBeforeAFreshRequest: a server ends a new connection that perch,
// which stood still, did not use. The attempt says how long perch stood still:
// without that it would be an outage.
func TestStallBeforeAFreshRequest(t *testing.T) {
	const stall = 3 * time.Second // what the runner would have measured
	for name, parting := range map[string]string{"a FIN": "", "a 408 and a FIN": "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			go func() {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, parting) // the client looks whether it came
				_ = c.Close()
			}()
			env := newEnv(nil, &desk{t: t, at: func(stage string) error {
				if stage == "send warm" {
					awaitFIN(t, l.Addr())
				}
				return nil
			}})
			began := time.Now()
			env.Own = func(since time.Time) OwnPod {
				if since.Before(began) || since.After(time.Now()) {
					t.Errorf("asked for stalls since %s after the start", since.Sub(began))
				}
				return OwnPod{Stalled: stall}
			}
			o := RunHTTP(t.Context(), realSpec(t, KindHTTP, "http://"+l.Addr().String()+"/"), env)
			if a := o.Attempts[0]; a.OK() || !a.DelayKnown || a.Delay != stall || a.Own == nil || a.Own.Stalled != stall {
				t.Errorf("%s: delayed by %s, known %v; want a failure, delayed by %s", a.Reason, a.Delay, a.DelayKnown, stall)
			}
		})
	}
}

// A failure that a stall cannot explain does not speak of it.
func TestStallExplainsNotEverything(t *testing.T) {
	env := newEnv(nil, &desk{t: t})
	env.Own = func(time.Time) OwnPod { return OwnPod{Stalled: time.Hour} }
	o := RunHTTP(t.Context(), realSpec(t, KindHTTP, "http://"+refusing(t)+"/"), env)
	if a := o.Attempts[0]; a.Reason != ReasonRefused || a.Delay != 0 {
		t.Errorf("%s, delayed by %s; want refused and nothing of a delay", a.Reason, a.Delay)
	}
}

// refusing is an address that refuses connections: a connection of the test's own has
// its port, so that nobody else comes to listen there.
func refusing(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.LocalAddr().String()
}
