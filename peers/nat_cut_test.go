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
    timeouts: {connect: 1s, response: 1s}
    probes:
      - {name: held, kind: idle, path: /, holds: [3s]}
`

// pathThatIsCut: whatever kills a live connection without a word, its reuse is a
// blackhole. Where a fresh one works, the path dropped it; where none does,
// nothing is said of idleness.
func pathThatIsCut(diagnosis string, cut func(n *nat) []string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		n := startNAT(t, forgotDrop)
		n.forgetsAfter(t, 5*time.Minute)
		file := write(t, filepath.Join(t.TempDir(), "perch.yaml"), fmt.Sprintf(cutConfig, n.url))
		var report natReport
		done := make(chan error, 1)
		go func() {
			var err error
			report, err = n.run("run", "--config", file)
			done <- err
		}()
		n.whenHeld(t)
		command := cut(n)
		natDo(t, "", command[0], command[1:]...)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		o := report.Outcomes[0]
		reused := ""
		for _, a := range o.Attempts {
			if a.Connection == "reused" {
				reused = a.Reason
			}
		}
		if reused != "blackhole" || o.Diagnosis != diagnosis || o.Verdict != "fail" {
			return []string{fmt.Sprintf("the reuse is %q, judged %s %s (%s): want blackhole, fail %s", reused, o.Verdict, o.Diagnosis, o.Message, diagnosis)}
		}
		return nil
	}
}

func entryDeleted(n *nat) []string {
	return []string{"ip", "netns", "exec", n.router, "conntrack", "-D", "-p", "tcp"}
}

func linkDown(n *nat) []string { return []string{"ip", "-n", n.router, "link", "set", "out0", "down"} }

func routeToNowhere(n *nat) []string {
	return []string{"ip", "-n", n.router, "route", "add", "blackhole", "10.78.2.2/32"}
}

// whenHeld waits until the API has answered on the connection that is to be
// held, for 3 s from then on.
func (n *nat) whenHeld(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(readyWithin); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if n.answers.Load() > 0 {
			time.Sleep(500 * time.Millisecond) // the answer is on its way
			return
		}
	}
	t.Fatalf("no connection was opened within %s", readyWithin)
}
