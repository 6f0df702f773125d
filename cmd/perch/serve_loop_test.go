package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/state"
)

// many is a config of that many targets, each with a probe of that every.
func many(targets int, every time.Duration) string {
	var b strings.Builder
	b.WriteString("version: 1\nname: shop\nvantage: test\ndefaults: {timeouts: {response: 5s}}\ntargets:\n")
	for n := range targets {
		fmt.Fprintf(&b, "  - {name: api-%d, url: \"http://192.0.2.%d\", rate_limit: 100/s, share: 10%%, daily_limit: 200000, probes: [{name: get, kind: http, path: /%d, every: %s}]}\n", n, n+1, n, every)
	}
	b.WriteString("alerts: {fire_after: 1, resolve_after: 1, settle: none}\nslack: {webhook: {from: {env: HOOK}}}\nstate: {file: \"${DIR}/state\"}\n")
	return b.String()
}

// keepsEvery wants a path to have been asked each every, exactly.
func (s *station) keepsEvery(path string, every, lasted time.Duration) {
	s.t.Helper()
	at := s.asked(path)
	if want := int(lasted / every); len(at) < want-1 || len(at) > want+1 {
		s.t.Errorf("%s was asked %d times in %s, want about %d", path, len(at), lasted, want)
	}
	for n := 1; n < len(at); n++ {
		if apart := at[n].Sub(at[n-1]); apart != every {
			s.t.Errorf("%s was asked for the %d. time after %s, want %s", path, n+1, apart, every)
			return
		}
	}
}

// A target that hangs delays nobody, and is asked at its own ticks.
func TestAHangingTargetDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, many(20, time.Second)), &shelf{}
		s.prepare(many(20, time.Second), store)
		s.slows = map[string]time.Duration{"/3": 4300 * time.Millisecond, "/7": 40 * time.Second}
		s.begin()
		time.Sleep(time.Minute)
		s.wants("/healthz", 200, "ok")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		for n := range 20 {
			if n != 3 && n != 7 {
				s.keepsEvery(fmt.Sprintf("/%d", n), time.Second, time.Minute)
			}
		}
		s.keepsEvery("/3", 5*time.Second, time.Minute) // 4.55 s from its tick to its end
		if n := len(s.asked("/7")); n < 9 || n > 13 {  // its timeout
			t.Errorf("what hangs was asked %d times", n)
		}
	})
}

// A Slack that hangs delays no probe, and is asked again ever more seldom; so it is with
// the state.
func TestASlowSlackDelaysNoProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, many(5, 10*time.Second)), &shelf{}
		s.prepare(many(5, 10*time.Second), store)
		s.hangs = true
		s.answers("/2", 404)
		s.begin()
		time.Sleep(20 * time.Minute)
		s.wants("/healthz", 200, "ok")
		s.wants("/readyz", 200, "ok")
		s.wants("/metrics", 200, `perch_outcomes_total{perch="shop",probe="get",target="api-2",vantage="test",verdict="fail"} 1`) // and more
		if n := s.messages(); n < 10 || n > 30 {
			t.Errorf("Slack was asked %d times in 20 m", n)
		}
		for n := range 5 {
			s.keepsEvery(fmt.Sprintf("/%d", n), 10*time.Second, 20*time.Minute)
		}
		s.mu.Lock()
		s.hangs = false
		before := len(s.told)
		s.mu.Unlock()
		time.Sleep(2 * time.Minute)
		if n := s.messages() - before; n != 1 {
			t.Errorf("%d messages once Slack was there again", n)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// What fails everywhere is told together, though the probes' ticks are spread: the first
// alone, where no other fails in the same second, and the others in one or two.
func TestServeTellsManyTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, many(30, 40*time.Second)), &shelf{}
		s.prepare(many(30, 40*time.Second), store)
		s.begin()
		time.Sleep(5 * time.Minute)
		for n := range 30 {
			s.answers(fmt.Sprintf("/%d", n), 503)
		}
		time.Sleep(3 * time.Minute)
		if n := s.messages(); n < 1 || n > 3 || !strings.Contains(s.heard()[n-1], "targets") {
			t.Errorf("%d messages of 30 targets", n)
		}
		for n := range 30 {
			s.answers(fmt.Sprintf("/%d", n), 0)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// A wall clock that is set moves no tick, and bunches none.
func TestServeWhenTheClockIsSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, many(3, 10*time.Second)), &shelf{}
		s.prepare(many(3, 10*time.Second), store)
		var step time.Duration
		s.service.sys.now = func() time.Time {
			s.mu.Lock()
			defer s.mu.Unlock()
			return time.Now().Add(step)
		}
		s.service.ledger.clock = s.service.sys.now
		s.begin()
		for _, by := range []time.Duration{0, time.Hour, -2 * time.Hour, 48 * time.Hour, 0} {
			s.mu.Lock()
			step = by
			s.mu.Unlock()
			time.Sleep(5 * time.Minute)
			s.wants("/healthz", 200, "ok")
			s.wants("/readyz", 200, "ok")
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		for n := range 3 {
			s.keepsEvery(fmt.Sprintf("/%d", n), 10*time.Second, 25*time.Minute)
		}
	})
}

// However often perch is killed, at whatever moment: the state, as it stands then, counts
// all that has left. So a day's limit holds.
func TestServeCountsAllThatLeftWhenKilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := many(1, 10*time.Second)
		s := newStation(t, text)
		r := rand.New(rand.NewPCG(1, 2))
		var kept state.Document
		for range 15 {
			store := &shelf{doc: kept}
			s.prepare(text, store)
			s.begin()
			time.Sleep(time.Duration(r.Int64N(int64(10 * time.Minute))))
			synctest.Wait()
			store.mu.Lock()
			kept = store.doc // as a kill leaves it
			store.mu.Unlock()
			if sent, hits := kept.RequestsToday("api-0", time.Now()), s.allAsked(); sent < hits {
				t.Fatalf("the state says that %d requests left, %d did", sent, hits)
			}
			if err := s.stop(); err != nil {
				t.Error(err)
			}
		}
	})
}

// However often perch is killed, no probe runs again before it is due, and each has its
// turn.
func TestServeRunsNothingTwiceWhenKilled(t *testing.T) {
	t.Parallel()
	const targets, every = 5, 10 * time.Minute
	synctest.Test(t, func(t *testing.T) {
		text := many(targets, every)
		s := newStation(t, text)
		r := rand.New(rand.NewPCG(1, 2))
		var kept state.Document
		began := time.Now()
		for range 200 {
			store := &shelf{doc: kept}
			s.prepare(text, store)
			s.begin()
			time.Sleep(time.Duration(r.Int64N(int64(90 * time.Second))))
			synctest.Wait()
			store.mu.Lock()
			kept = store.doc // as a kill leaves it
			store.mu.Unlock()
			if err := s.stop(); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Duration(r.Int64N(int64(5 * time.Second))))
		}
		for n := range targets {
			all := s.asked(fmt.Sprintf("/%d", n))
			for i := 1; i < len(all); i++ {
				if apart := all[i].Sub(all[i-1]); apart < every-mostSlack {
					t.Errorf("target %d was asked again after %s", n, apart)
				}
			}
			if most := int(time.Since(began) / every); len(all) < most/2 {
				t.Errorf("target %d was asked %d times in %s", n, len(all), time.Since(began))
			}
		}
	})
}
