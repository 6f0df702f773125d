package probes

import (
	"testing"
	"time"

	"perch.example/probes/wire"
)

func TestOwnPodOfAFailedAttempt(t *testing.T) {
	measured := func(used int) func(time.Time) OwnPod {
		return func(time.Time) OwnPod {
			return OwnPod{Stalled: time.Second, Ports: Usage{Used: used, Limit: 100}}
		}
	}
	unused := func(age time.Duration) wire.Evidence {
		return wire.Evidence{Age: age, Before: &wire.Snapshot{State: wire.StateCloseWait}}
	}
	opening := func(e wire.Errno) wire.Evidence {
		return wire.Evidence{Failure: wire.FailureConnect, DialErr: e}
	}
	for _, tt := range []struct {
		name   string
		reason Reason
		e      wire.Evidence
		own    func(time.Time) OwnPod
		want   *OwnPod
		delay  time.Duration
	}{
		{"a whole answer asks for nothing", ReasonOK, wire.Evidence{}, func(time.Time) OwnPod { panic("asked") }, nil, 0},
		{"nothing is measured", ReasonEOF, wire.Evidence{}, nil, nil, 0},
		{"a close", ReasonEOF, wire.Evidence{Held: true}, measured(3), &OwnPod{Stalled: time.Second, Ports: Usage{3, 100}}, 0},
		{"a timeout", ReasonConnectTimeout, opening(wire.ErrnoTimeout), measured(3), &OwnPod{Stalled: time.Second, Ports: Usage{3, 100}}, time.Second},
		{"no descriptor", ReasonConnectFailed, opening(wire.ErrnoDescriptors), nil, &OwnPod{Exhausted: ResourceDescriptors}, 0},
		{"no descriptor for the resolver", ReasonDNS, wire.Evidence{Failure: wire.FailureDNS, DialErr: wire.ErrnoDescriptors}, nil, &OwnPod{Exhausted: ResourceDescriptors}, 0},
		{"no port, nothing measured", ReasonConnectFailed, opening(wire.ErrnoNoAddress), nil, &OwnPod{Exhausted: ResourcePorts}, 0},
		{"no port", ReasonConnectFailed, opening(wire.ErrnoNoAddress), measured(99), &OwnPod{Stalled: time.Second, Ports: Usage{99, 100}, Exhausted: ResourcePorts}, 0},
		{"no address, but ports", ReasonConnectFailed, opening(wire.ErrnoNoAddress), measured(3), &OwnPod{Stalled: time.Second, Ports: Usage{3, 100}}, 0},
		{"closed before it was used, at once", ReasonCrossedClose, unused(499 * time.Millisecond), nil, nil, 0},
		{"closed before it was used, late", ReasonCrossedClose, unused(1300 * time.Millisecond), nil, nil, 1300 * time.Millisecond},
		{"closed before it was used, late by many small waits", ReasonCrossedClose, unused(1300 * time.Millisecond), func(time.Time) OwnPod { return OwnPod{} }, &OwnPod{}, 1300 * time.Millisecond},
		{"used late, and then closed", ReasonEOF, wire.Evidence{Age: 2 * time.Second, Before: &wire.Snapshot{State: wire.StateEstablished}}, nil, nil, 0},
		{"refused", ReasonRefused, opening(wire.ErrnoRefused), nil, nil, 0},
	} {
		c := &call{spec: &Spec{}, env: Env{Own: tt.own}}
		a := Attempt{Reason: tt.reason}
		c.own(&a, tt.e, time.Now())
		if (a.Own == nil) != (tt.want == nil) || a.Own != nil && *a.Own != *tt.want || a.Delay != tt.delay {
			t.Errorf("%s: %+v, delay %s; want %+v, %s", tt.name, a.Own, a.Delay, tt.want, tt.delay)
		}
	}
}

// Perch's part begins with the opening, or when a held connection's reuse was due.
func TestWhenPerchsPartBegan(t *testing.T) {
	at := time.Unix(1000, 0)
	fresh := wire.Evidence{Started: at, Age: time.Second, Phases: wire.Phases{DNS: 1, Connect: 2, TLS: 3, Wait: 4}}
	held := wire.Evidence{Started: at, Age: time.Hour, Held: true, HoldLate: time.Minute}
	if got := began(fresh); !got.Equal(at.Add(-time.Second - 6)) {
		t.Errorf("a fresh one %s before it was sent", at.Sub(got))
	}
	if got := began(held); !got.Equal(at.Add(-time.Minute)) {
		t.Errorf("a held one %s before it was sent", at.Sub(got))
	}
	if got := began(wire.Evidence{}); time.Since(got) > time.Minute {
		t.Errorf("nothing left, and it began %s", got)
	}
}
