package probes

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"perch.example/probes/wire"
)

const (
	// connectsEach is how often each address is connected to: the least of three
	// is the path, the others say how busy the two ends were.
	connectsEach = 3
	// doubtedEach is how often at most where time alone shows an end of TCP before
	// the peer: one quick handshake disproves that. On two cores with ten times as
	// much to do as they could, a quarter of the paths to a peer beside perch showed
	// it after three connections, and after five a tenth.
	doubtedEach = 12
	// connectAtMost bounds the addresses of a target that are connected to. A
	// name that has more is a CDN's or a large load balancer's: they are alike.
	connectAtMost = 8
	// connectsWithin is how long the repeats of a target may take at its budget.
	connectsWithin = 30 * time.Second
)

// PrintEnv is what the print of a path needs from outside. The zero value is
// the real network, with nothing looked up beside it.
type PrintEnv struct {
	Dial      wire.DialFunc
	Resolve   wire.ResolveFunc
	Policy    *Policy                                                // nil: all may be looked at
	Canonical func(ctx context.Context, host string) (string, error) // nil: not asked
	ReadFile  func(string) ([]byte, error)                           // certificates' files
}

// TakePrint looks at the path to a target: it resolves the name, and opens and
// closes connections to its addresses, one after the other, within the target's
// budget as if each were a request. It sends no request. n is the network that
// the connections leave through.
func TakePrint(ctx context.Context, t Target, n Network, env PrintEnv) PathPrint {
	k := &taking{target: t, network: n, env: env}
	k.out = PathPrint{
		Target: t.Name, Scheme: t.URL.Scheme, Host: strings.ToLower(t.URL.Hostname()), Port: portOf(t),
		Addresses: []netip.Addr{}, Connections: []ConnectionPrint{},
	}
	if t.Via != ViaNone {
		k.out.Via = t.Via
	}
	if n.Proxy != nil {
		k.out.Proxy = n.Proxy.For(k.out.Scheme, k.out.Host, k.out.Port)
	}
	k.out.Ways = waysOf(t, k.out.Proxy != "")
	if problem := k.take(ctx); problem != "" {
		k.out.Problem = problem
	}
	return k.out
}

func portOf(t Target) string {
	_, port, _ := net.SplitHostPort(hostPort(t.URL))
	return port
}

// taking is one print on its way.
type taking struct {
	target  Target
	network Network
	env     PrintEnv
	out     PathPrint
	tls     *tls.Config // nil: plain
	seen    []*seen     // beside out.Connections
}

// seen is what the connections to one address showed, before it is summed up.
type seen struct {
	connects, handshakes []time.Duration
	attempts             []Attempt
}

// take returns why nothing more could be seen than is in the print already.
func (k *taking) take(ctx context.Context) string {
	spec := &Spec{URL: k.target.URL}
	if len(k.target.Probes) > 0 {
		spec = &k.target.Probes[0] // what decides the path is the target's
	}
	if k.out.Scheme == "https" {
		config, err := tlsConfig(spec, Env{ReadFile: k.env.ReadFile})
		if err != nil {
			return err.Error()
		}
		k.tls = config
	}
	addresses, err := k.lookUp(ctx, spec.Timeouts.DNS)
	if err != nil {
		return err.Error()
	}
	k.connectAll(ctx, addresses, spec.Timeouts)
	return ""
}

// lookUp resolves the name, and returns its addresses as they would be tried.
func (k *taking) lookUp(ctx context.Context, limit time.Duration) ([]netip.Addr, error) {
	if err := k.env.Policy.Host(k.out.Host); err != nil {
		return nil, err
	}
	if ip, err := netip.ParseAddr(k.out.Host); err == nil {
		k.out.Addresses = append(k.out.Addresses, ip)
		return k.out.Addresses, nil
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	resolve := k.env.Resolve
	switch {
	case resolve != nil:
	case k.env.Dial != nil:
		return nil, fmt.Errorf("resolving %q: there is no resolver beside the dial function", k.out.Host)
	default:
		resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	all, err := resolve(ctx, k.out.Host)
	if err != nil {
		return nil, fmt.Errorf("resolving %q: %w", k.out.Host, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("resolving %q: no address", k.out.Host)
	}
	var inOrder []netip.Addr
	for _, a := range all {
		if a = a.Unmap(); !slices.Contains(inOrder, a) {
			inOrder = append(inOrder, a)
		}
	}
	k.out.Addresses = slices.SortedFunc(slices.Values(inOrder), netip.Addr.Compare)
	if k.env.Canonical != nil {
		name, err := k.env.Canonical(ctx, k.out.Host)
		name = strings.ToLower(strings.TrimSuffix(name, "."))
		if err == nil && name != strings.TrimSuffix(k.out.Host, ".") {
			k.out.Canonical = name
		}
	}
	return inOrder, nil
}

// connectAll goes round the addresses, so that each is seen once before any is
// seen again.
func (k *taking) connectAll(ctx context.Context, addresses []netip.Addr, limits Timeouts) {
	addresses = addresses[:min(len(addresses), connectAtMost)]
	for _, a := range addresses {
		k.out.Connections = append(k.out.Connections, ConnectionPrint{Address: a, Untried: true})
		k.seen = append(k.seen, &seen{})
	}
	pace := paceOf(k.target.Budget())
	most := mostConnects(len(addresses), pace)
	for n := range most {
		i := n % len(addresses)
		if n >= len(addresses) && k.out.Connections[i].Problem != "" {
			continue // what was not reached is not waited for either
		}
		if n > 0 && !pause(ctx, pace) {
			break
		}
		k.connect(ctx, i, limits)
	}
	for range int(connectsWithin/pace) + 1 - most {
		i := slices.IndexFunc(k.seen, (*seen).doubted)
		if i < 0 || !pause(ctx, pace) {
			break
		}
		k.connect(ctx, i, limits)
	}
	for i := range k.out.Connections {
		k.sum(i)
	}
}

// doubted reports whether an end of TCP before the peer shows by time alone, and
// may be a peer that was busy.
func (s *seen) doubted() bool {
	return len(s.connects) < doubtedEach && len(s.attempts) > 0 && endsNearer(roundTrips(s.attempts))
}

// paceOf is how long after a connection the next one may be opened, a tenth
// longer than the budget's requests are apart on average, so that no window of
// it ever holds one too many.
func paceOf(perSecond float64) time.Duration {
	const longest = 24 * time.Hour
	seconds := 1.1 / perSecond
	if !(seconds > 0 && seconds < longest.Seconds()) {
		return longest
	}
	return max(time.Duration(seconds*float64(time.Second)), time.Millisecond)
}

// mostConnects is how many connections are opened to that many addresses: fewer
// rounds, and in the end fewer addresses, where the budget is small; at least one.
func mostConnects(addresses int, pace time.Duration) int {
	fits := 1 + int(connectsWithin/pace)
	switch most := addresses * connectsEach; {
	case addresses == 0:
		return 0
	case fits >= most:
		return most
	case fits > addresses:
		return fits - fits%addresses // whole rounds
	default:
		return fits
	}
}

// pause waits, and reports whether the context still goes on.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// connect opens one connection to the i-th address and closes it.
func (k *taking) connect(ctx context.Context, i int, limits Timeouts) {
	c, s := &k.out.Connections[i], k.seen[i]
	dial := k.env.Dial
	if dial == nil {
		dial = (&net.Dialer{KeepAlive: -1}).DialContext
	}
	var raw net.Conn
	c.Untried = false
	o := wire.Options{
		Host: c.Address.String(), Port: k.out.Port, Allow: k.env.Policy.Address, Connect: limits.Connect, Handshake: limits.TLS,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err == nil {
				raw = conn
				c.MSS, c.MTU = segment(conn)
			}
			return conn, err
		},
	}
	if k.tls != nil {
		o.TLS = showing(k.tls, &c.TLS)
	}
	conn, e := wire.Open(ctx, o)
	if conn != nil {
		_ = conn.Close() // nothing was sent that could be lost
	}
	first := len(s.connects) == 0
	if raw != nil {
		s.connects = append(s.connects, e.Phases.Connect)
		c.Source = e.Local.Addr()
	}
	if e.Failure == "" {
		c.Problem = ""
		if k.tls != nil {
			s.handshakes = append(s.handshakes, e.Phases.TLS)
		}
		s.attempts = append(s.attempts, Attempt{Reason: ReasonOK, MinRTT: e.MinRTT, Hello: e.Hello})
	} else if first { // what stood once stands: a later failure is one of many
		c.Problem = e.Error
	}
}

// sum sums up what the connections to the i-th address showed.
func (k *taking) sum(i int) {
	c, s := &k.out.Connections[i], k.seen[i]
	c.Connect, c.Handshake = measured(s.connects), measured(s.handshakes)
	for _, a := range s.attempts {
		c.RTT = Seconds(smallest(time.Duration(c.RTT), a.MinRTT))
		c.Hello = Seconds(smallest(time.Duration(c.Hello), a.Hello))
	}
	if len(s.attempts) > 0 {
		c.TCPEnds = pathOf(ViaNone, k.network.Sidecar, "", s.attempts).TCPEnds
	}
	c.Interface, c.Subnet = k.network.holds(c.Source)
}

// holds returns the interface that an address is of, and its network.
func (n Network) holds(a netip.Addr) (string, netip.Prefix) {
	for _, l := range n.Links {
		for _, p := range l.Prefixes {
			if a.IsValid() && p.Addr() == a {
				return l.Name, p.Masked()
			}
		}
	}
	return "", netip.Prefix{}
}
