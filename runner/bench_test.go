package runner

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/internal/memnet"
	"perch.example/plan"
	"perch.example/probes"
	"perch.example/probes/expect"
)

// A thousand steps of a kind that no probe plays: what the runner itself
// costs (admission, slots, goroutine, report), without a wait.
func BenchmarkRunner1000Steps(b *testing.B) { benchmarkSteps(b, "none") }

// A thousand exchanges through an in-memory network, each at the gate.
func BenchmarkRunner1000Exchanges(b *testing.B) { benchmarkSteps(b, probes.KindHTTP) }

func benchmarkSteps(b *testing.B, kind probes.Kind) {
	network := memnet.New()
	defer func() { _ = network.Close() }()
	go serve(network)
	target := crowd(kind, 1000)
	p, err := plan.New(config.Config{Name: "bench", Targets: []probes.Target{target}}, plan.Options{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	for i := range p.Steps {
		p.Steps[i].Start = 0 // at once: the budget has room for all
	}
	b.ReportAllocs()
	for b.Loop() {
		w := &wave{runner: New(Options{}), done: make(chan probes.Observation, 64), secrets: newSecretCache(nil)}
		w.env = probes.Env{Dial: network.Dial, UserAgent: "perch/bench", IDs: probes.NewIDs(1), Log: slog.New(slog.DiscardHandler)}
		budget := newBudget(target, p.Calendar(target.Name), target.DailyLimit, time.Now())
		w.shares = map[string]share{target.Name: {budget, budget.enter()}}
		for _, s := range p.Steps {
			w.book(s, 0, false)
		}
		go w.startAll(context.Background())
		for range p.Steps {
			if o := <-w.done; kind == probes.KindHTTP && (len(o.Attempts) != 1 || !o.Attempts[0].OK()) {
				b.Fatalf("%+v", o)
			}
		}
	}
}

// crowd is a target that may be asked a million times a second.
func crowd(kind probes.Kind, n int) probes.Target {
	u := &url.URL{Scheme: "http", Host: "192.0.2.1", Path: "/"}
	all, _ := expect.Compile(nil)
	t := probes.Target{Name: "api", URL: u, RateLimit: 1e6, Share: 1, DailyLimit: 1 << 30, MaxConnections: n}
	for range n {
		t.Probes = append(t.Probes, probes.Spec{
			Target: t.Name, Probe: "p", Kind: kind, Method: http.MethodGet, URL: u, Expect: all, MaxBody: 1 << 20,
			Timeouts: probes.Timeouts{Connect: time.Minute, Response: time.Minute},
		})
	}
	return t
}

func serve(network *memnet.Network) {
	for {
		c, err := network.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = c.Close() }()
			if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		}()
	}
}
