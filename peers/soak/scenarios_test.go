//go:build soak

package soak

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/lab"
	"perch.example/probes"
)

// misbehaving is a target of one lab scenario.
type misbehaving struct {
	lab.Scenario
	server *lab.Server
	yaml   string
}

func (m misbehaving) name() string { return "lab-" + strings.ReplaceAll(m.Name, "_", "-") }

// labBudget is what the config allows each of them in a second.
const labBudget = 5

// misbehave starts every scenario of the lab.
func misbehave(t *testing.T) []misbehaving {
	t.Helper()
	origin, err := lab.Start(t.Context(), "healthy", lab.Options{TLS: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = origin.Close() })
	var all []misbehaving
	for _, s := range lab.Scenarios() {
		server, err := lab.Start(t.Context(), s.Name, lab.Options{Delay: 1200 * time.Millisecond})
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		t.Cleanup(func() { _ = server.Close() })
		m := misbehaving{Scenario: server.Scenario(), server: server}
		m.yaml = m.config(t, origin)
		all = append(all, m)
	}
	return all
}

func (m misbehaving) config(t *testing.T, origin *lab.Server) string {
	t.Helper()
	to, more := m.server, ""
	if m.Proxy != "" {
		to, more = origin, fmt.Sprintf(", proxy: %q", m.server.URL())
	}
	if to.CA() != nil {
		file, err := to.WriteCA(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		more += fmt.Sprintf(", tls: {ca_file: %q}", file)
	}
	switch {
	case m.H2 && to.CA() != nil:
		more += ", protocol: h2"
	case m.H2:
		more += ", protocol: h2c"
	}
	probe := "kind: http"
	if m.Held || probes.Reason(m.Reason) == probes.ReasonNoKeepAlive {
		hold := 10 * time.Millisecond
		if m.IdleFor > 0 {
			hold = m.IdleFor + time.Second
		}
		probe = fmt.Sprintf("kind: idle, holds: [%s]", hold)
	}
	switch probes.Reason(m.Reason) {
	case probes.ReasonSlow:
		probe += `, expect: ["latency < duration('500ms')"]`
	case probes.ReasonExpectation:
		probe += `, expect: ["size(json.days) == 2"]`
	default:
	}
	return fmt.Sprintf("  - {name: %s, url: %q, rate_limit: %d/s, share: 50%%, every: 5s, timeouts: {dns: 2s, connect: 2s, tls: 2s, response: 3s}%s,\n     probes: [{name: try, %s, path: \"/calendar?days=2\"}]}\n",
		m.name(), to.URL(), 2*labBudget, more, probe)
}

// may reports whether an attempt on it can end so: as the scenario does, or well,
// where it shows itself on a later request or on none; or not to its end, for perch was
// stopped.
func (m misbehaving) may(reason string) bool {
	may := []string{m.Reason, string(probes.ReasonOK), string(probes.ReasonCanceled)}
	switch probes.Reason(m.Reason) {
	case probes.ReasonBlackhole: // in half an hour a client port comes again, for which the server's end still swallows all
		may = append(may, string(probes.ReasonConnectTimeout))
	case probes.ReasonCrossedClose: // whoever wakes late meets no crossing, but the FIN
		may = append(may, string(probes.ReasonIdleFIN))
	default:
	}
	return slices.Contains(may, reason)
}

// must reports whether it was seen at least once as the scenario does.
func (m misbehaving) must() bool { return !strings.HasPrefix(m.Name, "dns") } // whose resolver no config names
