package probes

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// site is a name of many addresses, some of which refuse connections.
type site struct {
	mu      sync.Mutex
	addrs   []netip.Addr
	down    map[string]bool
	dialled []string
	asked   int
}

// newSite has the addresses 192.0.2.1 to 192.0.2.n, from the last to the first.
func newSite(n int, down ...string) *site {
	s := &site{down: map[string]bool{}}
	for i := n; i > 0; i-- {
		s.addrs = append(s.addrs, netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}))
	}
	for _, d := range down {
		s.down[d] = true
	}
	return s
}

func (s *site) resolve(context.Context, string) ([]netip.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if len(s.addrs) == 0 {
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	}
	return slices.Clone(s.addrs), nil
}

// moves gives the name other addresses.
func (s *site) moves(to ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addrs = nil
	for _, a := range to {
		s.addrs = append(s.addrs, netip.MustParseAddr(a))
	}
}

func (s *site) env(p *peer, d *desk) Env {
	env := newEnv(p, d)
	env.Resolve = s.resolve
	env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, _ := net.SplitHostPort(address)
		s.mu.Lock()
		s.dialled = append(s.dialled, host)
		down := s.down[host]
		s.mu.Unlock()
		if down {
			return nil, syscall.ECONNREFUSED
		}
		c, err := p.network.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return toward{c, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))}, nil
	}
	return env
}

// toward is a connection whose other end has an address.
type toward struct {
	net.Conn
	to net.Addr
}

func (c toward) RemoteAddr() net.Addr { return c.to }

func everyAddress(t *testing.T) *Spec {
	s := newSpec(t, KindHTTP, "http://api.example/v1")
	s.Way.Addresses = AddressesAll
	return s
}

// Each address has its own exchange, and the first to come changes from turn to
// turn; one that fails does not keep the others from theirs.
func TestEveryAddress(t *testing.T) {
	for turn, first := range []string{"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.1"} {
		synctest.Test(t, func(t *testing.T) {
			p, d, s := newPeer(t, answer(200)), &desk{t: t}, newSite(3, "192.0.2.2")
			env := s.env(p, d)
			env.Turn = uint64(turn)
			o := RunHTTP(t.Context(), everyAddress(t), env)
			if len(o.Attempts) != 3 || len(o.Unprobed) > 0 || o.Cut != "" || s.dialled[0] != first {
				t.Fatalf("turn %d: dialled %q: %+v", turn, s.dialled, o)
			}
			for _, a := range o.Attempts {
				want := ReasonOK
				if a.Address.String() == "192.0.2.2" {
					want = ReasonRefused
				}
				if a.Reason != want || want == ReasonOK && a.Remote.Addr() != a.Address {
					t.Errorf("turn %d: %s ended in %s at %s", turn, a.Address, a.Reason, a.Remote)
				}
			}
			if got := d.asked(); !slices.Contains(got, "dial warm") || strings.Count(fmt.Sprint(got), "dial again") != 2 {
				t.Errorf("the budget was asked for %q", got)
			}
			d.settled(t)
		})
	}
}

// A second try is of the address that failed.
func TestEveryAddressTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d, s := newPeer(t, answer(200)), &desk{t: t}, newSite(2, "192.0.2.1")
		spec := everyAddress(t)
		spec.Retry.Attempts = 2
		o := RunHTTP(t.Context(), spec, s.env(p, d))
		if got := fmt.Sprint(s.dialled); got != "[192.0.2.1 192.0.2.1 192.0.2.2]" || len(o.Attempts) != 3 {
			t.Errorf("dialled %s: %+v", got, o.Attempts)
		}
	})
}

// No more addresses than are booked, and no more than the budget has room for:
// what was not probed is told.
func TestEveryAddressWithinLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d, s := newPeer(t, answer(200)), &desk{t: t}, newSite(11)
		o := RunHTTP(t.Context(), everyAddress(t), s.env(p, d))
		if len(o.Attempts) != MaxAddresses || len(o.Unprobed) != 3 || o.Unprobed[0].String() != "192.0.2.9" {
			t.Errorf("%d attempts, not probed %v", len(o.Attempts), o.Unprobed)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		p, s := newPeer(t, answer(200)), newSite(4)
		again := 0
		d := &desk{t: t, at: func(stage string) error {
			if stage == "dial again" {
				if again++; again == 2 {
					return &Denied{Why: "no room"}
				}
			}
			return nil
		}}
		o := RunHTTP(t.Context(), everyAddress(t), s.env(p, d))
		if len(o.Attempts) != 2 || len(o.Unprobed) != 2 || o.Cut != "" || !strings.Contains(o.Attempts[1].Detail, "no exchange with 192.0.2.3: no room") {
			t.Errorf("not probed %v: %+v", o.Unprobed, o.Attempts)
		}
	})
}

// Addresses that fail, one after the other, are tried less: no second try after the
// first of them, and after three the others are left alone, and told.
func TestEveryAddressAfterFailures(t *testing.T) {
	for _, c := range []struct {
		down, dialled, unprobed string
	}{
		{"3 4 5 6 7 8", "1 2 3 3 4 5", "6 7 8"},
		{"2 4 6 8", "1 2 2 3 4 4 5 6 6 7 8 8", ""},
		{"1 2 3", "1 1 2 3", "4 5 6 7 8"},
		{"7 8", "1 2 3 4 5 6 7 7 8", ""},
		{"6 7 8", "1 2 3 4 5 6 6 7 8", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			var down []string
			for _, n := range strings.Fields(c.down) {
				down = append(down, "192.0.2."+n)
			}
			p, d, s := newPeer(t, answer(200)), &desk{t: t}, newSite(8, down...)
			spec := everyAddress(t)
			spec.Retry.Attempts = 2
			o := RunHTTP(t.Context(), spec, s.env(p, d))
			if got := strings.ReplaceAll(strings.Join(s.dialled, " "), "192.0.2.", ""); got != c.dialled {
				t.Errorf("%s down: dialled %s, want %s", c.down, got, c.dialled)
			}
			if got := strings.Trim(strings.ReplaceAll(fmt.Sprint(o.Unprobed), "192.0.2.", ""), "[]"); got != c.unprobed || o.Cut != "" {
				t.Errorf("%s down: left out %q, want %q", c.down, got, c.unprobed)
			}
			last := o.Attempts[len(o.Attempts)-1].Detail
			if strings.Contains(last, "3 addresses in a row failed") != (c.unprobed != "") {
				t.Errorf("%s down: %q", c.down, last)
			}
			d.settled(t)
		})
	}
}

// What the policy does not allow is left out; a name without an address fails as
// it does without addresses: all.
func TestEveryAddressThatMayBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d, s := newPeer(t, answer(200)), &desk{t: t}, newSite(3)
		env := s.env(p, d)
		env.Policy = &Policy{DeniedNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.2/32")}}
		o := RunHTTP(t.Context(), everyAddress(t), env)
		if got := fmt.Sprint(s.dialled); got != "[192.0.2.1 192.0.2.3]" || len(o.Attempts) != 2 {
			t.Errorf("dialled %s", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		p, d, s := newPeer(t, answer(200)), &desk{t: t}, newSite(0)
		o := RunHTTP(t.Context(), everyAddress(t), s.env(p, d))
		if got := reasons(o); !slices.Equal(got, []Reason{ReasonDNS}) {
			t.Errorf("%v", got)
		}
	})
}

func playSite(t *testing.T, spec *Spec, s *site, turn uint64, during func()) Observation {
	t.Helper()
	p, d := newPeer(t, answer(200)), &desk{t: t}
	d.room = func(time.Time) bool { during(); return true }
	env := s.env(p, d)
	env.Turn = turn
	done := make(chan Observation, 1)
	StartIdle(t.Context(), spec, time.Minute, env, func(o Observation) { done <- o })
	o := <-done
	d.settled(t)
	return o
}

// A ladder's rungs go round the addresses, one connection each.
func TestRungsTakeTurns(t *testing.T) {
	for turn, want := range []string{"192.0.2.1", "192.0.2.2", "192.0.2.1"} {
		synctest.Test(t, func(t *testing.T) {
			s, spec := newSite(2), everyAddress(t)
			spec.Kind = KindIdle
			o := playSite(t, spec, s, uint64(turn), func() {})
			if len(o.Attempts) != 2 || o.Attempts[1].Remote.Addr().String() != want || o.Attempts[0].Address.String() != want {
				t.Errorf("turn %d: %+v", turn, o.Attempts)
			}
		})
	}
}

// A connection that survives while its name moves on is told: the reuse is fine,
// and it is pinned. One whose address is still there is not.
func TestPinnedIP(t *testing.T) {
	for _, tt := range []struct {
		now  []string
		want string // empty: not pinned
	}{
		{[]string{"192.0.2.8", "192.0.2.7"}, "192.0.2.1, now [192.0.2.7 192.0.2.8]"},
		{[]string{"192.0.2.9", "192.0.2.1"}, ""},
		{nil, ""}, // the resolver says nothing
	} {
		synctest.Test(t, func(t *testing.T) {
			s, spec := newSite(1), newSpec(t, KindIdle, "http://api.example/v1")
			o := playSite(t, spec, s, 0, func() { s.moves(tt.now...) })
			reuse := o.Attempt(ConnectionReused)
			if reuse == nil || reuse.Reason != ReasonOK {
				t.Fatalf("%+v", o)
			}
			got := ""
			if pin := reuse.PinnedIP; pin != nil {
				got = fmt.Sprintf("%s, now %v", pin.Address, pin.Now)
			}
			if got != tt.want {
				t.Errorf("%v: pinned to %q, want %q", tt.now, got, tt.want)
			}
			if len(s.dialled) != 1 {
				t.Errorf("dialled %q: looking costs the API nothing", s.dialled)
			}
		})
	}
}

// An address is asked nothing of a resolver.
func TestPinnedIPOfAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(1)
		o := playSite(t, newSpec(t, KindIdle, api), s, 0, func() {})
		if s.asked != 0 || o.Attempt(ConnectionReused).PinnedIP != nil {
			t.Errorf("asked %d times: %+v", s.asked, o)
		}
	})
}

func TestInTurn(t *testing.T) {
	all := newSite(3).addrs
	all = append(all, all[0])
	for turn, want := range []string{"[192.0.2.1 192.0.2.2 192.0.2.3]", "[192.0.2.2 192.0.2.3 192.0.2.1]", "[192.0.2.3 192.0.2.1 192.0.2.2]", "[192.0.2.1 192.0.2.2 192.0.2.3]"} {
		if got := fmt.Sprint(inTurn(all, uint64(turn))); got != want {
			t.Errorf("turn %d: %s, want %s", turn, got, want)
		}
	}
	if got := inTurn(nil, 7); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}
