package probes_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/lab"
	"perch.example/plan"
	"perch.example/probes"
)

// printed is a target at which a print is taken, of a large budget.
func printed(t *testing.T, raw string) probes.Target {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return probes.Target{Name: "api", URL: u, RateLimit: 1000, Share: 1, MaxConnections: 1}
}

// labPrint is a lab's server that counts requests.
func labPrint(t *testing.T, scenario string) (*lab.Server, probes.Target, func() int) {
	t.Helper()
	var mu sync.Mutex
	requests := 0
	s, err := lab.Start(t.Context(), scenario, lab.Options{TLS: true, OnRequest: func(lab.Request) {
		mu.Lock()
		defer mu.Unlock()
		requests++
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	target := printed(t, s.URL())
	target.Probes = []probes.Spec{{URL: target.URL, TLS: probes.TLS{CAFile: "ca.pem"}}}
	return s, target, func() int {
		mu.Lock()
		defer mu.Unlock()
		return requests
	}
}

func reads(s *lab.Server) func(string) ([]byte, error) {
	return func(string) ([]byte, error) { return s.CA(), nil }
}

// TestPrintOfALab: addresses, times, certificate; and no request is sent.
func TestPrintOfALab(t *testing.T) {
	s, target, requests := labPrint(t, "healthy")
	p := probes.TakePrint(t.Context(), target, probes.Network{}, probes.PrintEnv{ReadFile: reads(s)})
	if p.Target != "api" || p.Scheme != "https" || p.Host != "127.0.0.1" || p.Port != target.URL.Port() || len(p.Connections) != 1 {
		t.Fatalf("%+v", p)
	}
	c := p.Connections[0]
	if !c.Reached() || c.Connect.Times < 3 || c.Connect.Least <= 0 || c.Connect.Median < c.Connect.Least || c.Handshake.Times != c.Connect.Times {
		t.Errorf("%+v", c)
	}
	if c.Source != netip.MustParseAddr("127.0.0.1") || c.TLS == nil {
		t.Fatalf("%+v", c)
	}
	tls := c.TLS
	if tls.Version != "1.3" || tls.ALPN != "http/1.1" || tls.Authority != "perch lab authority" || tls.TrustedBy != "ca_file" || tls.NotTrusted != "" ||
		len(tls.SHA256) != 64 || len(tls.NamesSHA256) != 64 || tls.NotAfter.Before(time.Now()) {
		t.Errorf("%+v", *tls)
	}
	if n := requests(); n != 0 {
		t.Errorf("%d requests were sent, want none", n)
	}
}

// TestPrintShowsWhatIsNotTrusted, for that is what something that opens TLS has.
func TestPrintShowsWhatIsNotTrusted(t *testing.T) {
	for scenario, why := range map[string]string{
		"certificate_unknown": "unknown authority", "certificate": "expired", "certificate_wrong_host": "192.0.2.1",
	} {
		s, target, _ := labPrint(t, scenario)
		p := probes.TakePrint(t.Context(), target, probes.Network{}, probes.PrintEnv{ReadFile: reads(s)})
		c := p.Connections[0]
		if !c.Reached() || c.TLS == nil || c.TLS.TrustedBy != "" || !strings.Contains(c.TLS.NotTrusted, why) {
			t.Errorf("%s: %+v %+v, want it shown, and not trusted for %q", scenario, c, c.TLS, why)
		}
	}
}

func TestPrintSaysWhatFailed(t *testing.T) {
	s, target, _ := labPrint(t, "tls")
	p := probes.TakePrint(t.Context(), target, probes.Network{}, probes.PrintEnv{ReadFile: reads(s)})
	if c := p.Connections[0]; c.Reached() || c.Problem == "" || c.Connect.Times != 1 || c.TCPEnds != "" {
		t.Errorf("a handshake that fails: %+v", c)
	}
	named := printed(t, "https://api.example")
	p = probes.TakePrint(t.Context(), named, probes.Network{}, probes.PrintEnv{
		Resolve: func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("no such host") },
	})
	if want := `resolving "api.example": no such host`; p.Problem != want || len(p.Connections) != 0 {
		t.Errorf("problem %q, want %q", p.Problem, want)
	}
	named.Probes = []probes.Spec{{URL: named.URL, TLS: probes.TLS{CAFile: "ca.pem"}}}
	p = probes.TakePrint(t.Context(), named, probes.Network{}, probes.PrintEnv{
		ReadFile: func(string) ([]byte, error) { return nil, errors.New("gone") },
	})
	if want := "reading tls.ca_file: gone"; p.Problem != want {
		t.Errorf("problem %q, want %q", p.Problem, want)
	}
}

// TestPrintKeepsNoSecretOfAURL: user, path and query are none of a path's.
func TestPrintKeepsNoSecretOfAURL(t *testing.T) {
	target := printed(t, "http://user:s3cret@192.0.2.1:81/s3cret?key=s3cret#s3cret")
	refuse := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("refused") }
	p := probes.TakePrint(t.Context(), target, probes.Network{Proxy: &probes.ProxyEnv{HTTP: "http://p:1"}}, probes.PrintEnv{Dial: refuse})
	if text := told(t, p); strings.Contains(text, "s3cret") || !strings.Contains(text, "192.0.2.1") || p.Proxy != "http://p:1" {
		t.Error(text)
	}
}

// TestPrintWaitsForNobody: where no address can be reached a second look is not
// waited for, and beside one that can the others are not.
func TestPrintWaitsForNobody(t *testing.T) {
	const a, b = "192.0.2.200:80", "192.0.2.199:80"
	for _, tt := range []struct {
		reached string
		opened  []string
		took    time.Duration
	}{
		{"", []string{a, b}, 1100 * time.Millisecond},
		{b, []string{a, b, b, b}, 3300 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			var d dials
			target := printed(t, "http://api.example")
			target.RateLimit = 1
			began := time.Now()
			probes.TakePrint(t.Context(), target, probes.Network{}, probes.PrintEnv{Resolve: many(2), Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, _ := d.dial(ctx, network, address)
				if address != tt.reached {
					return nil, errors.New("refused")
				}
				return conn, nil
			}})
			if took := time.Since(began); took != tt.took || !slices.Equal(d.to, tt.opened) {
				t.Errorf("%q is reached: %q in %s, want %q in %s", tt.reached, d.to, took, tt.opened, tt.took)
			}
		})
	}
}

// dials is a network that takes every connection, and keeps when it was asked for
// which.
type dials struct {
	mu    sync.Mutex
	times []time.Time
	to    []string
}

func (d *dials) dial(_ context.Context, _, address string) (net.Conn, error) {
	near, far := net.Pipe()
	_ = far.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.times, d.to = append(d.times, time.Now()), append(d.to, address)
	return near, nil
}

func many(n int) func(context.Context, string) ([]netip.Addr, error) {
	return func(context.Context, string) (all []netip.Addr, _ error) {
		for i := range n {
			all = append(all, netip.AddrFrom4([4]byte{192, 0, 2, byte(200 - i)}))
		}
		return append(all, all...), nil // a resolver may say a thing twice
	}
}

// TestPrintKeepsTheBudget: in no window more connections than requests might
// leave, each address once before any again, and no more time than is fit.
func TestPrintKeepsTheBudget(t *testing.T) {
	for _, tt := range []struct {
		rate              probes.Rate
		addresses, opened int
		untried           int
	}{
		{1, 1, 3, 0}, {1, 4, 12, 0}, {1, 20, 24, 0}, {0.5, 8, 8, 0}, {0.5, 4, 12, 0}, {0.1, 8, 3, 5}, {0.0001, 2, 1, 1}, {100, 3, 9, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var d dials
			target := printed(t, "http://api.example")
			target.RateLimit = tt.rate
			began := time.Now()
			p := probes.TakePrint(t.Context(), target, probes.Network{}, probes.PrintEnv{Dial: d.dial, Resolve: many(tt.addresses)})
			untried := 0
			for _, c := range p.Connections {
				if c.Untried {
					untried++
				}
			}
			if len(d.times) != tt.opened || untried != tt.untried {
				t.Errorf("%v/s, %d addresses: %d opened, %d untried, want %d and %d", tt.rate, tt.addresses, len(d.times), untried, tt.opened, tt.untried)
			}
			if took := time.Since(began); took > 31*time.Second {
				t.Errorf("%v/s, %d addresses: it took %v", tt.rate, tt.addresses, took)
			}
			cal := plan.NewCalendar(target.Budget())
			for i := cal.Allowed(); i < len(d.times); i++ {
				if apart := d.times[i].Sub(d.times[i-cal.Allowed()]); apart <= cal.Window() {
					t.Errorf("%v/s: %d connections in %v, the window is %v", tt.rate, cal.Allowed()+1, apart, cal.Window())
				}
			}
			round := min(len(p.Connections), len(d.to))
			if first := slices.Compact(slices.Sorted(slices.Values(d.to[:round]))); len(first) != round {
				t.Errorf("not each address once before any again: %v", d.to)
			}
			if len(p.Addresses) != tt.addresses || !slices.IsSortedFunc(p.Addresses, netip.Addr.Compare) || len(p.Connections) != min(tt.addresses, 8) {
				t.Errorf("%v, %d connections", p.Addresses, len(p.Connections))
			}
		})
	}
}

// TestPrintEndsWithItsContext: what was not reached in time is untried.
func TestPrintEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d dials
		target := printed(t, "http://api.example")
		target.RateLimit = 1
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		p := probes.TakePrint(ctx, target, probes.Network{}, probes.PrintEnv{Dial: d.dial, Resolve: many(3)})
		if c := p.Connections; !c[0].Reached() || !c[1].Reached() || c[2].Reached() || !c[2].Untried {
			t.Errorf("%+v", c)
		}
	})
}

// TestPrintSeesWhereTCPEnds: something near answers for what is far.
func TestPrintSeesWhereTCPEnds(t *testing.T) {
	s, target, _ := labPrint(t, "healthy")
	port := relay(t, target.URL.Host, 15*time.Millisecond)
	target.URL.Host = net.JoinHostPort("127.0.0.1", port)
	p := probes.TakePrint(t.Context(), target, probes.Network{}, probes.PrintEnv{ReadFile: reads(s)})
	c := p.Connections[0]
	if c.RTT == 0 { // no kernel to ask: nothing can be told
		if c.TCPEnds != probes.TCPEndsUnknown {
			t.Errorf("%+v", c)
		}
		return
	}
	if c.Connect.Times != 12 { // it was doubted, and nothing disproved it
		t.Errorf("%d connections, want 12", c.Connect.Times)
	}
	if c.TCPEnds != probes.TCPEndsBeforePeer || time.Duration(c.Hello) < 15*time.Millisecond {
		t.Errorf("%+v, want an end before the peer", c)
	}
}

// relay ends TCP near by and passes what comes on late.
func relay(t *testing.T, to string, delay time.Duration) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); running.Wait() })
	running.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			pass := func(to, from net.Conn) {
				defer func() { _ = to.Close(); _ = from.Close() }()
				buffer := make([]byte, 16<<10)
				for {
					n, err := from.Read(buffer)
					time.Sleep(delay) // the way itself
					if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
						return
					}
				}
			}
			running.Go(func() { pass(far, near) })
			running.Go(func() { pass(near, far) })
		}
	})
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

func told(t *testing.T, p probes.PathPrint) string {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
