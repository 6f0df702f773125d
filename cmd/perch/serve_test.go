package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/probes"
	"perch.example/state"
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

// What cannot be saved is not told; /readyz says so, probing goes on, and once it
// can be saved it is told.
func TestServeThatCannotSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, serving), &shelf{}
		s.prepare(serving, store)
		s.begin()
		time.Sleep(90 * time.Second)
		store.failing(errBroken)
		s.answers("/often", 404)
		time.Sleep(5 * time.Minute)
		s.wants("/readyz", 503, "the disk is broken")
		s.wants("/healthz", 200, "ok")
		s.wants("/metrics", 200, `perch_problems_total{part="state"`)
		if n := s.messages(); n != 0 {
			t.Errorf("%d messages of what nobody would remember", n)
		}
		if n := len(s.asked("/often")); n != 7 {
			t.Errorf("asked %d times in 6m30s", n)
		}
		store.failing(nil)
		time.Sleep(time.Minute)
		s.wants("/readyz", 200, "ok")
		if n := s.messages(); n != 1 {
			t.Errorf("%d messages once it could be saved", n)
		}
		store.failing(errBroken)
		if err := s.stop(); err != nil { // at rest: what was known is saved
			t.Errorf("ended with %v", err)
		}

		s.prepare(serving, store)
		s.begin()
		time.Sleep(2 * time.Minute)
		if err := s.stop(); codeOf(err) != exitOwn || !strings.Contains(err.Error(), "could not be saved") {
			t.Errorf("ended with %v, %d", err, codeOf(err))
		}
	})
}

// Another perch took the state: this one ends, tells nothing more, and says why.
func TestServeThatLostItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, serving), &shelf{}
		s.prepare(serving, store)
		s.begin()
		time.Sleep(90 * time.Second)
		s.answers("/often", 404)
		store.failing(&state.LostError{Lock: "lease shop/perch-state", Holder: "perch-2"})
		time.Sleep(time.Minute)
		select {
		case err := <-s.result:
			if codeOf(err) != exitOwn || !strings.Contains(err.Error(), "another perch has taken the state") || !strings.Contains(err.Error(), "perch-2") {
				t.Errorf("ended with %v", err)
			}
		default:
			t.Fatal("it goes on beside the other one")
		}
		if n := s.messages(); n != 0 {
			t.Errorf("%d messages after the turn was lost", n)
		}
	})
}

// A state that could not be seen for a while is no reason to end: nobody took it.
func TestServeWhoseTurnIsNotSure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, serving), &shelf{}
		s.prepare(serving, store)
		s.begin()
		time.Sleep(90 * time.Second)
		store.failing(&state.LostError{Lock: "lease shop/perch-state", Err: errBroken})
		time.Sleep(3 * time.Minute)
		s.wants("/readyz", 503, "the disk is broken")
		store.failing(nil)
		time.Sleep(time.Minute)
		s.wants("/readyz", 200, "ok")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// While one wave is under way another one's save keeps what it reserved: a kill
// must not give its requests back.
func TestServeKeepsReservations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, serving), &shelf{}
		s.prepare(serving, store)
		s.begin()
		time.Sleep(2*time.Minute + 30*time.Second) // the ladder holds, /often was saved three times
		hits := 0
		for _, path := range []string{"/often", "/seldom", "/always"} {
			hits += len(s.asked(path))
		}
		const ladder = 6
		if sent := store.sentToday("api", time.Now()); sent != hits+ladder {
			t.Errorf("the state says that %d requests left, want the %d that did and the %d that still may", sent, hits, ladder)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		hits += len(s.asked("/hold"))
		if sent := store.sentToday("api", time.Now()); sent != hits {
			t.Errorf("at the end the state says that %d requests left, %d did", sent, hits)
		}
	})
}

// Another perch holds the state: this one waits, and says so.
func TestServeWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.ReplaceAll(serving, "${DIR}", t.TempDir())
		path := text[strings.Index(text, `file: "`)+7:]
		path = path[:strings.Index(path, `"`)]
		held, err := state.OpenFile(path, state.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := newStation(t, text)
		s.begin()
		time.Sleep(5 * time.Minute)
		s.wants("/readyz", 503, "another perch holds the state")
		s.wants("/healthz", 200, "ok")
		s.wants("/metrics", 503, "another perch holds the state")
		if n := strings.Count(s.log.String(), "waiting for it to end"); n < 3 || n > 6 {
			t.Errorf("said %d times in five minutes", n)
		}
		if err := held.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		s.wants("/readyz", 200, "ok")
		if n := len(s.asked("/often")); n != 1 {
			t.Errorf("asked %d times", n)
		}

		// A silence that somebody adds beside it counts from the next wave on.
		sys := s.service.sys
		mute := func(d *state.Document) error {
			all, err := silencesOf(*d)
			if err != nil {
				return err
			}
			all["x"] = silence{}
			one := all["x"]
			one.ID, one.Match, one.From, one.Until, one.Reason = "x", "api/*", time.Now(), time.Now().Add(time.Hour), "test"
			all["x"] = one
			return all.put(d, time.Time{})
		}
		if err := editState(t.Context(), sys, s.service.cfg, mute); err != nil {
			t.Fatal(err)
		}
		s.answers("/often", 404)
		time.Sleep(3 * time.Minute)
		if n := s.messages(); n != 0 {
			t.Errorf("%d messages of what is muted", n)
		}
		want(t, "the log", s.log.String(), "muted until")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		if d, err := state.ReadFile(path); err != nil || !strings.Contains(string(d.Sections[sectionSilences]), "api/*") {
			t.Errorf("the state has lost the silence: %v, %s", err, d.Sections[sectionSilences])
		}
	})
}

// Told to stop while it waits for its turn, it ends well: there is nothing to save.
func TestServeStopsWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.ReplaceAll(serving, "${DIR}", t.TempDir())
		path := text[strings.Index(text, `file: "`)+7:]
		held, err := state.OpenFile(path[:strings.Index(path, `"`)], state.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := newStation(t, text)
		s.begin()
		time.Sleep(time.Minute)
		if err := s.stop(); err != nil {
			t.Errorf("ended with %v", err)
		}
		if err := held.Close(context.Background()); err != nil {
			t.Error(err)
		}
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

// A port that is taken ends it before anything is sent.
func TestServePortInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	path := configFile(t, "", strings.Replace(serving, "metrics: {", `metrics: {listen: "`+taken.Addr().String()+`", `, 1))
	r := perch(t.Context(), map[string]string{"HOOK": "http://slack.example"}, "serve", "--config", path)
	if r.code != exitOwn {
		t.Errorf("exit status %d, want 4", r.code)
	}
	want(t, "stderr", r.stderr, "metrics.listen", taken.Addr().String(), "in use")
	if files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(files) != 1 {
		t.Errorf("left %v, %v", files, err)
	}
}

// What no wave could be made of ends it at once.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	env := map[string]string{"HOOK": "http://slack.example"}
	for name, c := range map[string]struct {
		change []string
		args   []string
		env    map[string]string
		says   string
	}{
		"no name":        {change: []string{"name: shop\n", "", "state:", "#", "metrics:", "#"}, env: env, says: "needs a name and a vantage"},
		"no vantage":     {change: []string{"vantage: test\n", "", "state:", "#", "metrics:", "#"}, env: env, says: "PERCH_VANTAGE"},
		"too many":       {change: []string{"every: 1m", "every: 1s", "daily_limit: 200000", "daily_limit: 1000"}, env: env, says: "daily_limit"},
		"a long ladder":  {change: []string{"every: 10m, holds: [4m", "every: 10m, holds: [20m"}, env: env, says: "every"},
		"no such probe":  {args: []string{"--only", "none"}, env: env, says: "matches nothing"},
		"no such output": {args: []string{"--output", "junit"}, env: env, says: "none, text or json"},
		"no secret":      {change: []string{"metrics: {", `metrics: {listen: "127.0.0.1:0", `}, says: "HOOK"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := configFile(t, "", strings.NewReplacer(c.change...).Replace(serving))
			r := perch(t.Context(), c.env, append([]string{"serve", "--config", path}, c.args...)...)
			if r.code != exitUsage {
				t.Errorf("exit status %d, want 2", r.code)
			}
			want(t, "stderr", r.stderr, c.says)
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), "state")); err == nil {
				t.Error("it made a state")
			}
		})
	}
}

func TestHealth(t *testing.T) {
	now := time.Now()
	h := newHealth()
	if h.unready() == "" || h.stuck(now) != "" {
		t.Error("a perch that has not begun is ready, or stuck")
	}
	h.setReady()
	h.expect("every 5m", now.Add(time.Minute))
	h.expect("every 1m", now)
	if h.unready() != "" || h.stuck(now) != "" {
		t.Errorf("%q, %q", h.unready(), h.stuck(now))
	}
	if said := h.stuck(now.Add(time.Second)); !strings.Contains(said, "every 1m is stuck") {
		t.Errorf("a second later: %q", said)
	}
	h.setState(errBroken)
	if said := h.unready(); !strings.Contains(said, "the disk is broken") {
		t.Errorf("%q", said)
	}
	h.setState(nil)
	if said := h.unready(); said != "" {
		t.Errorf("%q", said)
	}
}

// The config as serve takes it leaves the one that was read alone.
func TestServedConfig(t *testing.T) {
	p, _ := newPass(t, strings.Replace(noted, "path: /}", "path: /, every: always}", 1), &diary{})
	got := served(p.cfg)
	if got.Metrics.PushURL != "" || got.Targets[0].Probes[0].Every != withoutEvery {
		t.Errorf("%+v", got.Metrics)
	}
	if p.cfg.Metrics.PushURL == "" || p.cfg.Targets[0].Probes[0].Every != 0 {
		t.Error("the config that was read has changed")
	}
	if len(everies(got)) != 1 || !of(withoutEvery)(probes.Spec{Every: withoutEvery}) {
		t.Errorf("%v", everies(got))
	}
}
