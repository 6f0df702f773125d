//go:build peers

package peers

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

const cutConfig = `
version: 1
name: nat
targets:
  - name: api
    url: %s
    rate_limit: 50/s
    share: 100%%
    timeouts: {connect: 1s, response: 2s}
    probes:
      - {name: held, kind: idle, path: /, holds: [3s]}
`

// TestAPathThatIsCutWhileHeld: whatever kills a live connection without a word,
// its reuse is a blackhole. Where a fresh one works, the path dropped it; where
// none does, nothing is said of idleness.
func TestAPathThatIsCutWhileHeld(t *testing.T) {
	for name, test := range map[string]struct {
		cut       func(n *nat) []string
		diagnosis string
	}{
		"an entry of the table is deleted": {
			func(n *nat) []string {
				return []string{"ip", "netns", "exec", n.router, "conntrack", "-D", "-p", "tcp"}
			}, "silent_drop",
		},
		"a link goes down": {
			func(n *nat) []string { return []string{"ip", "-n", n.router, "link", "set", "out0", "down"} }, "unreachable",
		},
		"a route leads nowhere": {
			func(n *nat) []string {
				return []string{"ip", "-n", n.router, "route", "add", "blackhole", "10.78.2.2/32"}
			}, "unreachable",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNAT(t, forgotDrop)
			n.set(t, "net/netfilter/nf_conntrack_tcp_timeout_established", 300)
			file := write(t, filepath.Join(t.TempDir(), "perch.yaml"), fmt.Sprintf(cutConfig, n.url))
			done := make(chan natReport, 1)
			go func() { done <- n.perch(t, "run", "--config", file) }()
			n.whenHeld(t)
			cut := test.cut(n)
			natDo(t, "", cut[0], cut[1:]...)
			o := (<-done).Outcomes[0]
			reused := ""
			for _, a := range o.Attempts {
				if a.Connection == "reused" {
					reused = a.Reason
				}
			}
			if reused != "blackhole" || o.Diagnosis != test.diagnosis || o.Verdict != "fail" {
				t.Errorf("the reuse is %q, judged %s %s (%s): want blackhole, fail %s", reused, o.Verdict, o.Diagnosis, o.Message, test.diagnosis)
			}
		})
	}
}

// whenHeld waits until the API has answered on the connection that is to be
// held, for 3 s from then on.
func (n *nat) whenHeld(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if n.answers.Load() > 0 {
			time.Sleep(500 * time.Millisecond) // the answer is on its way
			return
		}
	}
	t.Fatal("no connection was opened within 20 s")
}
