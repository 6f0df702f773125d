//go:build peers

package peers

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

const natConfig = `
version: 1
name: nat
vantage: here
state: {file: %q}
alerts: {settle: none}
targets:
  - name: api
    url: %s
    rate_limit: 50/s
    share: 100%%
    timeouts: {response: 1s}
    %s
    probes:
      - {name: held, kind: idle, path: /, keep_alive: %s}
`

// config writes what a user would have for this path, with a state in dir.
func (n *nat) config(t *testing.T, dir, keepAlive, client string) string {
	t.Helper()
	return write(t, filepath.Join(dir, "perch.yaml"), fmt.Sprintf(natConfig, filepath.Join(dir, "state"), n.url, client, keepAlive))
}

// natThatForgets: a router that forgets after 3 s is found as [2, 4) in one run,
// and to 100 ms within three, whether it drops what it has forgotten or answers
// for it.
func natThatForgets(forgotten, reason string) func(*testing.T) []string {
	return func(t *testing.T) (wrong []string) {
		n := startNAT(t, forgotten)
		file := n.config(t, t.TempDir(), "4s", "")
		for run := range 3 {
			r := n.perch(t, "run", "--all", "--config", file)
			got := r.Idle[0]
			t.Logf("run %d: %d rungs, %+v", run+1, len(r.Outcomes), got)
			wrong = append(wrong, n.rungsWrong(r, reason)...)
			if got.Survived < 2 || got.Died > 4 || got.Survived >= 3.02 || got.Died < 2.98 || got.Measured > 0 {
				return append(wrong, fmt.Sprintf("run %d: %+v, want a bracket around 3 s within [2, 4)", run+1, got))
			}
			if width := got.Died - got.Survived; run == 2 && width > 0.1 {
				wrong = append(wrong, fmt.Sprintf("%+v is %.3f s wide after three runs, want at most 0.1", got, width))
			}
		}
		return wrong
	}
}

// rungsWrong holds each rung against what the router does.
func (n *nat) rungsWrong(r natReport, reason string) (wrong []string) {
	for _, o := range r.Outcomes {
		for _, a := range o.Attempts {
			idle := a.IdleSeconds - natTimeout.Seconds()
			if a.Connection != "reused" || idle < 0.03 && idle > -0.03 {
				continue // the kernel's own timers, and what perch knows of them
			}
			want := "ok"
			if idle > 0 {
				want = reason
			}
			if a.Reason != want {
				wrong = append(wrong, fmt.Sprintf("idle for %v s: %s, want %s: %s", a.IdleSeconds, a.Reason, want, o.Message))
			}
		}
	}
	return wrong
}

// natAndTCPKeepAlive: a packet a second keeps the connection known, and the
// report says that it did: the run before had none.
func natAndTCPKeepAlive(forgotten string) func(*testing.T) []string {
	return func(t *testing.T) (wrong []string) {
		const packets = "client: {kind: go-net-http, max_idle: 6s, tcp_keep_alive: 1s}"
		n := startNAT(t, forgotten)
		dir := t.TempDir()
		n.perch(t, "run", "--all", "--config", n.config(t, dir, "4s", ""))
		r := n.perch(t, "run", "--all", "--config", n.config(t, dir, "4s", packets))
		if got := r.Idle[0]; got.Died > 0 || got.Survived < 6 {
			wrong = append(wrong, fmt.Sprintf("with a packet a second: %+v, want all rungs to survive", got))
		}
		told := false
		for _, o := range r.Outcomes {
			if o.Reason != "ok" {
				wrong = append(wrong, fmt.Sprintf("held %v s: %s: %s", o.HoldSeconds, o.Reason, o.Message))
			}
			told = told || strings.Contains(o.Message, "TCP keep-alive every 1 s kept it")
		}
		if !told {
			wrong = append(wrong, fmt.Sprintf("no rung says that TCP keep-alive kept it: %+v", r.Outcomes))
		}
		return wrong
	}
}
