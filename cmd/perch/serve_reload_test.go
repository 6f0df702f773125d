package main

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/internal/memnet"
)

const reloading = `
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
      - {name: often, kind: http, path: /often, every: 10s}
      - {name: hold, kind: idle, path: /hold, every: 10m, holds: [4m]}
  - name: other
    url: http://192.0.2.2
    rate_limit: 100/s
    share: 10%
    daily_limit: 200000
    probes: [{name: get, kind: http, path: /other, every: 10s}]
alerts: {fire_after: 1, resolve_after: 1, settle: none}
slack: {webhook: {from: {env: HOOK}}}
state: {file: "${DIR}/state"}
metrics: {listen: "127.0.0.1:9877"}
`

// mount is a folder as the kubelet mounts a ConfigMap: its files lead through ..data,
// a link that changes all of them at once.
type mount struct {
	t    *testing.T
	dir  string
	last int
}

func newMount(t *testing.T, text string) *mount {
	t.Helper()
	m := &mount{t: t, dir: t.TempDir()}
	m.swap(text)
	m.must(os.Symlink(filepath.Join("..data", "perch.yaml"), filepath.Join(m.dir, "perch.yaml")))
	return m
}

func (m *mount) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// swap does what the kubelet does: another folder, another link over the old one, and
// the old folder is gone.
func (m *mount) swap(text string) {
	m.t.Helper()
	before := fmt.Sprintf("..%d", m.last)
	m.last++
	now := fmt.Sprintf("..%d", m.last)
	m.must(os.Mkdir(filepath.Join(m.dir, now), 0o700))
	m.must(os.WriteFile(filepath.Join(m.dir, now, "perch.yaml"), []byte(text), 0o600))
	m.must(os.Symlink(now, filepath.Join(m.dir, "..data_tmp")))
	m.must(os.Rename(filepath.Join(m.dir, "..data_tmp"), filepath.Join(m.dir, "..data")))
	m.must(os.RemoveAll(filepath.Join(m.dir, before)))
}

// reloaded is a station whose config is a mount.
func reloaded(t *testing.T, text string, store keeper) (*station, *mount) {
	t.Helper()
	m := newMount(t, text)
	s := newStation(t, text)
	s.web = memnet.New()
	sys := s.service.sys
	sys.listen = func(string, string) (net.Listener, error) { return s.web, nil }
	sys.stderr = io.Discard
	sys.env = func(name string) (string, bool) {
		if name == "HOOK" {
			return "https://slack.example/services/T/B/x", true
		}
		return "", false
	}
	log := slog.New(slog.NewTextHandler(&s.log, nil))
	files := newFiles(sys, m.dir)
	cfg, err := loadConfig(sys, m.dir, log)
	if err != nil {
		t.Fatal(err)
	}
	s.service = newService(sys, cfg, runFlags{seed: 1, config: m.dir}, outputFlags{format: "none"}, log)
	s.service.files, s.service.store = files, store
	return s, m
}

// inUse is how long a change takes until it is in use, at most.
const inUse = 2*lookEach + time.Second

// A swap of the ConfigMap changes what is probed, and disturbs nothing that stays: the
// hold goes on, and no tick is lost or doubled.
func TestServeReloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := reloaded(t, reloading, &shelf{})
		began := time.Now()
		s.begin()
		time.Sleep(2 * time.Minute)
		if n := len(s.asked("/hold")); n != 1 {
			t.Fatalf("the ladder sent %d requests in its first 2 m", n)
		}
		m.swap(strings.NewReplacer("name: get, kind: http, path: /other", "name: new, kind: http, path: /new", "192.0.2.2", "192.0.2.3").Replace(reloading))
		time.Sleep(inUse)
		gone := len(s.asked("/other"))
		s.wants("/metrics", 200, `perch_config_last_reload_successful{perch="shop",vantage="test"} 1`)
		s.wants("/metrics", 200, `perch_outcomes_total{perch="shop",probe="new",target="other",vantage="test",verdict="pass"}`)
		if _, body := s.get("/metrics"); strings.Contains(body, `probe="get"`) {
			t.Error("the probe that is gone is still shown")
		}
		time.Sleep(10 * time.Minute)
		if n := len(s.asked("/other")); n != gone {
			t.Errorf("the probe that is gone was asked %d times more", n-gone)
		}
		if n := len(s.asked("/new")); n < 59 || n > 62 {
			t.Errorf("the new one was asked %d times in 10 m", n)
		}
		often := s.asked("/often")
		for n := 1; n < len(often); n++ {
			if apart := often[n].Sub(often[n-1]); apart != 10*time.Second {
				t.Errorf("what stays was asked for the %d. time after %s", n+1, apart)
			}
		}
		hold := s.asked("/hold")
		if len(hold) < 2 || hold[1].Sub(hold[0]) < 4*time.Minute || hold[1].Sub(hold[0]) > 4*time.Minute+time.Second {
			t.Errorf("the hold began at %s and was not reused 4 m later: %v", hold[0].Sub(began), hold)
		}
		s.wants("/healthz", 200, "ok")
		want(t, "the log", s.log.String(), "the changed config is in use", "new=1 gone=1")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// A bad config is refused whole: the old one runs on, and people are told once of each,
// and when it is good again.
func TestServeRefusesABadConfig(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := reloaded(t, reloading, &shelf{})
		s.begin()
		time.Sleep(time.Minute)
		bad := strings.Replace(reloading, "every: 10s", "every: 10", 1)
		for _, c := range []struct {
			text, says string
			messages   int
		}{
			{bad, "perch.yaml:12", 1},
			{"", "perch.yaml: is empty", 2},
			{bad, "perch.yaml:12", 2}, // it was told
			{strings.Replace(reloading, "daily_limit: 200000", "daily_limit: 10", 1), "daily_limit", 3},
			{strings.Replace(reloading, `listen: "127.0.0.1:9877"`, `listen: "127.0.0.1:9878"`, 1), ": metrics.listen: is", 4},
			{strings.Replace(reloading, "${DIR}/state", "${DIR}/elsewhere", 1), ": state: is", 5},
			{strings.Replace(reloading, "name: shop", "name: shop2", 1), "perch.yaml:3: name: is", 6},
			{strings.Replace(reloading, "{env: HOOK}", "{env: GONE}", 1), "GONE", 7},
		} {
			before := len(s.asked("/often"))
			m.swap(c.text)
			time.Sleep(time.Minute)
			s.wants("/metrics", 200, `perch_config_last_reload_successful{perch="shop",vantage="test"} 0`)
			s.wants("/readyz", 200, "ok")
			if n := s.messages(); n != c.messages {
				t.Errorf("%s: %d messages, want %d", c.says, n, c.messages)
			}
			if heard := s.heard(); c.messages > 0 && !strings.Contains(strings.Join(heard, "\n"), c.says) {
				t.Errorf("nobody is told of %s: %s", c.says, heard[len(heard)-1])
			}
			want(t, "the log", s.log.String(), "the changed config is refused", c.says)
			if n := len(s.asked("/often")) - before; n != 6 {
				t.Errorf("%s: asked %d times in the minute", c.says, n)
			}
		}
		m.swap(reloading)
		time.Sleep(time.Minute)
		s.wants("/metrics", 200, `perch_config_last_reload_successful{perch="shop",vantage="test"} 1`)
		if n := s.messages(); n != 8 || !strings.Contains(s.heard()[7], "good again") {
			t.Errorf("%d messages, the last: %s", n, s.heard()[n-1])
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// What is taken out is over: its incident is closed, its series and what is expected of
// it are gone, and nothing is left of it to be stuck.
func TestServeTakesOutATarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := reloaded(t, reloading, &shelf{})
		s.answers("/other", 404)
		s.slows = map[string]time.Duration{"/other": 2 * time.Second}
		hangup := make(chan os.Signal)
		s.service.hangup = hangup
		s.begin()
		time.Sleep(time.Minute)
		s.wants("/metrics", 200, `perch_incident_open{family="contract",perch="shop",target="other",vantage="test"} 1`)
		out := reloading[:strings.Index(reloading, "  - name: other")] + reloading[strings.Index(reloading, "alerts:"):]
		for before := len(s.asked("/other")); len(s.asked("/other")) == before; { // it is under way when it is taken out
			time.Sleep(100 * time.Millisecond)
		}
		m.swap(out)
		hangup <- os.Interrupt
		time.Sleep(30 * time.Minute)
		if _, body := s.get("/metrics"); strings.Contains(body, `target="other"`) {
			t.Error("the target that is gone is still shown")
		}
		s.wants("/healthz", 200, "ok")
		if n := s.messages(); n != 2 || !strings.Contains(s.heard()[1], "no longer in the config") {
			t.Errorf("%d messages: %v", n, s.heard())
		}
		s.service.mu.Lock()
		if len(s.service.loops) != 2 || len(s.service.ledger.next) != 2 {
			t.Errorf("%d loops, %d in the ledger", len(s.service.loops), len(s.service.ledger.next))
		}
		s.service.mu.Unlock()
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// A probe that is another one now ends its wave, and runs by its new words; it never
// overlaps itself.
func TestServeReplacesAProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := reloaded(t, reloading, &shelf{})
		s.begin()
		time.Sleep(2 * time.Minute) // it holds
		m.swap(strings.Replace(reloading, "holds: [4m]", "holds: [30s]", 1))
		time.Sleep(20 * time.Minute)
		hold := s.asked("/hold")
		if len(hold) < 3 {
			t.Fatalf("asked %d times", len(hold))
		}
		if apart := hold[2].Sub(hold[1]); apart < 30*time.Second || apart > 31*time.Second {
			t.Errorf("the new hold lasted %s", apart)
		}
		if first := hold[1].Sub(hold[0]); first < 5*time.Minute {
			t.Errorf("the probe ran again %s after it had begun, its every is 10 m", first)
		}
		if n := s.messages(); n != 0 {
			t.Errorf("told of a hold that the reload cut short: %v", s.heard())
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// SIGHUP has the config read at once.
func TestServeReadsAtAHangup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := reloaded(t, reloading, &shelf{})
		hangup := make(chan os.Signal)
		s.service.hangup = hangup
		s.begin()
		time.Sleep(time.Minute + 100*time.Millisecond)
		m.swap(strings.Replace(reloading, "path: /other", "path: /new", 1))
		hangup <- os.Interrupt // whatever it is
		synctest.Wait()
		want(t, "the log", s.log.String(), "the changed config is in use")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// Many reloads leave nothing behind. (A thousand were tried by hand: they take 5 s of
// CPU time.)
func TestServeReloadsForLong(t *testing.T) {
	const last = 200
	var heap [2]uint64
	goroutines := [2]int{}
	synctest.Test(t, func(t *testing.T) {
		s, m := reloaded(t, reloading, &shelf{})
		hangup := make(chan os.Signal)
		s.service.hangup = hangup
		s.begin()
		time.Sleep(time.Minute)
		for n := range last + 1 {
			switch n % 4 {
			case 0:
				m.swap(strings.ReplaceAll(reloading, "name: other", fmt.Sprintf("name: other-%d", n)))
			case 1:
				m.swap(strings.ReplaceAll(reloading, "path: /often", fmt.Sprintf("path: /often-%d", n)))
			case 2:
				m.swap(fmt.Sprintf("a bad one: %d", n))
			default:
				m.swap(reloading)
			}
			hangup <- os.Interrupt
			time.Sleep(time.Second)
			if n != last/4 && n != last {
				continue
			}
			time.Sleep(2 * time.Minute)
			s.mu.Lock()
			clear(s.hits)
			s.told = nil
			s.mu.Unlock()
			s.log.mu.Lock()
			s.log.text.Reset()
			s.log.mu.Unlock()
			synctest.Wait()
			runtime.GC()
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			heap[n/last], goroutines[n/last] = stats.HeapAlloc, inBubble(t)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	t.Logf("heap %v, goroutines %v", heap, goroutines)
	if heap[1] > heap[0]+1<<20 || goroutines[1] > goroutines[0]+2 {
		t.Errorf("after a quarter of the reloads and after all: heap %v, goroutines %v", heap, goroutines)
	}
}

// So does how often a probe may run, also for a tick that is planned already; a probe that
// runs seldom enough is not touched.
func TestServeKeepsAStricterEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := reloaded(t, reloading, &shelf{})
		policy := filepath.Join(t.TempDir(), "policy.yaml")
		s.service.sys.mounted = policy
		s.service.files = newFiles(s.service.sys, m.dir)
		s.begin()
		time.Sleep(2 * time.Minute)
		m.must(os.WriteFile(policy, []byte("version: 1\nmin_every: 5m\n"), 0o600))
		time.Sleep(inUse)
		before := len(s.asked("/often"))
		time.Sleep(31 * time.Minute)
		all := s.asked("/often")[before-1:]
		for i := 1; i < len(all); i++ {
			if apart := all[i].Sub(all[i-1]); apart < 5*time.Minute-mostSlack {
				t.Errorf("asked again after %s", apart)
			}
		}
		if len(all) < 6 || len(s.asked("/hold")) < 6 {
			t.Errorf("asked %d times, and %d that run each 10m", len(all), len(s.asked("/hold")))
		}
		want(t, "the log", s.log.String(), "the changed config is refused", "policy.yaml:2: min_every")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// A policy that becomes stricter holds at once, though the config was not adapted and is
// refused.
func TestServeKeepsAStricterPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := reloaded(t, reloading, &shelf{})
		policy := filepath.Join(t.TempDir(), "policy.yaml")
		s.service.sys.mounted = policy
		s.service.files = newFiles(s.service.sys, m.dir)
		s.begin()
		time.Sleep(2 * time.Minute)
		m.must(os.WriteFile(policy, []byte("version: 1\nhosts: [192.0.2.2]\n"), 0o600))
		time.Sleep(inUse)
		often, hold, other := len(s.asked("/often")), len(s.asked("/hold")), len(s.asked("/other"))
		time.Sleep(5 * time.Minute)
		if n := len(s.asked("/often")) - often; n != 0 {
			t.Errorf("what the policy does not allow was asked %d times", n)
		}
		if n := len(s.asked("/hold")) - hold; n != 0 {
			t.Errorf("%d requests left on what was held", n)
		}
		if n := len(s.asked("/other")) - other; n < 29 {
			t.Errorf("what it allows was asked %d times in 5 m", n)
		}
		s.wants("/metrics", 200, `perch_config_last_reload_successful{perch="shop",vantage="test"} 0`)
		want(t, "the log", s.log.String(), "the changed config is refused", "policy.yaml:2: hosts")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}
