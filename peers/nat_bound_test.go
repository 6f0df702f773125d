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
    timeouts: {response: 2s}
    %s
    probes:
      - {name: held, kind: idle, path: /, keep_alive: 4s}
`

// config writes what a user would have for this path, with a state in dir.
func (n *nat) config(t *testing.T, dir, client string) string {
	t.Helper()
	return write(t, filepath.Join(dir, "perch.yaml"), fmt.Sprintf(natConfig, filepath.Join(dir, "state"), n.url, client))
}

// TestNATThatForgets: a router that forgets after 3 s is found as [2, 4) in one
// run, and to 100 ms within three, whether it drops what it has forgotten or
// answers for it.
func TestNATThatForgets(t *testing.T) {
	for forgotten, reason := range map[string]string{forgotDrop: "blackhole", forgotReject: "reset"} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			n := startNAT(t, forgotten)
			file := n.config(t, t.TempDir(), "")
			var last natIdle
			for run := range 4 {
				r := n.perch(t, "run", "--all", "--config", file)
				last = r.Idle[0]
				t.Logf("run %d: %d rungs, %+v", run+1, len(r.Outcomes), last)
				n.checkRungs(t, r, reason)
				if last.Survived < 2 || last.Died > 4 || last.Survived >= 3.02 || last.Died < 2.98 || last.Measured > 0 {
					t.Fatalf("run %d: %+v, want a bracket around 3 s within [2, 4)", run+1, last)
				}
				if width := last.Died - last.Survived; run >= 2 && width > 0.1 {
					t.Errorf("run %d: %+v is %.3f s wide, want at most 0.1", run+1, last, width)
				}
			}
		})
	}
}

// checkRungs holds each rung against what the router does.
func (n *nat) checkRungs(t *testing.T, r natReport, reason string) {
	t.Helper()
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
				t.Errorf("idle for %v s: %s, want %s: %s", a.IdleSeconds, a.Reason, want, o.Message)
			}
		}
	}
}

// TestNATAndTCPKeepAlive: a packet a second keeps the connection known, and the
// report says that it did: the runs before had none.
func TestNATAndTCPKeepAlive(t *testing.T) {
	const packets = "client: {kind: go-net-http, max_idle: 6s, tcp_keep_alive: 1s}"
	for _, forgotten := range []string{forgotDrop, forgotReject} {
		t.Run(strings.Fields(forgotten)[0], func(t *testing.T) {
			t.Parallel()
			n := startNAT(t, forgotten)
			dir := t.TempDir()
			n.perch(t, "run", "--all", "--config", n.config(t, dir, ""))
			r := n.perch(t, "run", "--all", "--config", n.config(t, dir, packets))
			if got := r.Idle[0]; got.Died > 0 || got.Survived < 6 {
				t.Errorf("with a packet a second: %+v, want all rungs to survive", got)
			}
			told := false
			for _, o := range r.Outcomes {
				if o.Reason != "ok" {
					t.Errorf("held %v s: %s: %s", o.HoldSeconds, o.Reason, o.Message)
				}
				told = told || strings.Contains(o.Message, "TCP keep-alive every 1 s kept it")
			}
			if !told {
				t.Errorf("no rung says that TCP keep-alive kept it: %+v", r.Outcomes)
			}
		})
	}
}
