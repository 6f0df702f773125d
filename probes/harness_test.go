package probes

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"perch.example/internal/memnet"
	"perch.example/probes/expect"
)

// asked is one request that the peer received.
type asked struct {
	*http.Request
	at   time.Time
	conn int // 1: the first connection
}

// peer is a scripted server on an in-memory network. It gives its answers in
// turn, the last one again and again. An empty answer ends the connection
// instead, and so does one that says so.
type peer struct {
	network *memnet.Network
	mu      sync.Mutex
	answers []string
	wait    time.Duration // before each answer
	idle    time.Duration // closes a connection that idles for as long; 0: never
	seen    []asked
	conns   int
	wrap    func(net.Conn) net.Conn // TLS; nil: plain
	ended   chan struct{}           // by the test's end
}

// newPeer serves until the test ends.
func newPeer(t *testing.T, answers ...string) *peer {
	t.Helper()
	p := &peer{network: memnet.New(), answers: answers, ended: make(chan struct{})}
	t.Cleanup(func() {
		close(p.ended)
		_ = p.network.Close()
	})
	go func() {
		for {
			c, err := p.network.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			p.conns++
			n := p.conns
			p.mu.Unlock()
			go p.serve(c, n)
		}
	}()
	return p
}

func (p *peer) serve(c net.Conn, n int) {
	defer func() { _ = c.Close() }()
	if p.wrap != nil {
		c = p.wrap(c)
	}
	r := bufio.NewReader(c)
	for {
		if p.idle > 0 {
			_ = c.SetReadDeadline(time.Now().Add(p.idle))
		}
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		_ = req.Body.Close()
		answer := p.note(asked{req, time.Now(), n})
		select {
		case <-time.After(p.wait):
		case <-p.ended:
			return
		}
		if _, err := io.WriteString(c, answer); err != nil || answer == "" || strings.Contains(answer, "Connection: close") {
			return
		}
	}
}

func (p *peer) note(a asked) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, a)
	return p.answers[min(len(p.seen), len(p.answers))-1]
}

func (p *peer) requests() []asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seen)
}

// answer spells out an answer with a small body.
func answer(status int, headers ...string) string {
	head := append([]string{fmt.Sprintf("HTTP/1.1 %d %s", status, http.StatusText(status)), "Content-Length: 2"}, headers...)
	return strings.Join(head, "\r\n") + "\r\n\r\n{}"
}

// newSpec is a probe of api.example, which every peer is.
func newSpec(t *testing.T, kind Kind, address string, expectations ...string) *Spec {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	set, err := expect.Compile(expectations)
	if err != nil {
		t.Fatal(err)
	}
	return &Spec{
		Target: "api", Probe: "p", Kind: kind, Method: http.MethodGet, URL: u, MaxBody: 1 << 20, Expect: set,
		Timeouts: Timeouts{DNS: time.Second, Connect: time.Second, TLS: time.Second, Response: 5 * time.Second},
	}
}

const api = "http://192.0.2.1/v1"

// env is what the probes of these tests get; its slots are a *desk.
func newEnv(p *peer, d *desk) Env {
	env := Env{
		UserAgent: "perch/1.2 (tests)", IDs: NewIDs(7), Slots: d, Log: slog.New(slog.DiscardHandler),
		Secrets:  func(Source) (Secret, error) { return Secret{}, fmt.Errorf("no secret here") },
		ReadFile: func(name string) ([]byte, error) { return nil, fmt.Errorf("open %s: no such file", name) },
	}
	if p != nil {
		env.Dial = p.network.Dial
	}
	return env
}

// desk is a budget that lets everything out, writes down what it was asked,
// and does at each stage what a test wants of it. The stages are "dial warm",
// "send warm", "hold", "together" and so on.
type desk struct {
	t     *testing.T
	at    func(stage string) error // nil: let all pass
	room  func(reuse time.Time) bool
	mu    sync.Mutex
	calls []string
	open  int
	peak  int
}

func (d *desk) stage(name string) error {
	d.mu.Lock()
	d.calls = append(d.calls, name)
	d.mu.Unlock()
	if d.at == nil {
		return nil
	}
	return d.at(name)
}

func (d *desk) Send(ctx context.Context, role Role) error {
	if err := d.stage("send " + string(role)); err != nil {
		return err
	}
	return ctx.Err()
}

func (d *desk) HoldUntil(reuse time.Time) bool {
	if d.stage("hold") != nil {
		return false
	}
	return d.room == nil || d.room(reuse)
}

func (d *desk) Together(ctx context.Context) error {
	if err := d.stage("together"); err != nil {
		return err
	}
	return ctx.Err()
}

func (d *desk) Dial(_ context.Context, role Role) (func(), error) {
	if err := d.stage("dial " + string(role)); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open++
	d.peak = max(d.peak, d.open)
	released := false
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if released {
			d.t.Error("a connection's token was given back twice")
		}
		released = true
		d.open--
		d.calls = append(d.calls, "release")
	}, nil
}

func (d *desk) asked() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls)
}

// settled checks that no connection is open any more.
func (d *desk) settled(t *testing.T) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open != 0 {
		t.Errorf("%d connections' tokens were kept, after %q", d.open, d.calls)
	}
}

// watcher keeps a probe's events.
type watcher struct {
	mu     sync.Mutex
	events []Event
}

func (w *watcher) watch(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

func (w *watcher) kinds() []EventKind {
	w.mu.Lock()
	defer w.mu.Unlock()
	var kinds []EventKind
	for _, e := range w.events {
		kinds = append(kinds, e.What)
	}
	return kinds
}

// reasons are those of an observation's attempts.
func reasons(o Observation) []Reason {
	var all []Reason
	for _, a := range o.Attempts {
		all = append(all, a.Reason)
	}
	return all
}
