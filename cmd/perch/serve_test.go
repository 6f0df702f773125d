package main

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const serving = `
version: 1
name: shop
vantage: test
targets:
  - name: api
    url: http://192.0.2.1
    rate_limit: 100/s
    share: 10%
    daily_limit: 200000
    probes:
      - {name: often, kind: http, path: /often, every: 1m}
      - {name: seldom, kind: http, path: /seldom, every: 5m}
      - {name: always, kind: http, path: /always, every: always}
      - {name: hold, kind: idle, path: /hold, every: 10m, holds: [4m, 30s]}
alerts: {fire_after: 1, resolve_after: 1, settle: none}
slack: {webhook: {from: {env: HOOK}}}
state: {file: "${DIR}/state"}
metrics: {push: {url: "http://push.example"}, textfile: "${DIR}/perch.prom"}
`

// Each probe runs on its every, beside the others, and nothing overlaps; the
// process ends as it was told, with all that it knew.
func TestServeKeepsEachEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, serving), &shelf{}
		s.prepare(serving, store)
		began := time.Now()
		s.begin()
		time.Sleep(time.Second)
		s.wants("/readyz", 200, "ok")
		time.Sleep(30*time.Minute + 49*time.Second)
		s.wants("/healthz", 200, "ok")
		s.wants("/metrics", 200, `perch_runs_total{perch="shop",vantage="test",verdict="pass"} 41`) // 31, 7 (both of 5m at once), 3: the fourth ladder is under way
		if err := s.stop(); err != nil {
			t.Errorf("ended with %v", err)
		}
		for path, c := range map[string]struct {
			every time.Duration
			times int
		}{"/often": {time.Minute, 31}, "/seldom": {5 * time.Minute, 7}, "/always": {5 * time.Minute, 7}} {
			at := s.asked(path)
			if len(at) != c.times {
				t.Errorf("%s was asked %d times, want %d", path, len(at), c.times)
			}
			for n, at := range at {
				if off := at.Sub(began.Add(time.Duration(n) * c.every)); off < 0 || off > 2*time.Second {
					t.Errorf("%s, the %d. time, %s off its tick", path, n+1, off)
				}
			}
		}
		if hold := s.asked("/hold"); len(hold) < 12 {
			t.Errorf("the ladders sent %d requests", len(hold))
		}
		if due := store.due(); due["api/often"].Before(began.Add(30*time.Minute)) || due["api/hold"].Before(began.Add(20*time.Minute-time.Second)) {
			t.Errorf("saved as due: %v", due)
		}
		if sent, hits := store.sentToday("api", time.Now()), 0; true {
			for _, at := range s.hits {
				hits += len(at)
			}
			if sent != hits || !store.closed {
				t.Errorf("saved that %d requests left, %d arrived; closed %v", sent, hits, store.closed)
			}
		}
		if s.messages() != 0 {
			t.Errorf("a healthy API was told of: %v", s.told)
		}
	})
}

// After a restart nothing runs before it is due, and what is due runs.
func TestServeRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, serving), &shelf{}
		s.prepare(serving, store)
		began := time.Now()
		s.begin()
		time.Sleep(6*time.Minute + 30*time.Second)
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		before := len(s.asked("/seldom"))
		s.prepare(serving, store)
		s.begin()
		time.Sleep(4 * time.Minute)
		at := s.asked("/seldom")
		if len(at) != before+1 || at[before].Sub(began) < 9*time.Minute+30*time.Second || at[before].Sub(began) > 10*time.Minute+2*time.Second {
			t.Errorf("after the restart at 6m30s /seldom was asked at %v", at[before:])
		}
		often := s.asked("/often")
		for n := 1; n < len(often); n++ {
			if apart := often[n].Sub(often[n-1]); apart < 53*time.Second || apart > 67*time.Second {
				t.Errorf("/often was asked %s apart", apart)
			}
		}
		s.wants("/metrics", 200, "perch_build_info")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

const slowly = `
version: 1
name: shop
vantage: test
defaults: {timeouts: {response: 5s}}
targets:
  - name: api
    url: http://192.0.2.1
    rate_limit: 100/s
    share: 10%
    daily_limit: 200000
    probes: [{name: get, kind: http, path: /get, every: 2s}]
alerts: {settle: none}
`

// A wave that takes longer than its every lets ticks fall out: the probe never
// overlaps itself, and nothing is made up for.
func TestServeLeavesOutLateTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t, slowly)
		s.slow = 4500 * time.Millisecond
		began := time.Now()
		s.begin()
		time.Sleep(time.Minute + time.Second)
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		at := s.asked("/get")
		if len(at) < 9 || len(at) > 11 {
			t.Errorf("asked %d times in a minute with an answer each 4.5 s", len(at))
		}
		for n, at := range at {
			if off := at.Sub(began) % (2 * time.Second); off > time.Second {
				t.Errorf("the %d. request left %s after a tick", n+1, off)
			}
		}
		want(t, "the log", s.log.String(), "waves fell out", `loop="every 2s" missed=2`)
	})
}

func TestTickAfter(t *testing.T) {
	tick := time.Unix(1000, 0)
	for _, c := range []struct {
		now    time.Duration
		next   time.Duration
		missed int
	}{
		{0, 10 * time.Second, 0}, {9 * time.Second, 10 * time.Second, 0}, {10 * time.Second, 10 * time.Second, 0},
		{10*time.Second + 1, 20 * time.Second, 1}, {20 * time.Second, 20 * time.Second, 1}, {45 * time.Second, 50 * time.Second, 4},
		{-time.Hour, 10 * time.Second, 0}, // the clock was set back
	} {
		if next, missed := tickAfter(tick, 10*time.Second, tick.Add(c.now)); next.Sub(tick) != c.next || missed != c.missed {
			t.Errorf("%s later: the tick %s later, %d missed; want %s, %d", c.now, next.Sub(tick), missed, c.next, c.missed)
		}
	}
}

// What fails is told once, from whichever wave, and its end as well.
func TestServeTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, serving), &shelf{}
		s.prepare(serving, store)
		s.begin()
		time.Sleep(2*time.Minute + 30*time.Second)
		s.answers("/often", 404)
		time.Sleep(3 * time.Minute)
		if n := s.messages(); n != 1 {
			t.Errorf("%d messages after three failures", n)
		}
		s.wants("/metrics", 200, `perch_incident_open{family="contract",perch="shop",target="api",vantage="test"} 1`)
		s.answers("/often", 0)
		time.Sleep(3 * time.Minute)
		if n := s.messages(); n != 2 {
			t.Errorf("%d messages after it was well again", n)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		want(t, "the log", s.log.String(), "msg=wave", "msg=finding target=api probe=often", "msg=incident name=api/contract#1 state=firing", "state=resolved")
	})
}

// Weeks leave neither memory nor goroutines behind.
func TestServeForWeeks(t *testing.T) {
	var heap [4]uint64
	goroutines := 0
	synctest.Test(t, func(t *testing.T) {
		text := strings.NewReplacer("every: 1m", "every: 1h", "every: 5m", "every: 2h", "every: always", "every: 3h", "every: 10m, holds: [4m, 30s]", "every: 4h, holds: [5s]").Replace(serving)
		s, store := newStation(t, text), &shelf{}
		s.prepare(text, store)
		s.begin()
		for week := range heap {
			time.Sleep(7 * 24 * time.Hour)
			s.mu.Lock()
			clear(s.hits)
			s.mu.Unlock()
			s.log.mu.Lock()
			s.log.text.Reset()
			s.log.mu.Unlock()
			synctest.Wait()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			heap[week] = m.HeapAlloc
			if now := runtime.NumGoroutine(); week == 0 {
				goroutines = now
			} else if now > goroutines {
				t.Errorf("%d goroutines after a week, %d after %d", goroutines, now, week+1)
			}
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	t.Logf("heap at the weeks' ends: %v", heap)
	if heap[3] > heap[0]+512<<10 {
		t.Errorf("the heap grew: %v", heap)
	}
}
