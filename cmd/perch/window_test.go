package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"perch.example/config"
	"perch.example/internal/kubefake"
	"perch.example/plan"
	"perch.example/state"
)

// mortal is a store whose process may be killed: from then on nothing of it is
// written any more.
type mortal struct {
	keeper
	dead atomic.Bool
}

var errKilled = errors.New("the process was killed")

func (m *mortal) Reserve(ctx context.Context, r state.Reservation) error {
	if m.dead.Load() {
		return errKilled
	}
	return m.keeper.Reserve(ctx, r)
}

func (m *mortal) Save(ctx context.Context, d state.Document) error {
	if m.dead.Load() {
		return errKilled
	}
	return m.keeper.Save(ctx, d)
}

// openMortal opens the state of a process that begins; die is the kill.
type openMortal func(t *testing.T) (store *mortal, die func())

func fileMortal(t *testing.T) openMortal {
	path := filepath.Join(t.TempDir(), "state")
	return func(t *testing.T) (*mortal, func()) {
		file, err := state.OpenFile(path, stateOptions())
		if err != nil {
			t.Fatal(err)
		}
		m := &mortal{keeper: file}
		return m, func() { m.dead.Store(true) }
	}
}

// severed is a process's way to the API server: with the process it is gone.
type severed struct {
	http.RoundTripper
	gone atomic.Bool
}

func (s *severed) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.gone.Load() {
		return nil, errKilled
	}
	return s.RoundTripper.RoundTrip(r)
}

func configMapMortal(*testing.T) openMortal {
	server := kubefake.New("shop", "perch-state")
	return func(t *testing.T) (*mortal, func()) {
		wire := &severed{RoundTripper: server.Transport()}
		object, err := state.OpenConfigMap(t.Context(), state.ConfigMapConfig{
			Name: "perch-state", Namespace: "shop", Identity: "perch", Rest: &rest.Config{Host: "https://kubernetes.example", Transport: wire},
		}, stateOptions())
		if err != nil {
			t.Fatal(err)
		}
		m := &mortal{keeper: object}
		return m, func() { m.dead.Store(true); wire.gone.Store(true) }
	}
}

// windowed is an API with a small budget, and what runs against it.
type windowed struct {
	*station
	cfg  config.Config // as perch run takes it: serve gives everything its every
	open openMortal
	dice *rand.Rand
}

func newWindowed(t *testing.T, text string, open openMortal, seed uint64) *windowed {
	t.Helper()
	w := &windowed{station: newStation(t, text), open: open, dice: rand.New(rand.NewPCG(seed, 2))}
	var err error
	if w.cfg, err = config.Parse(configOptions(w.service.sys), config.File{Name: "perch.yaml", Data: []byte(text)}); err != nil {
		t.Fatal(err)
	}
	return w
}

// within is a random time, less than most.
func (w *windowed) within(most time.Duration) time.Duration {
	return time.Duration(w.dice.Int64N(int64(most)))
}

const windowedConfig = `
version: 1
name: shop
vantage: test
targets:
  - name: api
    url: http://192.0.2.1
    rate_limit: RATE
    share: 100%
    daily_limit: 1000000
    probes:
      - {name: a, kind: http, path: /a, every: EVERY0}
      - {name: b, kind: http, path: /b, every: EVERY1}
      - {name: c, kind: http, path: /c, every: EVERY2}
`

func windowedText(rate, a, b, c string) string {
	return strings.NewReplacer("RATE", rate, "EVERY0", a, "EVERY1", b, "EVERY2", c).Replace(windowedConfig)
}

// run is one process of perch run, that is killed after a while; 0: never. It
// returns its report.
func (w *windowed) run(flags runFlags, killed time.Duration) string {
	w.t.Helper()
	store, die := w.open(w.t)
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	if killed > 0 {
		defer time.AfterFunc(killed, func() { die(); cancel() }).Stop()
	}
	p := &pass{kept: &kept{store: store}, sys: w.service.sys, cfg: w.cfg, flags: flags, log: slog.New(slog.DiscardHandler)}
	p.sys.stdout, p.out = &out, outputFlags{to: []output{{format: "text"}}, failOn: "never"}
	err := runConfig(ctx, p)
	if err != nil && killed == 0 {
		w.t.Fatal(err)
	}
	return out.String()
}

// holds checks what arrived: never more than a window allows.
func (w *windowed) holds(rate float64) {
	w.t.Helper()
	var all []time.Time
	for _, path := range []string{"/a", "/b", "/c"} {
		all = append(all, w.asked(path)...)
	}
	slices.SortFunc(all, time.Time.Compare)
	cal := plan.NewCalendar(rate)
	for i := range max(0, len(all)-cal.Allowed()) {
		if apart := all[i+cal.Allowed()].Sub(all[i]); apart < cal.Window() {
			w.t.Fatalf("requests %d to %d of %d came within %s, want at most %d in %s", i+1, i+1+cal.Allowed(), len(all), apart, cal.Allowed(), cal.Window())
		}
	}
	if len(all) < 20 {
		w.t.Errorf("%d requests say nothing", len(all))
	}
}

// TestWindowHoldsAcrossRuns: however few each run sends, however soon the next
// one comes, and whenever one is killed.
func TestWindowHoldsAcrossRuns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, rate string
		perSecond  float64
		runs       int
		open       func(*testing.T) openMortal
	}{
		{"file, two in 2 s", "1/s", 1, 60, fileMortal},
		{"file, five in 1 s", "5/s", 5, 40, fileMortal},
		{"file, two in 24 min", "5/h", 5. / 3600, 24, fileMortal},
		{"configmap, two in 2 s", "1/s", 1, 60, configMapMortal},
		{"configmap, two in 2 min", "1/m", 1. / 60, 50, configMapMortal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWindowed(t, windowedText(tt.rate, "always", "always", "always"), tt.open(t), 1)
				window := plan.NewCalendar(tt.perSecond).Window()
				for n := range tt.runs {
					only := []string{"api/a", "api/b", "api/c"}[:1+w.dice.IntN(3)]
					killed := time.Duration(0)
					if w.dice.IntN(4) == 0 {
						killed = 1 + w.within(window)
					}
					w.run(runFlags{only: only, seed: uint64(n)}, killed)
					time.Sleep(w.within(window) / time.Duration(1+w.dice.IntN(10)))
				}
				w.holds(tt.perSecond)
			})
		})
	}
}

// TestWindowHoldsAcrossServes: with several loops, restarts, and kills while
// waves are under way.
func TestWindowHoldsAcrossServes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := windowedText("12/m", "15s", "16s", "21s")
		w := newWindowed(t, text, fileMortal(t), 3)
		w.slow = 3 * time.Second // so that waves overlap
		for range 25 {
			store, die := w.open(t)
			w.prepare(text, store)
			w.begin()
			time.Sleep(w.within(40 * time.Second))
			if w.dice.IntN(2) == 0 {
				die()
				w.end()
				t.Log("killed, and would have said:", <-w.result)
			} else if err := w.stop(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(w.within(4 * time.Second))
		}
		w.holds(0.2)
	})
}

// A schedule that keeps the budget by itself loses no run: what earlier runs
// sent counts when it left, not together with the last.
func TestALegalScheduleLosesNoRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWindowed(t, windowedText("5/h", "always", "always", "always"), fileMortal(t), 5)
		began := time.Now()
		runs := 0
		for ; time.Since(began) < 24*time.Hour; runs++ { // one in 13 min, where two in 24 min are allowed
			time.Sleep(time.Until(began.Add(time.Duration(runs)*13*time.Minute + w.within(15*time.Second))))
			report := w.run(runFlags{only: []string{"api/a"}, deadline: 4 * time.Minute}, 0)
			if !strings.Contains(report, "PASS") || len(w.asked("/a")) != runs+1 {
				t.Fatalf("run %d:\n%s", runs+1, report)
			}
		}
		w.holds(5. / 3600)
	})
}

// A run that comes too soon is skipped with words where its deadline leaves no
// time to wait, and no incident is told; with time it waits.
func TestAFullWindowIsSkippedOrWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWindowed(t, windowedText("5/h", "always", "always", "always"), fileMortal(t), 7)
		soon := runFlags{only: []string{"api/a"}, deadline: time.Minute}
		for range 2 {
			want(t, "a run with room", w.run(soon, 0), "PASS")
		}
		for range 4 {
			report := strings.Join(strings.Fields(w.run(soon, 0)), " ")
			want(t, "a run without", report, "SKIPPED", "earlier runs have used the budget of 2 requests in 24m", "too late for the deadline of 1m")
			if strings.Contains(report, "INCOMPLETE") || strings.Contains(report, "FAIL") {
				t.Errorf("it is no incident, and nothing was cut short:\n%s", report)
			}
			time.Sleep(time.Minute)
		}
		if n := len(w.asked("/a")); n != 2 {
			t.Fatalf("%d requests, want 2", n)
		}
		began := time.Now()
		want(t, "a run with time", w.run(runFlags{only: []string{"api/a"}}, 0), "PASS")
		if took := time.Since(began); took < 19*time.Minute || took > 22*time.Minute {
			t.Errorf("it waited %s, want the rest of 24 min", took)
		}
	})
}
