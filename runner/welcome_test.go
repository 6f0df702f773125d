package runner_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/probes"
	"perch.example/runner"
)

// A Retry-After keeps everything from its target until it has passed, and
// nothing from the others.
func TestRetryAfterBlocksItsTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Two may leave in 2 s: the first is told to wait for 7 s, the others follow.
		s := newSite(t, func(n int, h hit, w http.ResponseWriter) {
			if h.host == "192.0.2.1" && n < 2 {
				status(429, "Retry-After", "7")(n, h, w)
			}
		})
		out := play(t, t.Context(), s, nil, newTarget("told", 1, 1, exchanges(20)...), newTarget("other", 2, 1, exchanges(20)...))
		if got := told(out.of("other")); got[""] != 20 || len(s.to("192.0.2.2")) != 20 {
			t.Errorf("the other target: %v", got)
		}
		hits := s.to("192.0.2.1")
		first := hits[0].at
		skipped := 0
		for why, n := range told(out.of("told")) {
			if strings.HasPrefix(why, "skipped: the API asked to be left alone until ") && strings.HasSuffix(why, " (Retry-After)") {
				skipped += n
			} else if why != "" {
				t.Errorf("%d observations: %s", n, why)
			}
		}
		if skipped < 4 || skipped+len(hits) != 20 {
			t.Errorf("%d skipped, %d arrived", skipped, len(hits))
		}
		early := 0
		for _, h := range hits {
			if since := h.at.Sub(first); since > 0 && since < 7*time.Second {
				early++
			}
		}
		if early > 1 { // one may have left together with the first
			t.Errorf("%d requests arrived although perch was asked to wait: %v", early, hits)
		}
		if last := hits[len(hits)-1].at.Sub(first); last < 7*time.Second {
			t.Errorf("nothing arrived afterwards, the last after %s", last)
		}
	})
}

// What is held when the Retry-After comes is not reused meanwhile, and a reuse
// that is told to wait has no control.
func TestRetryAfterBlocksReuseAndControl(t *testing.T) {
	const alone = "the API asked to be left alone until TIME (Retry-After)"
	until := regexp.MustCompile(`until [0-9T:Z-]+`)
	for _, c := range []struct {
		name   string
		answer func(n int) int // status; 503 asks for a minute
		want   [2]string       // of the short hold and of the long one: reasons, or why not
	}{
		{"the short rung's reuse is told", func(n int) int { return []int{200, 200, 503, 200}[n] },
			[2]string{"ok unavailable; no control: " + alone, "ok skipped: " + alone}},
		{"only the last reuse is told", func(n int) int { return []int{200, 200, 200, 503, 200}[n] },
			[2]string{"ok ok", "ok unavailable; no control: " + alone}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, func(n int, h hit, w http.ResponseWriter) {
				if c.answer(n) == 503 {
					status(503, "Retry-After", "60")(n, h, w)
				}
			})
			out := play(t, t.Context(), s, nil, newTarget("api", 1, 20, newProbe(probes.KindIdle, 10*time.Second, 20*time.Second)))
			for _, o := range out.all {
				var words []string
				for _, a := range o.Attempts {
					words = append(words, string(a.Reason))
				}
				got := strings.Join(words, " ")
				if _, why, found := strings.Cut(o.Attempts[len(o.Attempts)-1].Detail, "; "); found {
					got += "; " + why
				}
				if o.Cut != "" {
					got += " " + string(o.Cut) + ": " + o.CutDetail
				}
				want := c.want[0]
				if o.Hold == 20*time.Second {
					want = c.want[1]
				}
				if got = until.ReplaceAllString(got, "until TIME"); got != want {
					t.Errorf("%s, hold %s: %s, want %s", c.name, o.Hold, got, want)
				}
			}
			if n := out.use(t, "api").Denied; n == 0 {
				t.Errorf("%s: the budget counts %d requests that were not sent", c.name, n)
			}
		})
	}
}

// What an earlier run was asked holds for this one, and what this one was
// asked is handed on.
func TestRetryAfterOfAnEarlierRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(n int, h hit, w http.ResponseWriter) {
			if h.host == "192.0.2.2" {
				status(429, "Retry-After", "60")(n, h, w)
			}
		})
		until := time.Now().Add(time.Hour)
		out := play(t, t.Context(), s, func(o *runner.Options) {
			o.LeaveAlone = map[string]time.Time{"told": until, "long ago": time.Now().Add(-time.Hour)}
		}, newTarget("told", 1, 20, exchanges(2)...), newTarget("tells", 2, 20, exchanges(1)...), newTarget("long ago", 3, 20, exchanges(2)...))
		if len(s.to("192.0.2.1")) != 0 || len(s.to("192.0.2.3")) != 2 {
			t.Errorf("arrived: %v", s.seen())
		}
		if got := out.use(t, "told").LeaveAlone; !got.Equal(until) {
			t.Errorf("handed on: %s", got)
		}
		if want := s.to("192.0.2.2")[0].at.Add(time.Minute); !out.use(t, "tells").LeaveAlone.Equal(want) {
			t.Errorf("handed on: %s, want %s", out.use(t, "tells").LeaveAlone, want)
		}
	})
}

// perch's own second try waits as it is told, and then goes.
func TestRetryAfterIsKeptByTheSecondTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(n int, h hit, w http.ResponseWriter) {
			if n == 0 {
				status(503, "Retry-After", "20")(n, h, w)
			}
		})
		p := newProbe(probes.KindHTTP)
		p.Retry.Attempts = 2
		out := play(t, t.Context(), s, nil, newTarget("api", 1, 20, p))
		if len(s.hits) != 2 || s.hits[1].at.Sub(s.hits[0].at) != 20*time.Second || lastReason(out.all[0]) != probes.ReasonOK {
			t.Errorf("%v, %+v", s.hits, out.all)
		}
	})
}

// After three failed fresh exchanges in a row a target is left alone.
func TestBreaker(t *testing.T) {
	// What each request of a target is told; then always the last.
	for _, c := range []struct {
		name    string
		answers []int
		arrived int // of 12, one after the other
		why     string
	}{
		{"always down", []int{503}, 3, "skipped: left alone for the rest of this run after 3 failed fresh exchanges in a row"},
		{"down from the third on", []int{200, 200, 502}, 5, "skipped: left alone for the rest of this run after 3 failed fresh exchanges in a row"},
		{"a success in between", []int{503, 503, 200, 503, 503, 200, 503, 503, 200, 503, 503, 200}, 12, ""},
		{"refused credentials", []int{401}, 3, "skipped: left alone for the rest of this run after 3 failed fresh exchanges in a row"},
		{"answers that are not as expected", []int{404}, 12, ""},
		{"such answers reset nothing", []int{503, 503, 404, 404, 503}, 5, "skipped: left alone for the rest of this run after 3 failed fresh exchanges in a row"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, func(n int, _ hit, w http.ResponseWriter) { w.WriteHeader(c.answers[min(n, len(c.answers)-1)]) })
			out := play(t, t.Context(), s, nil, newTarget("api", 1, 100, exchanges(12)...))
			if len(s.hits) != c.arrived {
				t.Errorf("%s: %d arrived, want %d", c.name, len(s.hits), c.arrived)
			}
			counts := told(out.all)
			if counts[""] != c.arrived || c.why != "" && counts[c.why] != 12-c.arrived {
				t.Errorf("%s: %v", c.name, counts)
			}
		})
	}
}

// A path that drops idle connections is probed on: controls count, reuses do
// not. And what is held when the service goes down is played to its end.
func TestBreakerAndRungs(t *testing.T) {
	for _, down := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			s := newSite(t, func(_ int, h hit, w http.ResponseWriter) {
				if h.served > 0 || down && time.Since(began) > 30*time.Second {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			})
			var holds []time.Duration
			for i := range 8 {
				holds = append(holds, time.Minute+time.Duration(i)*10*time.Second)
			}
			ladder := newProbe(probes.KindIdle, holds...)
			ladder.KeepAlive = time.Second // rungs need hardly be apart
			out := play(t, t.Context(), s, nil, newTarget("api", 1, 100, ladder))
			for _, o := range out.all {
				if len(o.Attempts) != 3 || o.Cut != "" || o.Attempts[2].OK() == down {
					t.Errorf("down %v, hold %s: %+v", down, o.Hold, o)
				}
			}
		})
	}
}
