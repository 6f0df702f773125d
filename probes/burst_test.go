package probes

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// bursting is a probe of two bursts of six calls, one a second, through a pool of
// three, with ten seconds between them.
func bursting(t *testing.T, order PoolOrder) *Spec {
	s := newSpec(t, KindBurst, api)
	s.Burst = &Shape{Requests: 6, Over: 6 * time.Second, Connections: 3, Bursts: 2, Gap: 10 * time.Second}
	s.PoolOrder = order
	return s
}

// drawn writes what the calls of a burst met: each with its connection, "+" where it
// was new.
func drawn(o Observation, burst int) string {
	var all []string
	for _, c := range o.Burst.Calls {
		if c.Burst != burst {
			continue
		}
		a, sign := o.Attempts[c.Attempt], ""
		if a.Connection == ConnectionFresh {
			sign = "+"
		}
		all = append(all, fmt.Sprintf("%d%s:%s", c.Connection, sign, a.Reason))
	}
	return strings.Join(all, " ")
}

func TestBurstDrawsByTheOrder(t *testing.T) {
	for _, c := range []struct {
		order         PoolOrder
		idle          time.Duration // after which the server closes; 0: never
		first, second string
	}{
		{PoolLIFO, 0, "1+:ok 2+:ok 3+:ok 3:ok 3:ok 3:ok", "3:ok 3:ok 3:ok 3:ok 3:ok 3:ok"},
		{PoolFIFO, 0, "1+:ok 2+:ok 3+:ok 1:ok 2:ok 3:ok", "1:ok 2:ok 3:ok 1:ok 2:ok 3:ok"},
		{PoolOldest, 0, "1+:ok 2+:ok 3+:ok 1:ok 1:ok 1:ok", "1:ok 1:ok 1:ok 1:ok 1:ok 1:ok"},
		// All are dead after the gap: a call opens one when nothing else is left.
		{PoolLIFO, 8 * time.Second, "1+:ok 2+:ok 3+:ok 3:ok 3:ok 3:ok", "3:eof 2:eof 1:eof 4+:ok 4:ok 4:ok"},
		{PoolFIFO, 8 * time.Second, "1+:ok 2+:ok 3+:ok 1:ok 2:ok 3:ok", "1:eof 2:eof 3:eof 4+:ok 4:ok 4:ok"},
		{PoolOldest, 8 * time.Second, "1+:ok 2+:ok 3+:ok 1:ok 1:ok 1:ok", "1:eof 2:eof 3:eof 4+:ok 4:ok 4:ok"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d := newPeer(t, answer(200)), &desk{t: t}
			p.idle = c.idle
			o := RunBurst(t.Context(), bursting(t, c.order), newEnv(p, d))
			if got := drawn(o, 1); got != c.first || o.Cut != "" {
				t.Errorf("%s: the first burst drew %s, want %s (%s)", c.order, got, c.first, o.CutDetail)
			}
			if got := drawn(o, 2); got != c.second {
				t.Errorf("%s: the second burst drew %s, want %s", c.order, got, c.second)
			}
			controls := 0
			for _, a := range o.Attempts {
				if a.Connection == ConnectionControl {
					controls++
				}
			}
			if want := min(1, int(c.idle)); controls != want {
				t.Errorf("%s: %d controls, want %d", c.order, controls, want)
			}
			if d.peak > 3 {
				t.Errorf("%s: %d connections were open at once", c.order, d.peak)
			}
			d.settled(t)
		})
	}
}
