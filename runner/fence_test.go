package runner_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/probes"
	"perch.example/runner"
)

// Once the fence bars it nothing leaves, and no connection is opened: neither what
// begins then nor the reuse of what is held. Nothing of it is a failure of the API's.
func TestNothingLeavesBehindTheFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		barred, began := errors.New("another one leads"), time.Now()
		const from = 20 * time.Second
		fence := func() error {
			if time.Since(began) < from {
				return nil
			}
			cancel(barred)
			return context.Cause(ctx)
		}
		early, late := newProbe(probes.KindIdle, 5*time.Second), newProbe(probes.KindIdle, time.Minute)
		out := play(t, ctx, s, func(o *runner.Options) { o.Fence = fence }, newTarget("api", 1, 20, early, late))
		hits := s.seen()
		for _, h := range hits {
			if h.at.Sub(began) >= from {
				t.Errorf("a request left after %s", h.at.Sub(began))
			}
		}
		if len(hits) != 3 { // the early one's warm-up and reuse, the late one's warm-up
			t.Errorf("%d requests", len(hits))
		}
		for _, opened := range s.opens {
			if opened.Sub(began) >= from {
				t.Errorf("a connection was opened after %s", opened.Sub(began))
			}
		}
		if out.result.CutShort != barred.Error() {
			t.Errorf("cut short by %q", out.result.CutShort)
		}
		for _, o := range out.all {
			for _, a := range o.Attempts {
				if a.Reason != probes.ReasonOK {
					t.Errorf("%s of hold %s: an attempt ended with %s", o.Probe, o.Hold, a.Reason)
				}
			}
		}
	})
}

// What is barred from the beginning opens nothing.
func TestAFenceThatBarsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		play(t, ctx, s, func(o *runner.Options) {
			o.Fence = func() error { cancel(errors.New("barred")); return context.Cause(ctx) }
		}, newTarget("api", 1, 1, exchanges(3)...))
		if len(s.seen()) > 0 || len(s.opens) > 0 {
			t.Errorf("%d requests, %d connections", len(s.seen()), len(s.opens))
		}
	})
}
