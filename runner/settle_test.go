package runner_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/probes"
	"perch.example/runner"
)

const (
	settle     = 10 * time.Second
	settlePace = time.Second
)

// outage lets a site's dials fail while down says so, and writes down when they
// did.
type outage struct {
	site *site
	down func(since time.Duration, address string) error

	mu     sync.Mutex
	began  time.Time
	failed []time.Time
}

// newOutage begins now.
func newOutage(s *site, down func(time.Duration, string) error) *outage {
	return &outage{site: s, down: down, began: time.Now()}
}

func (o *outage) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if err := o.down(time.Since(o.began), address); err != nil {
		o.mu.Lock()
		o.failed = append(o.failed, time.Now())
		o.mu.Unlock()
		return nil, err
	}
	return o.site.dial(ctx, network, address)
}

func (o *outage) during(r *runner.Options) { r.Dial, r.Settle = o.dial, settle }

// refusedFor is a network that comes up after a while.
func refusedFor(d time.Duration) func(time.Duration, string) error {
	return func(since time.Duration, _ string) error {
		if since < d {
			return syscall.ECONNREFUSED
		}
		return nil
	}
}

// TestSettle: what cannot be opened is tried about once a second until it opens,
// and only what failed at the end of settle counts.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		name     string
		down     time.Duration
		settle   time.Duration
		reason   probes.Reason
		settled  int
		after    time.Duration
		finished time.Duration // of the step, but for the answer
	}{
		{"it is up", 0, settle, probes.ReasonOK, 0, 0, 300 * time.Millisecond},
		{"up in time for the second try", time.Second, settle, probes.ReasonOK, 1, 0, 1300 * time.Millisecond},
		{"up after 3.3 s", 3300 * time.Millisecond, settle, probes.ReasonOK, 4, 3 * time.Second, 4300 * time.Millisecond},
		{"up at the end", settle, settle, probes.ReasonOK, 10, 9 * time.Second, 10300 * time.Millisecond},
		{"up too late", settle + 1, settle, probes.ReasonRefused, 10, 9 * time.Second, 10 * time.Second},
		{"never up", time.Hour, settle, probes.ReasonRefused, 10, 9 * time.Second, 10 * time.Second},
		{"between two tries", time.Hour, 1500 * time.Millisecond, probes.ReasonRefused, 2, time.Second, 1500 * time.Millisecond},
		{"settle: none", time.Hour, 0, probes.ReasonRefused, 0, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := newOutage(newSite(t, nil), refusedFor(c.down))
			out := play(t, t.Context(), o.site, func(r *runner.Options) { o.during(r); r.Settle = c.settle }, newTarget("api", 1, 1, newProbe(probes.KindHTTP)))
			seen := out.all[0]
			if len(seen.Attempts) != 1 || lastReason(seen) != c.reason || seen.Cut != "" {
				t.Errorf("%s: %+v", c.name, seen)
			}
			if took := seen.Ended.Sub(o.began); took != c.finished {
				t.Errorf("%s: ended after %s, want %s", c.name, took, c.finished)
			}
			var want []probes.Settled
			if c.settled > 0 {
				want = []probes.Settled{{Target: "api", Times: c.settled, Reason: probes.ReasonRefused, After: c.after}}
			}
			if !slices.Equal(out.result.Settled, want) {
				t.Errorf("%s: settled %+v, want %+v", c.name, out.result.Settled, want)
			}
			if use := out.use(t, "api"); use.Waited != 0 || use.Denied != 0 {
				t.Errorf("%s: %+v", c.name, use)
			}
		})
	}
}

// TestWhatSettles: names that do not resolve, and every way in which a
// connection cannot be made; nothing that comes after it is open.
func TestWhatSettles(t *testing.T) {
	timeout := &net.OpError{Op: "dial", Err: &timedOut{}}
	for name, c := range map[string]struct {
		dial, resolve error
		answer        int
		want          probes.Reason // told as settled; empty: it counted at once
	}{
		"dns":             {resolve: errors.New("server misbehaving"), want: probes.ReasonDNS},
		"refused":         {dial: syscall.ECONNREFUSED, want: probes.ReasonRefused},
		"connect timeout": {dial: timeout, want: probes.ReasonConnectTimeout},
		"no route":        {dial: syscall.EHOSTUNREACH, want: probes.ReasonConnectFailed},
		"an answer":       {answer: http.StatusServiceUnavailable},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, func(n int, _ hit, w http.ResponseWriter) {
				if n == 0 && c.answer != 0 {
					w.WriteHeader(c.answer)
				}
			})
			o := newOutage(s, func(since time.Duration, _ string) error {
				if since < 2*time.Second {
					return c.dial
				}
				return nil
			})
			target := newTarget("api", 1, 1, newProbe(probes.KindHTTP))
			target.Probes[0].URL.Host = "api.example"
			out := play(t, t.Context(), s, func(r *runner.Options) {
				o.during(r)
				r.Resolve = func(context.Context, string) ([]netip.Addr, error) {
					if time.Since(o.began) < 2*time.Second && c.resolve != nil {
						return nil, c.resolve
					}
					return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
				}
			}, target)
			told := probes.Reason("")
			if len(out.result.Settled) > 0 {
				told = out.result.Settled[0].Reason
			}
			want := probes.ReasonOK
			if c.answer != 0 {
				want = probes.ReasonUnavailable
			}
			if told != c.want || lastReason(out.all[0]) != want || len(out.all[0].Attempts) != 1 {
				t.Errorf("%s: settled %q, want %q; %+v", name, told, c.want, out.all[0].Attempts)
			}
		})
	}
}

type timedOut struct{}

func (*timedOut) Error() string   { return "i/o timeout" }
func (*timedOut) Timeout() bool   { return true }
func (*timedOut) Temporary() bool { return true }

// TestTLSDoesNotSettle: a handshake that fails began on an open connection.
func TestTLSDoesNotSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil) // speaks no TLS
		target := newTarget("api", 1, 1, newProbe(probes.KindHTTP))
		target.Probes[0].URL.Scheme = "https"
		out := play(t, t.Context(), s, func(r *runner.Options) { r.Settle = settle }, target)
		if lastReason(out.all[0]) != probes.ReasonTLS || len(out.result.Settled) != 0 || out.took > 5*time.Second {
			t.Errorf("after %s: %+v, settled %+v", out.took, out.all[0], out.result.Settled)
		}
	})
}

// TestSettleIsATargetsOwn: what one target waits for moves nothing of another.
func TestSettleIsATargetsOwn(t *testing.T) {
	left := func(t *testing.T, down time.Duration) (one, other []time.Duration) {
		o := newOutage(newSite(t, nil), func(since time.Duration, address string) error {
			if strings.HasPrefix(address, "192.0.2.2:") {
				return refusedFor(down)(since, address)
			}
			return nil
		})
		out := play(t, t.Context(), o.site, o.during, newTarget("up", 1, 2, exchanges(6)...), newTarget("down", 2, 2, exchanges(6)...))
		if n := told(out.all)[""]; n != 12 || down > 0 && (len(out.result.Settled) != 1 || out.result.Settled[0].Target != "down") {
			t.Errorf("%v, settled %+v", told(out.all), out.result.Settled)
		}
		for _, h := range o.site.to("192.0.2.1") {
			one = append(one, h.at.Sub(o.began))
		}
		for _, h := range o.site.to("192.0.2.2") {
			other = append(other, h.at.Sub(o.began))
		}
		return one, other
	}
	synctest.Test(t, func(t *testing.T) {
		up, down := left(t, 0)
		upToo, later := left(t, 3*time.Second)
		if !slices.Equal(up, upToo) {
			t.Errorf("the target that was up: %v, and %v beside one that settles", up, upToo)
		}
		for i := range down {
			if moved := later[i] - down[i]; moved != 3*time.Second {
				t.Errorf("request %d of the one that settled left %s later", i, moved)
			}
		}
	})
}

// TestSettledTriesBreakNothing: after settle is over the failures count as
// usual, and those before it do not.
func TestSettledTriesBreakNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(newSite(t, nil), refusedFor(time.Hour))
		out := play(t, t.Context(), o.site, o.during, newTarget("api", 1, 20, exchanges(12)...))
		counts := told(out.all)
		if counts[""] != 3 || counts["skipped: left alone for the rest of this run after 3 failed fresh exchanges in a row"] != 9 {
			t.Errorf("%v", counts)
		}
		if s := out.result.Settled; len(s) != 1 || s[0].Times != len(o.failed)-3 {
			t.Errorf("%d dials failed, settled %+v", len(o.failed), s)
		}
	})
}

// TestSettleEndsWithTheRun: at once, and as what it is.
func TestSettleEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 3456*time.Millisecond, errors.New("the deadline"))
		defer cancel()
		o := newOutage(newSite(t, nil), refusedFor(time.Hour))
		out := play(t, ctx, o.site, o.during, newTarget("api", 1, 2, append(exchanges(5), newProbe(probes.KindIdle, time.Minute))...))
		if out.took != 3456*time.Millisecond || out.result.CutShort != "the deadline" {
			t.Errorf("ended after %s: %q", out.took, out.result.CutShort)
		}
		for _, seen := range out.all {
			if seen.Cut != probes.CutCanceled || len(seen.Attempts) != 0 {
				t.Errorf("%+v", seen)
			}
		}
	})
}

// TestControlSettles: a control that cannot be opened in the first seconds would
// make a dead connection a dead service.
func TestControlSettles(t *testing.T) {
	for _, c := range []struct {
		name string
		down func(since time.Duration) bool
		want []probes.Reason
	}{
		{"down for a while", func(d time.Duration) bool { return d > time.Second && d < 4*time.Second }, []probes.Reason{"ok", "unavailable", "ok"}},
		{"down for good", func(d time.Duration) bool { return d > time.Second }, []probes.Reason{"ok", "unavailable", "refused"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, func(_ int, h hit, w http.ResponseWriter) {
				if h.served > 0 {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			})
			o := newOutage(s, func(since time.Duration, _ string) error {
				if c.down(since) {
					return syscall.ECONNREFUSED
				}
				return nil
			})
			out := play(t, t.Context(), s, o.during, newTarget("api", 1, 2, newProbe(probes.KindIdle, 1500*time.Millisecond)))
			var got []probes.Reason
			for _, a := range out.all[0].Attempts {
				got = append(got, a.Reason)
			}
			if !slices.Equal(got, c.want) || out.use(t, "api").Waited != 0 {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
			if n := busiest(o.failed, settlePace); n > 2 { // the last is at the end of settle
				t.Errorf("%s: %d dials within a second", c.name, n)
			}
		})
	}
}

// TestSecondTrySettles: perch's own second try is one on an open connection.
func TestSecondTrySettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(n int, _ hit, w http.ResponseWriter) {
			if n == 0 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		o := newOutage(s, func(since time.Duration, _ string) error {
			if since > 300*time.Millisecond && since < 3*time.Second {
				return syscall.ECONNREFUSED
			}
			return nil
		})
		p := newProbe(probes.KindHTTP)
		p.Retry = probes.Retry{Attempts: 2, Backoff: 200 * time.Millisecond}
		out := play(t, t.Context(), s, o.during, newTarget("api", 1, 2, p))
		if a := out.all[0].Attempts; len(a) != 2 || !a[1].OK() || out.result.Settled[0].Times != len(o.failed) || len(o.failed) != 3 {
			t.Errorf("%+v, settled %+v", a, out.result.Settled)
		}
		if use := out.use(t, "api"); use.Waited != 0 || use.Denied != 0 || use.Requests != 2 {
			t.Errorf("%+v", use)
		}
	})
}

// TestSettleOnLoopback: a real listener that appears after a second.
func TestSettleOnLoopback(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := taken.Addr().String()
	_ = taken.Close() // refused from here on
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	defer func() { _ = server.Close() }()
	listening := make(chan error, 1)
	time.AfterFunc(time.Second, func() {
		l, err := net.Listen("tcp", address)
		listening <- err
		if err == nil {
			_ = server.Serve(l)
		}
	})
	target := newTarget("api", 1, 20, newProbe(probes.KindHTTP), newProbe(probes.KindIdle, 200*time.Millisecond))
	target.URL.Host = address
	var all []probes.Observation
	res := runner.Run(t.Context(), newPlan(t, 1, target), runner.Options{Targets: []probes.Target{target}, Settle: 8 * time.Second},
		func(o probes.Observation) { all = append(all, o) })
	if err := <-listening; err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if !o.Attempts[0].OK() || o.Cut != "" {
			t.Errorf("%+v", o)
		}
	}
	if len(res.Settled) != 1 || res.Settled[0].Reason != probes.ReasonRefused || res.Settled[0].After > 3*time.Second {
		t.Errorf("settled %+v", res.Settled)
	}
}
