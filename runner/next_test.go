package runner_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/probes"
)

// Many requests on one connection leave at the instants that were planned, beside a
// ladder with connections that carry nothing, and keep the budget.
func TestManyRequestsLeaveAsPlanned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		many := newProbe(probes.KindHTTP)
		many.Requests, many.Gap = 20, 700*time.Millisecond
		ladder := newProbe(probes.KindIdle, 4*time.Second, 2*time.Second)
		ladder.Unused = true
		s := newSite(t, func(_ int, _ hit, w http.ResponseWriter) {
			time.Sleep(20 * time.Millisecond)
			w.WriteHeader(http.StatusOK)
		})
		out := play(t, t.Context(), s, nil, newTarget("api", 1, 4, many, ladder))
		var limit *probes.ConnectionLimit
		unused := 0
		for _, o := range out.all {
			if o.Cut != "" || len(o.Attempts) == 0 || !o.Attempts[len(o.Attempts)-1].OK() {
				t.Errorf("%+v", o)
			}
			if o.Unused {
				unused++
			}
			if o.Limit != nil {
				limit = o.Limit
			}
		}
		if unused != 2 || limit == nil || limit.Requests != 20 || limit.Ended {
			t.Fatalf("%d unused, %+v", unused, limit)
		}
		if want := 19 * 700 * time.Millisecond; limit.Age < want || limit.Age > want+time.Second {
			t.Errorf("the connection was %s old, want about %s", limit.Age, want)
		}
		// 20, and 2 on each of the 2 used rungs, and 1 on each unused one; its opening
		// counts as one.
		if n, sent := len(s.seen()), out.result.Budget[0].Requests; n != 26 || sent != 28 {
			t.Errorf("%d requests came, %d were counted", n, sent)
		}
		if use := out.result.Budget[0]; use.Waited > 0 || use.Denied > 0 || use.PeakPerSecond > 4 {
			t.Errorf("%+v", use)
		}
	})
}

// What a step does not need is given back.
func TestALimitGivesBackWhatItDoesNotNeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		many := newProbe(probes.KindHTTP)
		many.Requests, many.Gap, many.Every = 100, time.Second, 0
		s := newSite(t, status(http.StatusOK, "Connection", "close"))
		target := newTarget("api", 1, 4, many)
		target.DailyLimit = 101
		out := play(t, t.Context(), s, nil, target)
		if l := out.all[0].Limit; l == nil || l.Requests != 1 || !l.Told || out.took > 2*time.Second {
			t.Errorf("%+v after %s", l, out.took)
		}
	})
}
