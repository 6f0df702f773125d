package clients

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"perch.example/probes"
)

// loadAll reads every document.
func loadAll(raw []byte) ([]Client, []wrapper, error) {
	l := newLoader(raw)
	wrappers, err := l.wrappers()
	problems := []error{err}
	if len(wrappers) != len(l.layers) && err == nil || len(l.kinds) != max(0, len(l.parts)-2) {
		problems = append(problems, fmt.Errorf("listed: %q and %q", l.layers, l.kinds))
	}
	for i, w := range wrappers {
		if i < len(l.layers) && w.kind != l.layers[i] {
			problems = append(problems, fmt.Errorf("%q is listed as %q", w.kind, l.layers[i]))
		}
	}
	var all []Client
	for i, kind := range l.kinds {
		c, err := l.client(i)
		if err == nil && c.Kind != kind {
			err = fmt.Errorf("%q is listed as %q", c.Kind, kind)
		}
		all, problems = append(all, c), append(problems, err)
	}
	return all, wrappers, errors.Join(problems...)
}

// TestTheCatalogLoads is what lets the loader panic at run time.
func TestTheCatalogLoads(t *testing.T) {
	all, wrappers, err := loadAll(catalogYAML)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 15 || len(wrappers) != 4 {
		t.Errorf("%d clients and %d wrappers", len(all), len(wrappers))
	}
}

// TestEveryReasonOfHTTP1IsAnEvent: what the catalog can say nothing about is
// HTTP/2, perch's own, and what is wrong only for the one who expected more.
func TestEveryReasonOfHTTP1IsAnEvent(t *testing.T) {
	silent := map[probes.Reason]bool{
		"canceled": true, "skipped": true, "internal": true, "ok": true, "no_keep_alive": true,
		"too_large": true, "redirected": true, "status": true, "slow": true, "expectation": true,
	}
	seen := map[Event]bool{}
	for _, r := range probes.Reasons() {
		event := eventOf(r)
		if (event == "") != silent[r] {
			t.Errorf("%s is the event %q", r, event)
		}
		seen[event] = true
	}
	for _, e := range append(Events(), H2Events()...) {
		if !seen[e] {
			t.Errorf("no reason shows %q", e)
		}
	}
}

// TestLoadRefuses: each slip of a newcomer's pen, by what is said about it.
func TestLoadRefuses(t *testing.T) {
	const good = `
wrappers:
  - kind: w
    name: W
    around: [c]
    network: N
    body: N
    4xx: N
    5xx: N
    hierarchies: [h]
    source: D
---
hierarchies: {h: {E: [F]}}
outcomes: {o: {error: E}}
---
kind: c
name: C
language: L
verb: v
idle: {limit: 5s, margin: 1s, source: D}
looks: {from: always, how: x, source: M}
pool: {order: lifo, source: D}
retries: {does: none, source: D}
facts: {no answer: {get: notices, post: o, source: M}}
hierarchies: [h]
`
	if _, _, err := loadAll([]byte(good)); err != nil {
		t.Fatalf("the good one: %v", err)
	}
	if _, _, err := loadAll(nil); err == nil || !strings.Contains(err.Error(), "set apart by ---; got 1 documents") {
		t.Errorf("an empty file: %v", err)
	}
	for _, tt := range []struct{ from, to, want string }{
		{"name: C", "nam: C", "field nam not found"},
		{"name: C", "name: ''", `client "c": want kind, name`},
		{"network: N", "network: ''", `wrapper "w": want kind`},
		{"around: [c]", "around: [d]", "around d, which is no client"},
		{"no answer:", "no anser:", "no such event"},
		{"facts:", "http2: {\"401\": {all: o, source: M}}\nfacts:", "http2, 401: no such event"},
		{"get: notices, post: o", "get: notices", "want all, or get and post"},
		{"get: notices, post: o", "all: o, get: notices, post: o", "want all, or get and post"},
		{"get: notices, post: o", "all: p", `want notices, retries or one of the outcomes, got "p"`},
		{"o: {error: E}", "o: {error: E, returns: y}", "outcome o wants an error"},
		{"o: {error: E}", "o: {text: y}", "outcome o wants an error"},
		{"post: o, source: M", "post: o, source: X", `no answer: want source M or D, got "X"`},
		{"post: o, source: M", "post: o", `no answer: want source M or D, got ""`},
		{"    source: D", "    source: ''", `w: want source M or D, got ""`},
		{"limit: 5s", "limit: 5", `c: idle: want none, never, always or a duration such as 2s, got "5"`},
		{"pool: {order: lifo, source: D}", "pool: {order: random, source: D}", `c: pool: want order ["lifo" "fifo" "oldest"], got "random"`},
		{"margin: 1s", "margin: -1s", `c: idle.margin: want none`},
		{"    hierarchies: [h]", "    hierarchies: [i]", `w: no hierarchy is called "i"`},
	} {
		if !strings.Contains(good, tt.from) {
			t.Fatalf("%q is not in the good one", tt.from)
		}
		_, _, err := loadAll([]byte(strings.Replace(good, tt.from, tt.to, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.to, err, tt.want)
		}
	}
}

// BenchmarkLoad is what the catalog costs: to a config that declares no
// client, to one that declares one, and to a report about all of them.
func BenchmarkLoad(b *testing.B) {
	for name, part := range map[string]func(loader) error{
		"kinds": func(loader) error { return nil },
		"one": func(l loader) error {
			_, first := l.wrappers()
			_, second := l.client(0)
			return errors.Join(first, second)
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := part(newLoader(catalogYAML)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := loadAll(catalogYAML); err != nil {
				b.Fatal(err)
			}
		}
	})
}
