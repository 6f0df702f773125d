package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/config"
	"perch.example/probes"
	"perch.example/report"
)

const looked = `
version: 1
name: shop
vantage: test
targets:
  - name: api
    url: http://192.0.2.1/v1
    query: [{name: token, value: hushhush}]
    owner: team-stock
    rate_limit: 100/s
    share: 10%
    daily_limit: 200000
    probes:
      - {name: often, kind: http, path: /often, every: 1m}
      - {name: hold, kind: idle, path: /hold, every: 20m, holds: [10m]}
  - name: quiet
    url: http://192.0.2.2
    probes: [{name: get, kind: http, path: /quiet, every: 1h}]
alerts: {fire_after: 1, resolve_after: 1, settle: none}
slack: {webhook: {from: {env: HOOK}}}
state: {file: "${DIR}/state"}
`

// answered is a whole answer.
type answered struct {
	status int
	header http.Header
	length int64 // as said
	body   string
}

func (s *station) ask(method, path string) answered {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, "http://perch.example"+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: s.web.Dial, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answered{resp.StatusCode, resp.Header, resp.ContentLength, string(body)}
}

// The page says what each wave found, what is held, and what is open.
func TestStatusPageFollowsServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t, looked)
		s.prepare(looked, &shelf{})
		s.answers("/v1/often", http.StatusInternalServerError)
		s.begin()
		time.Sleep(3*time.Minute + 30*time.Second)
		page := s.ask("GET", "/").body
		want(t, "the page", page, "Failing", "1 of 3 probes fails: api/often (contract)", "firing", `<h3><a href="?target=api">api</a></h3>`, "team-stock",
			"http://192.0.2.1/v1<", `<th scope="row">api/hold</th><td class="brief">10 min</td>`, "10/s, at most ")
		for _, no := range []string{"hushhush", "token="} {
			if strings.Contains(page, no) {
				t.Errorf("the page holds %q", no)
			}
		}
		s.answers("/v1/often", http.StatusOK)
		time.Sleep(20 * time.Minute)
		page = s.ask("GET", "/?target=api").body
		want(t, "the page", page, "All well", "3 probes pass.", "None is open.", "1 of 2 shown", "Connections held idle, then reused", `<th scope="row">10 min</th>`, "Evidence of hold: ")
		if strings.Contains(page, `id="target-quiet"`) {
			t.Error("a target is shown that nobody asked for")
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// After a restart the page says what the state knows, and that it is of before. Before
// the state is read, it does not say that nothing is open.
func TestStatusPageAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := newStation(t, looked), &shelf{}
		s.prepare(looked, store)
		s.answers("/v1/often", http.StatusInternalServerError)
		s.begin()
		time.Sleep(3*time.Minute + 30*time.Second)
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		s.prepare(looked, store)
		if page, err := s.service.looks().make(report.StatusFilter{}); err != nil || !strings.Contains(string(page), "Not known here") || strings.Contains(string(page), "None is open") {
			t.Errorf("before the state is read: %v", err)
		}
		ran := len(s.asked("/v1/often"))
		s.begin()
		time.Sleep(time.Second)
		page := s.ask("GET", "/").body
		if len(s.asked("/v1/often")) != ran {
			t.Fatal("it ran already")
		}
		want(t, "the page", page, "Failing", "1 of 3 probes fails: api/often; 2 not run yet since the start, and counted as before it; 1 not run yet.", "firing",
			"api (contract) is firing since", "<dd>told</dd>", "Not run yet since the start. Before it, it came to fail at 2000-01-01 00:0")
		if strings.Contains(page, "None is open") || strings.Contains(page, "<dd>0 of 200000 requests</dd>") {
			t.Error("the page forgets what the state knows")
		}
		time.Sleep(2 * time.Minute)
		want(t, "the page", s.ask("GET", "/").body, "1 of 3 probes fails: api/often (contract)", "status 500")
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestStatusPageAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t, looked)
		s.begin()
		time.Sleep(2 * time.Minute)
		got := s.ask("GET", "/")
		for name, value := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": report.StatusPolicy(), "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Content-Length": fmt.Sprint(len(got.body)),
		} {
			if got.header.Get(name) != value {
				t.Errorf("%s: %q, want %q", name, got.header.Get(name), value)
			}
		}
		head := s.ask("HEAD", "/?verdict=pass")
		if head.status != 200 || head.body != "" || head.length < 1000 {
			t.Errorf("HEAD: %d, %d bytes, %d said", head.status, len(head.body), head.length)
		}
		for _, c := range []struct {
			method, path string
			status       int
		}{{"GET", "/index.html", 404}, {"GET", "/favicon.ico", 404}, {"POST", "/", 405}, {"DELETE", "/", 405}, {"GET", "/?target=%ff&verdict=never&refresh=maybe&x=;", 200}, {"GET", "/?target=" + strings.Repeat("a", 5000), 200}} {
			if got := s.ask(c.method, c.path); got.status != c.status {
				t.Errorf("%s %.40s: %d, want %d", c.method, c.path, got.status, c.status)
			}
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// More than a few who look at once are told to come again, and one page is made at a
// time.
func TestStatusPageIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		making, most := 0, 0
		var mu sync.Mutex
		l := &looks{places: make(chan struct{}, mostLookers), making: make(turn, 1), status: func() report.Status {
			mu.Lock()
			making++
			most = max(most, making)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			making--
			mu.Unlock()
			return report.Status{Name: "shop"}
		}}
		codes := map[int]int{}
		var all sync.WaitGroup
		for range mostLookers + 3 {
			all.Go(func() {
				w := httptest.NewRecorder()
				l.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
				mu.Lock()
				defer mu.Unlock()
				codes[w.Code]++
				if w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
					t.Error("nobody says when to come again")
				}
			})
		}
		all.Wait()
		if codes[200] != mostLookers || codes[503] != 3 || most != 1 {
			t.Errorf("answered %v, at most %d made at once", codes, most)
		}
	})
}

func boardConfig(t *testing.T, names ...string) config.Config {
	t.Helper()
	var cfg config.Config
	for _, name := range names {
		cfg.Targets = append(cfg.Targets, probes.Target{Name: name, Probes: []probes.Spec{{Target: name, Probe: "get"}}})
	}
	return cfg
}

// What a config no longer has is forgotten; what somebody took is not changed by it.
func TestBoardForgets(t *testing.T) {
	b := newBoard(boardConfig(t, "a", "b"))
	run := probes.Run{Incidents: []probes.Incident{{Name: "a"}}, Finished: time.Now()}
	for _, name := range []string{"a", "b"} {
		run.Outcomes = append(run.Outcomes, probes.Outcome{Target: name, Probe: "get"})
		run.Idle = append(run.Idle, probes.IdleResult{Target: name, Probe: "get"})
		run.Budget = append(run.Budget, probes.BudgetUse{Target: name, Requests: 1})
	}
	b.take(run, func(string, time.Time) int { return 7 })
	b.expect(map[string]bool{"a/get": true, "b/get": true}, run.Finished)
	before, _ := b.now()
	b.configure(boardConfig(t, "b"))
	after, _ := b.now()
	if len(before.last) != 2 || len(before.idle) != 2 || len(before.next) != 2 || before.sent["a"].requests != 7 || len(before.incidents) != 1 {
		t.Errorf("before: %+v", before)
	}
	if len(after.last) != 1 || len(after.idle) != 1 || len(after.next) != 1 || len(after.used) != 1 || len(after.sent) != 1 || after.last["b/get"] == nil {
		t.Errorf("after: %+v", after)
	}
}

// How the last reload went is on the page.
func TestBoardSaysHowTheReloadWent(t *testing.T) {
	b := newBoard(boardConfig(t, "a"))
	says := func() string {
		f, _ := b.now()
		words, refused := f.config()
		return fmt.Sprint(refused, " ", regexp.MustCompile(`[0-9]{4}-.*?UTC`).ReplaceAllString(words, "T"))
	}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "false "},
		{func() { b.refuse([]string{"perch.yaml:3: no name"}) }, "true At T: perch.yaml:3: no name"},
		{func() { b.refuse([]string{"one", "two"}) }, "true 2 mistakes, at T. The first: one"},
		{func() { b.configure(boardConfig(t, "a")) }, "false read again at T"},
	} {
		if step.do(); says() != step.want {
			t.Errorf("got %q, want %q", says(), step.want)
		}
	}
}

// A hold is shown from when it begins until it is over; a close keeps its end.
func TestBoardHolds(t *testing.T) {
	b, now := newBoard(config.Config{}), time.Now()
	event := func(step int, what probes.EventKind, until time.Time, c *probes.Close) {
		b.watch(probes.Event{Target: "a", Probe: "hold", Step: step, What: what, Hold: time.Minute, Until: until, Close: c})
	}
	event(1, probes.EventStarted, time.Time{}, nil)
	event(1, probes.EventHolding, now.Add(time.Minute), nil)
	event(2, probes.EventHolding, now.Add(time.Second), nil)
	event(1, probes.EventClosed, time.Time{}, &probes.Close{Age: time.Second})
	_, held := b.now()
	if len(held) != 2 || held[0].Step != 2 || held[1].Close == nil || !held[1].Until.Equal(now.Add(time.Minute)) {
		t.Errorf("held: %+v", held)
	}
	event(1, probes.EventDone, time.Time{}, nil)
	event(2, probes.EventDone, time.Time{}, nil)
	if _, held := b.now(); len(held) != 0 {
		t.Errorf("held at the end: %+v", held)
	}
}
