package probes

import (
	"context"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// playIdle plays one rung and checks that it is reported exactly once.
func playIdle(t *testing.T, ctx context.Context, s *Spec, hold time.Duration, env Env) Observation {
	t.Helper()
	done := make(chan Observation, 8)
	var times atomic.Int32
	StartIdle(ctx, s, hold, env, func(o Observation) {
		times.Add(1)
		done <- o
	})
	o := <-done
	synctest.Wait()
	if n := times.Load(); n != 1 {
		t.Errorf("done was called %d times", n)
	}
	return o
}

// playAny plays a spec of either kind.
func playAny(t *testing.T, ctx context.Context, s *Spec, env Env) Observation {
	t.Helper()
	if s.Kind == KindIdle {
		return playIdle(t, ctx, s, time.Second, env)
	}
	return RunHTTP(ctx, s, env)
}

// anywhere resolves every name.
func anywhere(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
}
