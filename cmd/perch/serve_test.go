package main

import (
	"bytes"
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
		s.wants("/metrics", 200, `perch_outcomes_total{perch="shop",probe="often",target="api",vantage="test",verdict="pass"} 31`)
		if err := s.stop(); err != nil {
			t.Errorf("ended with %v", err)
		}
		for path, every := range map[string]time.Duration{"/often": time.Minute, "/seldom": 5 * time.Minute, "/always": 5 * time.Minute} {
			keepsItsEvery(t, path, s.asked(path), began, every)
		}
		if hold := s.asked("/hold"); len(hold) < 12 {
			t.Errorf("the ladders sent %d requests", len(hold))
		}
		if due := store.due(); due["api/often"].Before(began.Add(30*time.Minute)) || due["api/hold"].Before(began.Add(15*time.Minute)) {
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
			t.Errorf("a healthy API was told of: %v", s.heard())
		}
	})
}

// keepsItsEvery wants a probe to run within a minute of the beginning, and then once in
// each every, at its place in it: exactly.
func keepsItsEvery(t *testing.T, path string, asked []time.Time, began time.Time, every time.Duration) {
	t.Helper()
	want := int((30*time.Minute + 50*time.Second) / every)
	if len(asked) < want || len(asked) > want+1 {
		t.Errorf("%s was asked %d times, want about %d", path, len(asked), want)
		return
	}
	if first := asked[0].Sub(began); first < 0 || first > time.Minute+time.Second {
		t.Errorf("%s was asked first after %s", path, first)
	}
	if apart := asked[1].Sub(asked[0]); apart < every/2 || apart > every*3/2 {
		t.Errorf("%s was asked again after %s", path, apart)
	}
	for n := 2; n < len(asked); n++ {
		if apart := asked[n].Sub(asked[n-1]); apart != every {
			t.Errorf("%s was asked for the %d. time after %s, want %s", path, n+1, apart, every)
		}
	}
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
		s.prepare(serving, store)
		s.begin()
		time.Sleep(24*time.Minute + 20*time.Second)
		for path, every := range map[string]time.Duration{"/often": time.Minute, "/seldom": 5 * time.Minute} {
			keepsItsEvery(t, path, s.asked(path), began, every)
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
// overlaps itself, nothing is made up for, and the log says so now and then.
func TestServeLeavesOutLateTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t, slowly)
		s.slow = 4500 * time.Millisecond
		s.begin()
		time.Sleep(time.Minute + time.Second)
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		at := s.asked("/get")
		if len(at) < 9 || len(at) > 11 {
			t.Errorf("asked %d times in a minute with an answer each 4.5 s", len(at))
		}
		for n := 1; n < len(at); n++ {
			if apart := at[n].Sub(at[n-1]); apart != 6*time.Second {
				t.Errorf("the %d. request left %s after the one before, want it at the third tick", n+1, apart)
			}
		}
		want(t, "the log", s.log.String(), "ticks fell out", "missed=2 probes=1 first=[api/get]")
		if n := strings.Count(s.log.String(), "ticks fell out"); n > 2 {
			t.Errorf("said %d times in a minute", n)
		}
	})
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
		want(t, "the log", s.log.String(), "msg=run", "msg=finding target=api probe=often", "msg=incident name=api/contract#1 state=firing", "state=resolved")
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
			if now := inBubble(t); week == 0 {
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

// inBubble is how many goroutines a test's bubble has. The process has others, which run
// finalizers or end some time after the test that began them.
func inBubble(t *testing.T) int {
	t.Helper()
	stacks := make([]byte, 1<<20)
	n := runtime.Stack(stacks, true)
	count := bytes.Count(stacks[:n], []byte(", synctest bubble "))
	if n == len(stacks) || count == 0 {
		t.Fatalf("%d goroutines of the bubble in %d bytes of stacks:\n%.2000s", count, n, stacks)
	}
	return count
}
