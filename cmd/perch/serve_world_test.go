package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/internal/memnet"
	"perch.example/state"
)

// station is perch serve in a bubble, with an API, a Slack, a network for its
// scrapers, and a store that may fail.
type station struct {
	t       *testing.T
	api     *memnet.Network
	web     *memnet.Network
	log     logged
	service *service
	end     context.CancelFunc
	result  chan error

	mu     sync.Mutex
	status map[string]int // what a path is answered with; none: 200
	hits   map[string][]time.Time
	slow   time.Duration
	slows  map[string]time.Duration // likewise, one path
	told   []string                 // what Slack received
	hangs  bool                     // Slack takes what it is sent, and never answers
}

// logged is a log that is read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newStation makes one that has not begun. It may be begun again after it ended:
// store keeps what it kept, nil is what the config says.
func newStation(t *testing.T, text string) *station {
	t.Helper()
	s := &station{t: t, api: memnet.New(), status: map[string]int{}, hits: map[string][]time.Time{}}
	server := &http.Server{Handler: s}
	go func() { _ = server.Serve(s.api) }()
	t.Cleanup(func() {
		_ = server.Close()
		_ = s.api.Close()
		time.Sleep(time.Minute) // of the bubble: answers that take their time end
	})
	s.prepare(text, nil)
	return s
}

// prepare makes the service anew, as a process that starts does.
func (s *station) prepare(text string, store keeper) {
	s.t.Helper()
	s.web = memnet.New()
	sys := system{
		stdout: io.Discard, stderr: io.Discard, readFile: os.ReadFile, dial: s.api.Dial, web: s,
		env:    func(name string) (string, bool) { return "https://slack.example/services/T/B/x", name == "HOOK" },
		listen: func(string, string) (net.Listener, error) { return s.web, nil },
	}
	text = strings.ReplaceAll(text, "${DIR}", s.t.TempDir())
	cfg, err := config.Parse(configOptions(sys), config.File{Name: "perch.yaml", Data: []byte(text)})
	if err != nil {
		s.t.Fatal(err)
	}
	s.service = newService(sys, cfg, runFlags{seed: 1}, outputFlags{format: "none"}, slog.New(slog.NewTextHandler(&s.log, nil)))
	s.service.store = store
}

func (s *station) begin() {
	var ctx context.Context
	ctx, s.end = context.WithCancel(s.t.Context())
	s.result = make(chan error, 1)
	go func() { s.result <- s.service.serve(ctx) }()
}

// stop ends it as SIGTERM does, and returns how.
func (s *station) stop() error {
	s.t.Helper()
	began := time.Now()
	s.end()
	err := <-s.result
	if took := time.Since(began); took > 5*time.Second {
		s.t.Errorf("it ended %s after it was told to, want within 5 s", took)
	}
	return err
}

func (s *station) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.hits[r.URL.Path] = append(s.hits[r.URL.Path], time.Now())
	status, slow := s.status[r.URL.Path], s.slow+s.slows[r.URL.Path]
	s.mu.Unlock()
	time.Sleep(slow)
	if status != 0 {
		w.WriteHeader(status)
	}
}

// RoundTrip is Slack.
func (s *station) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, string(body))
	if s.hangs {
		s.mu.Unlock()
		<-r.Context().Done()
		s.mu.Lock()
		return nil, context.Cause(r.Context())
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("ok")), Request: r}, nil
}

// heard are Slack's messages so far.
func (s *station) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.told)
}

func (s *station) answers(path string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status[path] = status
}

func (s *station) asked(path string) []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]time.Time(nil), s.hits[path]...)
}

// allAsked is how many requests arrived.
func (s *station) allAsked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, at := range s.hits {
		n += len(at)
	}
	return n
}

func (s *station) messages() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.told)
}

// get asks perch, as a scraper or the kubelet does.
func (s *station) get(path string) (status int, body string) {
	s.t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: s.web.Dial, DisableKeepAlives: true}}
	resp, err := client.Get("http://perch.example" + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(all)
}

func (s *station) wants(path string, status int, says string) {
	s.t.Helper()
	if got, body := s.get(path); got != status || !strings.Contains(body, says) {
		s.t.Errorf("%s at %s: %d %q, want %d %q", path, time.Now().UTC().Format(time.TimeOnly), got, body, status, says)
	}
}

// shelf is a store in memory.
type shelf struct {
	mu     sync.Mutex
	doc    state.Document
	saves  int
	fails  func() error // of a save; nil: none fails
	hangs  bool         // a save ends with its time, and has done nothing
	closed bool
}

var errBroken = errors.New("the disk is broken")

func (s *shelf) Load(context.Context) (state.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doc, nil
}

func (s *shelf) Reserve(_ context.Context, r state.Reservation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doc = s.doc.Reserved(r)
	return nil
}

func (s *shelf) Save(ctx context.Context, d state.Document) error {
	s.mu.Lock()
	if s.hangs {
		s.mu.Unlock()
		<-ctx.Done()
		return context.Cause(ctx)
	}
	defer s.mu.Unlock()
	s.saves++
	if s.fails != nil {
		if err := s.fails(); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return err
	}
	s.doc = state.Document{}
	return json.Unmarshal(raw, &s.doc)
}
func (s *shelf) Warning() string { return "" }

func (s *shelf) Close(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

func (s *shelf) failing(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = func() error { return err }
}

func (s *shelf) sentToday(target string, now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doc.RequestsToday(target, now)
}

func (s *shelf) due() map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.doc.Due)
}
