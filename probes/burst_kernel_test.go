package probes

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// TestBurstOnClosedConnections: burst_peers_test.go has more of it.
func TestBurstOnClosedConnections(t *testing.T) {
	t.Parallel()
	burstsOnClosed(t, 2)
}

// burstsOnClosed plays bursts against a server that closes what idles for a second: each
// of the twenty connections of each pool idles for longer in the gap, is drawn once, and
// tells how and when it was closed.
func burstsOnClosed(t *testing.T, pools int) {
	t.Helper()
	const timeout = time.Second
	env := make([]Env, pools)
	desks := make([]*desk, pools)
	address := ""
	for i := range pools {
		desks[i] = &desk{t: t}
		if i == 0 {
			address, env[i] = labEnv(t, "idle_fin", timeout, desks[i])
			continue
		}
		env[i] = newEnv(nil, desks[i])
	}
	seen := make([]Observation, pools)
	var playing sync.WaitGroup
	for i := range pools {
		playing.Go(func() {
			s := realSpec(t, KindBurst, address)
			s.Burst = &Shape{Requests: 20, Over: 400 * time.Millisecond, Connections: 20, Bursts: 2, Gap: 2 * time.Second}
			s.PoolOrder = PoolOrders()[i%len(PoolOrders())]
			seen[i] = RunBurst(t.Context(), s, env[i])
		})
	}
	playing.Wait()
	right := 0
	for i, o := range seen {
		if o.Cut != "" || len(o.Burst.Calls) != 40 {
			t.Fatalf("%d calls, cut %q: %s", len(o.Burst.Calls), o.Cut, o.CutDetail)
		}
		drawn, late := map[int]bool{}, readLate(o)
		for _, c := range o.Burst.Calls[20:] {
			a := o.Attempts[c.Attempt]
			if a.Reason != ReasonIdleFIN || !a.Queued || c.Close == nil || c.Close.How != HowFIN || drawn[c.Connection] {
				t.Errorf("%s: call %d on connection %d: %s, %s; %+v", o.Burst.Order, c.Number, c.Connection, a.Reason, a.Detail, c.Close)
				continue
			}
			drawn[c.Connection] = true
			// The lab's timer may be late, the kernel's counter is in steps of 4 ms.
			if early := timeout - c.Close.Age - late[c.Connection]; early > 10*time.Millisecond || c.Close.Age > a.IdleTime {
				t.Errorf("closed after %s, drawn after %s; the answer before waited %s to be read", c.Close.Age, a.IdleTime, late[c.Connection])
			}
			right++
		}
		controls := 0
		for _, a := range o.Attempts {
			if a.Connection == ConnectionControl {
				controls++
				if !a.OK() {
					t.Errorf("the control: %s, %s", a.Reason, a.Detail)
				}
			}
		}
		if controls != 1 || desks[i].peak > 20 {
			t.Errorf("%d controls, %d connections at once", controls, desks[i].peak)
		}
		desks[i].settled(t)
	}
	if all := 20 * pools; right != all {
		t.Errorf("%d of %d right", right, all)
	}
}

// readLate is, by connection, how long perch took to read the answer that began its
// idleness: that is counted from then, and a server counts its own.
func readLate(o Observation) map[int]time.Duration {
	late := map[int]time.Duration{}
	for _, c := range o.Burst.Calls {
		if c.Burst == 1 {
			late[c.Connection] = o.Attempts[c.Attempt].Delay
		}
	}
	return late
}

// Each way of ending an idle connection is kept from before the draw: bytes and words of
// TLS, too.
func TestBurstKeepsWhatWasSeenBeforeTheDraw(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scenario string
		reason   Reason
		how      HowClosed
	}{
		{"idle_fin", ReasonIdleFIN, HowFIN},
		{"idle_rst", ReasonIdleRST, HowRST},
		{"idle_bytes", ReasonIdleBytes, HowBytes},
		{"idle_close_notify", ReasonIdleCloseNotify, HowCloseNotify},
	} {
		for _, order := range PoolOrders() {
			t.Run(fmt.Sprintf("%s %s", c.scenario, order), func(t *testing.T) {
				t.Parallel()
				d := &desk{t: t}
				address, env := labEnv(t, c.scenario, idleFor, d)
				s := realSpec(t, KindBurst, address)
				s.TLS.CAFile, s.PoolOrder = "ca.pem", order
				s.Burst = &Shape{Requests: 4, Over: 20 * time.Millisecond, Connections: 4, Bursts: 2, Gap: heldFor}
				o := RunBurst(t.Context(), s, env)
				late := readLate(o)
				for _, call := range o.Burst.Calls[4:] {
					a := o.Attempts[call.Attempt]
					if a.Connection != ConnectionReused || a.Reason != c.reason || call.Close == nil || call.Close.How != c.how ||
						call.Close.Age < idleFor-late[call.Connection]-10*time.Millisecond || call.Close.Age > a.IdleTime {
						t.Errorf("call %d: %s on a %s connection (%s), %+v; all: %v", call.Number, a.Reason, a.Connection, a.Detail, call.Close, reasons(o))
					}
				}
				d.settled(t)
			})
		}
	}
}
