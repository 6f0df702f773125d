package lab

import (
	"crypto/tls"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Scenario is one way to misbehave.
type Scenario struct {
	Name   string
	Reason string // what perch makes of it (docs/reasons.md); "ok" when nothing is wrong
	About  string // what the server does, in one sentence
	TLS    bool   // always served over TLS; the others are when [Options] says so
	H2     bool   // speaks nothing but HTTP/2: over TLS by ALPN, plain by prior knowledge
	Proxy  string // a forward proxy, for URLs of this scheme ("http", "socks5"); empty: the server itself
	Root   bool   // needs CAP_NET_ADMIN: it attaches a socket filter
	Linux  bool   // needs Linux

	// Held scenarios answer the first request of a connection well, and show
	// themselves when the connection is used again after it idled for IdleFor
	// (0: at once). In [Scenarios] it is computed from the default idle
	// timeout, in [Server.Scenario] from the server's own.
	Held    bool
	IdleFor time.Duration

	play     func(*conn)                         // plays one accepted connection
	open     func(*Server) error                 // takes the place of the listener
	identity func(*authority, *tls.Config) error // changes what TLS shows; nil: a good certificate
	raw      bool                                // play begins before the handshake
	timed    bool                                // IdleFor follows Options.IdleTimeout
}

// Scenarios returns all scenarios: the good ones first, the others by what they
// do.
func Scenarios() []Scenario {
	all := slices.Concat(
		healthyScenarios(),
		openingScenarios(),
		certificateScenarios(),
		handshakeScenarios(),
		idleScenarios(),
		blackholeScenarios(),
		racingScenarios(),
		partialScenarios(),
		hostileScenarios(),
		answerScenarios(),
		h2Scenarios(),
		h2IdleScenarios(),
		h2StreamScenarios(),
		h2PartialScenarios(),
		h2HostileScenarios(),
		proxyScenarios(),
		socksScenarios(),
	)
	for i := range all {
		all[i] = all[i].after(DefaultIdleTimeout)
	}
	return all
}

// Find returns the scenario of that name.
func Find(name string) (Scenario, error) {
	var names []string
	for _, s := range Scenarios() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Scenario{}, fmt.Errorf("no scenario is called %q; there are: %s", name, strings.Join(names, ", "))
}

// after returns the scenario as it shows itself with that idle timeout.
func (s Scenario) after(idle time.Duration) Scenario {
	if s.timed {
		// A margin for both sides' timers; the close itself is on time.
		s.IdleFor = idle + 100*time.Millisecond
	}
	return s
}

// Needs says in a few words what the scenario needs of its surroundings; empty:
// nothing.
func (s Scenario) Needs() string {
	var needs []string
	if s.Proxy != "" {
		needs = append(needs, "a server behind it")
	}
	if s.H2 {
		needs = append(needs, "HTTP/2")
	}
	if s.TLS {
		needs = append(needs, "TLS")
	}
	if s.Linux {
		needs = append(needs, "Linux")
	}
	if s.Root {
		needs = append(needs, "root")
	}
	if s.Held {
		needs = append(needs, "reuse")
	}
	return strings.Join(needs, ", ")
}

// Describe lists the scenarios in columns: name, reason, needs, what it does.
func Describe(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SCENARIO\tREASON\tNEEDS\tWHAT IT DOES")
	for _, s := range Scenarios() {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", s.Name, s.Reason, s.Needs(), s.About)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("listing the scenarios: %w", err)
	}
	return nil
}
