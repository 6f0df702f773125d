//go:build soak

package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"perch.example/internal/freeport"
	"perch.example/internal/kubefake"
	"perch.example/state"
)

const (
	toggled    = 4 // targets that fail at times
	shortestUp = 3 * time.Second
)

// TestKilled ends perch serve at any moment, by SIGTERM or SIGKILL, and starts it
// again, while targets fail and come back, and so do the webhook and the state. No
// notice may be lost, and no request that counts against the daily limit.
func TestKilled(t *testing.T) {
	t.Parallel()
	t.Run("state in a file", func(t *testing.T) {
		t.Parallel()
		k := newKilled(t)
		path := filepath.Join(t.TempDir(), "state")
		k.state, k.always = fmt.Sprintf("state: {file: %q}", path), true
		k.read = func() (state.Document, error) { return state.ReadFile(path) }
		k.run(t)
	})
	t.Run("state in a ConfigMap", func(t *testing.T) {
		t.Parallel()
		k := newKilled(t)
		fake := kubefake.New("shop", "perch-state")
		api := startFlaky(t, "the API server", fake)
		k.services = append(k.services, api)
		k.state, k.lease = "state: {configmap: perch-state}", 35*time.Second
		kubeconfig := write(t, filepath.Join(t.TempDir(), "kubeconfig"), string(fake.Kubeconfig(api.url)))
		k.env = []string{"KUBECONFIG=" + kubeconfig}
		k.read = func() (state.Document, error) {
			c, err := state.Cluster("perch-state", func(name string) (string, bool) { return kubeconfig, name == "KUBECONFIG" })
			if err != nil {
				return state.Document{}, err
			}
			return state.ReadConfigMap(t.Context(), c)
		}
		k.run(t)
	})
}

// killed is the world of a perch that is ended again and again.
type killed struct {
	plain    *plainServer
	apis     *httptest.Server
	heard    heard
	hook     *flaky
	services []*flaky
	listen   string
	state    string
	always   bool // it can always be saved: SIGTERM then ends with status 0
	env      []string
	lease    time.Duration // for how long the next one waits for a state that a killed one held
	read     func() (state.Document, error)

	mu    sync.Mutex
	bad   [toggled]outage // that is now
	worth []outage        // long ones that are over
}

// outage is a time in which a target failed. The zero value is none.
type outage struct {
	target     string
	from, to   time.Time
	complained int // requests that it failed
}

// longOutage is after how many failed requests nobody could have missed it, however
// often perch was ended meanwhile.
const longOutage = 10

func newKilled(t *testing.T) *killed {
	t.Helper()
	k := &killed{plain: startPlain(t), listen: fmt.Sprintf("127.0.0.1:%d", freeport.Loopback(t))}
	k.apis = httptest.NewServer(http.HandlerFunc(k.answer))
	t.Cleanup(k.apis.Close)
	k.hook = startFlaky(t, "the webhook", &k.heard)
	k.services = []*flaky{k.hook}
	return k
}

func (k *killed) answer(w http.ResponseWriter, r *http.Request) {
	var i int
	if _, err := fmt.Sscanf(r.URL.Path, "/toggled/%d", &i); err != nil || i >= toggled {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.bad[i].from.IsZero() {
		k.bad[i].complained++
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// toggle lets a target fail, or work again.
func (k *killed) toggle(i int, bad bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if o := k.bad[i]; o.complained >= longOutage {
		o.to = time.Now()
		k.worth = append(k.worth, o)
	}
	k.bad[i] = outage{}
	if bad {
		k.bad[i] = outage{target: fmt.Sprintf("toggled-%d", i), from: time.Now()}
	}
}

// fail lets one target after the other fail, or work again, until ctx ends. Then all
// of them work.
func (k *killed) fail(ctx context.Context, dice *rand.Rand) {
	var bad [toggled]bool
	for pause(ctx, time.Duration(2+dice.IntN(6))*time.Second) {
		i := dice.IntN(toggled)
		bad[i] = !bad[i]
		k.toggle(i, bad[i])
	}
	for i := range bad {
		k.toggle(i, false)
	}
}

func (k *killed) config() string {
	var text strings.Builder
	fmt.Fprintf(&text, "version: 1\nname: killed\nvantage: soak\nmetrics: {listen: %q}\n%s\nwebhook: {url: %q}\nalerts: {settle: none}\n", k.listen, k.state, k.hook.url)
	text.WriteString("defaults: {rate_limit: 10/s, share: 50%, daily_limit: 1000000, every: 1s}\ntargets:\n")
	for i := range toggled {
		fmt.Fprintf(&text, "  - {name: toggled-%d, url: %q, probes: [{name: get, kind: http, path: /toggled/%d}]}\n", i, k.apis.URL, i)
	}
	fmt.Fprintf(&text, "  - {name: counted, url: %q, probes: [{name: get, kind: http, path: %scounted}]}\n", k.plain.url(0, ""), recorded)
	return text.String()
}

func (k *killed) run(t *testing.T) {
	dice := rolled(t)
	config := write(t, filepath.Join(t.TempDir(), "perch.yaml"), k.config())
	ctx, cancel := context.WithTimeout(t.Context(), *soakFor)
	defer cancel()
	day := time.Now().UTC().Format(time.DateOnly)
	var all sync.WaitGroup
	seeds := [2]uint64{dice.Uint64(), dice.Uint64()}
	all.Go(func() { trouble(ctx, t, rand.New(rand.NewPCG(seeds[0], 2)), k.services...) })
	all.Go(func() { k.fail(ctx, rand.New(rand.NewPCG(seeds[1], 3))) })

	p := k.start(t, config)
	terms, kills, lasts := 0, 0, time.Duration(0)
	for ctx.Err() == nil {
		p.awaitSaid()
		pause(ctx, lasts+shortestUp+time.Duration(dice.IntN(7000))*time.Millisecond)
		lasts = 0
		if dice.IntN(3) == 0 {
			kills++
			p.stop(t, syscall.SIGKILL)
			lasts = k.lease
		} else {
			terms++
			if code := p.stop(t, syscall.SIGTERM); code != 0 && (k.always || code != 4) {
				t.Errorf("exit status %d after SIGTERM\n%s", code, p.log.tail())
			}
		}
		p.checkLog(t)
		p = k.start(t, config)
	}
	all.Wait()
	serving(t, p)
	k.settle(t)
	if code := p.stop(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit status %d at the end, want 0\n%s", code, p.log.tail())
	}
	t.Logf("ended %d times by SIGTERM, %d by SIGKILL; %d incidents were told from beginning to end, of %d long outages", terms, kills, k.heard.count(t), len(k.worth))
	if k.always { // where it cannot be saved, nothing is told, and a kill forgets it
		k.heard.checkTold(t, k.worth)
	}
	k.checkCounted(t, day)
}

// checkCounted: the state knows of every request that left, so that no daily limit is
// passed. It may know of more: those that a killed process had reserved.
func (k *killed) checkCounted(t *testing.T, day string) {
	t.Helper()
	d, err := k.read()
	if err != nil {
		t.Fatalf("reading the state: %v", err)
	}
	now := time.Now()
	if now.UTC().Format(time.DateOnly) != day {
		return // midnight came
	}
	if kept, came := d.RequestsToday("counted", now), len(k.plain.came.of(recorded+"counted")); kept < came {
		t.Errorf("the state says %d requests, the server received %d", kept, came)
	}
}

// start does not wait until it serves: it may be ended while it waits for its state.
func (k *killed) start(t *testing.T, config string) *process {
	return startWith(t, k.env, built.perch, "serve", "--config", config)
}

// settle waits until every incident that was told is told to be over: a webhook that
// failed for long is tried again within a minute, after a try that may hang for 20 s.
func (k *killed) settle(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(100 * time.Second)
	for time.Now().Before(deadline) {
		if open := k.heard.open(); len(open) == 0 {
			time.Sleep(3 * time.Second) // what opened just now would be told in this time
			if len(k.heard.open()) == 0 {
				return
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Errorf("these incidents were never told to be over, although all targets work: %q", k.heard.open())
}
