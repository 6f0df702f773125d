package runner_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
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

// At whichever moment the fence begins to bar, that is the end: nothing more reaches the
// token endpoint, the API, or where a redirect leads, and no connection is opened.
func TestTheFenceHoldsAtEachMoment(t *testing.T) {
	const all = 5 // a connection and the token, a connection and two requests on it
	for after := range all + 1 {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, func(_ int, h hit, w http.ResponseWriter) {
				switch h.path {
				case "/token":
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, `{"access_token":"t","token_type":"Bearer","expires_in":3600}`)
				case "/":
					w.Header().Set("Location", "/moved")
					w.WriteHeader(http.StatusFound)
				}
			})
			reached := func() int { return len(s.seen()) + len(s.opens) }
			fence := func() error { // nothing else ends the run
				if after < all && reached() >= after {
					return errors.New("barred")
				}
				return nil
			}
			probe := newProbe(probes.KindHTTP)
			probe.Redirects = 1
			probe.OAuth = &probes.OAuth{
				TokenURL: &url.URL{Scheme: "http", Host: "127.0.0.1:50", Path: "/token"}, ClientID: "me", Secret: probes.Source{Env: "SECRET"}, DailyLimit: 100,
			}
			out := play(t, t.Context(), s, func(o *runner.Options) { o.Fence = fence }, newTarget("api", 1, 50, probe))
			if reached() != after {
				t.Errorf("barred after %d of %d: %d connections and %d requests", after, all, len(s.opens), len(s.seen()))
			}
			if cut := out.all[0].Cut; after < 4 && cut != probes.CutCanceled || after == all && cut != "" {
				t.Errorf("barred after %d of %d: %+v", after, all, out.all)
			}
		})
	}
}
