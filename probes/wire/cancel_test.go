package wire_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// promptly is how soon after its context ended a call has to have returned:
// far below every timeout in these tests, far above what a busy machine needs.
const promptly = 2 * time.Second

// Each place that waits is left when the context ends.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, f := range flavors(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Run("answer", func(t *testing.T) { cancelExchange(t, f, (*peer).linger, 0) })
			t.Run("body", func(t *testing.T) {
				cancelExchange(t, f, func(p *peer) { p.request(); p.say(whole[:len(whole)-1]); p.linger() }, 0)
			})
			t.Run("write", func(t *testing.T) {
				cancelExchange(t, f, func(p *peer) { <-t.Context().Done() }, 16<<20)
			})
			t.Run("hold", func(t *testing.T) { cancelHold(t, f) })
		})
	}
}

func cancelExchange(t *testing.T, f flavor, script func(*peer), size int) {
	s := serve(t, f.server, script)
	c, _ := s.open(f.client)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := ask(t, time.Minute)
	r.HTTP.Header.Set("Large", strings.Repeat("x", size))
	began := time.Now()
	r.Gate = func(context.Context) error {
		began = time.Now()
		time.AfterFunc(30*time.Millisecond, cancel)
		return nil
	}
	_, e := c.Exchange(ctx, r)
	mustBe(t, e, probes.ReasonCanceled)
	if d := time.Since(began); d > promptly {
		t.Errorf("returned after %v", d)
	}
}

func cancelHold(t *testing.T, f flavor) {
	s := serve(t, f.server, func(p *peer) { p.warm(); p.linger() })
	c, _ := s.open(f.client)
	warmed(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	began := time.Now()
	h := c.Hold(ctx, time.Now().Add(time.Minute), false)
	if !h.Canceled || h.LateKnown || h.Close != nil {
		t.Errorf("held: %+v, want canceled", h)
	}
	if d := time.Since(began); d > promptly {
		t.Errorf("returned after %v", d)
	}
	// Another context's use is not touched by the one that ended.
	_, e := c.Exchange(t.Context(), ask(t, 50*time.Millisecond))
	mustBe(t, e, probes.ReasonNoResponse)
}

// A context that has ended before leaves nothing to send.
func TestCanceledBefore(t *testing.T) {
	s := serve(t, nil, func(p *peer) { p.linger() })
	c, _ := s.open(nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if h := c.Hold(ctx, time.Now().Add(time.Minute), false); !h.Canceled {
		t.Errorf("held: %+v, want canceled", h)
	}
	_, e := c.Exchange(ctx, ask(t, time.Minute))
	mustBe(t, e, probes.ReasonCanceled)
	if !e.Started.IsZero() {
		t.Errorf("something left at %v", e.Started)
	}
	if c, e := wire.Open(ctx, s.options(nil)); c != nil || probes.Classify(e) != probes.ReasonCanceled {
		t.Errorf("opened: %v, %s", c, probes.Classify(e))
	}
}

func TestCancelOpening(t *testing.T) {
	f := flavors(t)[1]
	silent := serve(t, nil, (*peer).linger)
	wait := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, change := range map[string]func(*wire.Options){
		"resolving": func(o *wire.Options) {
			o.Host = "api.test"
			o.Resolve = func(ctx context.Context, _ string) ([]netip.Addr, error) { return nil, wait(ctx) }
		},
		"connecting": func(o *wire.Options) {
			o.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return nil, wait(ctx) }
		},
		"shaking hands": func(o *wire.Options) { o.TLS = f.client },
	} {
		t.Run(name, func(t *testing.T) {
			o := silent.options(nil)
			o.DNS, o.Connect, o.Handshake = time.Minute, time.Minute, time.Minute
			change(&o)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			began := time.Now()
			c, e := wire.Open(ctx, o)
			mustBe(t, e, probes.ReasonCanceled)
			if d := time.Since(began); c != nil || d > promptly {
				t.Errorf("opened %v after %v", c != nil, d)
			}
		})
	}
}
