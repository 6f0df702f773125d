package runner_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/internal/memnet"
	"perch.example/plan"
	"perch.example/probes"
	"perch.example/probes/expect"
	"perch.example/runner"
)

// hit is one request as it arrived.
type hit struct {
	at     time.Time
	host   string // tells targets apart
	path   string
	secret string
	served int // requests that its connection carried before
}

type servedKey struct{}

// site answers for every target of a test, writes down what arrives, and counts
// the connections that are open.
type site struct {
	network *memnet.Network
	answer  func(n int, h hit, w http.ResponseWriter) // n: 0 for the first request
	slow    time.Duration                             // how long the first dial takes

	mu    sync.Mutex
	hits  []hit
	opens []time.Time
	open  int
	peak  int
}

// newSite serves until the test ends.
func newSite(t *testing.T, answer func(n int, h hit, w http.ResponseWriter)) *site {
	t.Helper()
	return newClosingSite(t, 0, answer)
}

// newClosingSite is a site that closes what idles for as long; 0: nothing.
func newClosingSite(t *testing.T, idle time.Duration, answer func(n int, h hit, w http.ResponseWriter)) *site {
	t.Helper()
	s := &site{network: memnet.New(), answer: answer}
	server := &http.Server{Handler: s, IdleTimeout: idle, ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, servedKey{}, new(int))
	}}
	go func() { _ = server.Serve(s.network) }()
	t.Cleanup(func() {
		_ = server.Close()
		_ = s.network.Close()
		time.Sleep(time.Minute) // of the bubble: answers that take their time end
	})
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	served := r.Context().Value(servedKey{}).(*int)
	h := hit{time.Now(), r.Host, r.URL.Path, r.Header.Get("Authorization"), *served}
	*served++
	n := len(s.hits)
	s.hits = append(s.hits, h)
	s.mu.Unlock()
	if s.answer != nil {
		s.answer(n, h, w)
	}
}

// dial connects and counts, from before the first packet to the close.
func (s *site) dial(ctx context.Context, network, address string) (net.Conn, error) {
	s.mu.Lock()
	s.open++
	s.peak = max(s.peak, s.open)
	s.opens = append(s.opens, time.Now())
	first := len(s.opens) == 1
	s.mu.Unlock()
	if first {
		time.Sleep(s.slow)
	}
	c, err := s.network.Dial(ctx, network, address)
	if err != nil {
		s.closed()
		return nil, err
	}
	return &counted{Conn: c, closed: sync.OnceFunc(s.closed)}, nil
}

func (s *site) closed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
}

func (s *site) seen() []hit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.hits)
}

// to returns the requests for one host.
func (s *site) to(host string) []hit {
	return slices.DeleteFunc(s.seen(), func(h hit) bool { return h.host != host })
}

type counted struct {
	net.Conn
	closed func()
}

func (c *counted) Close() error {
	c.closed()
	return c.Conn.Close()
}

// status answers with a status and headers "Name", "value".
func status(code int, headers ...string) func(int, hit, http.ResponseWriter) {
	return func(_ int, _ hit, w http.ResponseWriter) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
	}
}

// newTarget may be asked that often by perch; its host is 192.0.2.n.
func newTarget(name string, n int, rate float64, all ...probes.Spec) probes.Target {
	u := &url.URL{Scheme: "http", Host: fmt.Sprintf("192.0.2.%d", n), Path: "/"}
	t := probes.Target{
		Name: name, URL: u, RateLimit: probes.Rate(rate), Share: 1, DailyLimit: 1 << 20, MaxConnections: 64,
	}
	for i, s := range all {
		s.Target, s.URL = name, u
		if s.Probe == "" {
			s.Probe = fmt.Sprintf("p%d", i)
		}
		t.Probes = append(t.Probes, s)
	}
	return t
}

func newProbe(kind probes.Kind, holds ...time.Duration) probes.Spec {
	all, _ := expect.Compile(nil)
	return probes.Spec{
		Kind: kind, Method: http.MethodGet, MaxBody: 1 << 20, Expect: all, Holds: holds, Every: 2 * time.Hour,
		Timeouts: probes.Timeouts{DNS: time.Second, Connect: time.Second, TLS: time.Second, Response: 5 * time.Second},
	}
}

// exchanges are n probes of kind http.
func exchanges(n int) []probes.Spec {
	var all []probes.Spec
	for range n {
		all = append(all, newProbe(probes.KindHTTP))
	}
	return all
}

func newPlan(t *testing.T, seed uint64, targets ...probes.Target) *plan.Plan {
	t.Helper()
	p, err := plan.New(config.Config{Name: "test", Targets: targets}, plan.Options{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// played is what a run left.
type played struct {
	all    []probes.Observation // in the order in which they came
	result runner.Result
	took   time.Duration
}

// play runs the targets once against the site, and checks that every step is
// yielded exactly once and that no connection stays open.
func play(t *testing.T, ctx context.Context, s *site, change func(*runner.Options), targets ...probes.Target) played {
	t.Helper()
	p := newPlan(t, 1, targets...)
	o := runner.Options{
		Targets: targets, UserAgent: "perch/test", Dial: s.dial,
		Secrets: func(probes.Source) (probes.Secret, error) { return probes.NewSecret("s"), nil },
	}
	if change != nil {
		change(&o)
	}
	var out played
	began := time.Now()
	out.result = runner.Run(ctx, p, o, func(o probes.Observation) { out.all = append(out.all, o) })
	out.took = time.Since(began)
	checkYields(t, p, out.all)
	if s.open != 0 {
		t.Errorf("%d connections stayed open", s.open)
	}
	return out
}

// checkYields compares what was yielded with the plan's steps.
func checkYields(t *testing.T, p *plan.Plan, all []probes.Observation) {
	t.Helper()
	type step struct {
		id   string
		hold time.Duration
	}
	due := map[step]int{}
	for _, s := range p.Steps {
		due[step{s.Spec.ID(), s.Hold}]++
	}
	for _, o := range all {
		due[step{o.Target + "/" + o.Probe, o.Hold}]--
		if o.Started.IsZero() || o.Ended.Before(o.Started) || o.Kind == "" {
			t.Errorf("observation %+v", o)
		}
	}
	for s, n := range due {
		if n != 0 {
			t.Errorf("step %v: %d observations are missing", s, n)
		}
	}
}

// of returns a target's observations.
func (p played) of(target string) []probes.Observation {
	return slices.DeleteFunc(slices.Clone(p.all), func(o probes.Observation) bool { return o.Target != target })
}

// use returns what a target's budget was used for.
func (p played) use(t *testing.T, target string) probes.BudgetUse {
	t.Helper()
	for _, u := range p.result.Budget {
		if u.Target == target {
			return u
		}
	}
	t.Fatalf("no use of the budget of %s in %+v", target, p.result.Budget)
	return probes.BudgetUse{}
}

// told counts the observations by their cut ("": none) and its detail.
func told(all []probes.Observation) map[string]int {
	counts := map[string]int{}
	for _, o := range all {
		if o.Cut == "" {
			counts[""]++
			continue
		}
		counts[fmt.Sprintf("%s: %s", o.Cut, o.CutDetail)]++
	}
	return counts
}

func lastReason(o probes.Observation) probes.Reason {
	if len(o.Attempts) == 0 {
		return ""
	}
	return o.Attempts[len(o.Attempts)-1].Reason
}
