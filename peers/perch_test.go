//go:build peers

package peers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// buildPerch builds the command once, as a user's `go build` does.
var buildPerch = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // built once for all tests
	dir, err := os.MkdirTemp("", "perch-peers")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "perch")
	out, err := exec.Command("go", "build", "-o", path, "perch.example/cmd/perch").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building perch: %w\n%s", err, out)
	}
	return path, nil
})

// document is what these tests read of the JSON report.
type document struct {
	Verdict  string
	Outcomes []struct {
		Verdict, Reason, Diagnosis, Message string
		HoldSeconds                         float64  `json:"hold_seconds"`
		ClosedAfterSeconds                  *float64 `json:"closed_after_seconds"`
		ClosedBy                            string   `json:"closed_by"`
		Attempts                            []struct {
			Connection, Reason, Proto string
			LocalAddr                 netip.AddrPort `json:"local_addr"`
		}
	}
	Idle []struct {
		SurvivedSeconds *float64 `json:"survived_seconds"`
		MeasuredSeconds *float64 `json:"measured_seconds"`
		How             string
	}
}

// runPerch runs a command that reports as JSON. Any status but those allowed
// fails the test.
func runPerch(t *testing.T, caFile string, allowed []int, args ...string) document {
	t.Helper()
	path, err := buildPerch()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append(args, "--output", "json")...)
	cmd.Env = os.Environ()
	if caFile != "" {
		cmd.Env = append(cmd.Env, "SSL_CERT_FILE="+caFile)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	ok := false
	for _, code := range allowed {
		ok = ok || cmd.ProcessState.ExitCode() == code
	}
	if !ok {
		t.Fatalf("perch %v: exit status %d, want one of %v\n%s%s", args, cmd.ProcessState.ExitCode(), allowed, out.String(), errs.String())
	}
	var d document
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatalf("reading the report: %v\n%s", err, out.String())
	}
	return d
}

// eachServer runs a test against every real server, plain and over TLS.
func eachServer(t *testing.T, f func(t *testing.T, peer Peer, capture *Capture)) {
	for _, secure := range []bool{false, true} {
		for _, name := range Servers(secure) {
			t.Run(fmt.Sprintf("%s/tls=%t", name, secure), func(t *testing.T) {
				t.Parallel()
				peer := Start(t, name, idleTimeout, secure)
				f(t, peer, StartCapture(t, peer.Port))
			})
		}
	}
}

// rightReason is what a reuse long after the idle timeout shows.
func rightReason(p Peer) string {
	if p.CAFile != "" && p.Name != "node" { // Node says nothing before its FIN
		return "idle_close_notify"
	}
	return "idle_fin"
}

// TestPerchIdleMeasuresRealServers: `perch idle URL` reads the timeout of that
// very connection to within 20 ms of its FIN in the capture.
func TestPerchIdleMeasuresRealServers(t *testing.T) {
	eachServer(t, func(t *testing.T, peer Peer, capture *Capture) {
		d := runPerch(t, peer.CAFile, []int{0}, "idle", peer.URL, "--max", "8s", "--rate", "20/s")
		if len(d.Idle) != 1 || d.Idle[0].MeasuredSeconds == nil {
			t.Fatalf("nothing was measured: %+v", d)
		}
		closed := checkRungs(t, peer, capture, d)
		if closed == 0 {
			t.Errorf("no rung saw the close: %+v", d)
		}
	})
}

const ladderConfig = `
version: 1
name: peers
targets:
  - name: peer
    url: %s
    rate_limit: 50/s
    share: 100%%
    tls: {ca_file: %q}
    probes:
      - {name: idle, kind: idle, path: "", keep_alive: %s, holds: [500ms, 1s, %s, 6s]}
`

// TestIdleProbeOnRealServers runs a ladder around the server's own timeout:
// what holds less works, what holds longer ends in the right reason, nothing is
// ever called an outage.
func TestIdleProbeOnRealServers(t *testing.T) {
	eachServer(t, func(t *testing.T, peer Peer, capture *Capture) {
		from, to := expected(peer.Name)
		config := filepath.Join(t.TempDir(), "perch.yaml")
		write(t, config, fmt.Sprintf(ladderConfig, peer.URL, peer.CAFile, from, to+500*time.Millisecond))
		d := runPerch(t, "", []int{0}, "run", "--config", config)
		if len(d.Outcomes) != 4 {
			t.Fatalf("%d outcomes, want 4: %+v", len(d.Outcomes), d)
		}
		for _, o := range d.Outcomes {
			want := "ok"
			if o.HoldSeconds > to.Seconds() {
				want = rightReason(peer)
			}
			if o.Reason != want {
				t.Errorf("held %v s: reason %s, want %s: %s", o.HoldSeconds, o.Reason, want, o.Message)
			}
		}
		if closed := checkRungs(t, peer, capture, d); closed != 2 {
			t.Errorf("%d rungs saw the close, want 2", closed)
		}
	})
}

// checkRungs holds each close against the capture of that connection, and
// returns how many there were.
func checkRungs(t *testing.T, peer Peer, capture *Capture, d document) (closed int) {
	t.Helper()
	for _, o := range d.Outcomes {
		if o.Verdict != "pass" {
			t.Errorf("held %v s: %s %s: %s", o.HoldSeconds, o.Verdict, o.Diagnosis, o.Message)
		}
		if o.ClosedAfterSeconds == nil {
			continue
		}
		closed++
		if o.Reason != rightReason(peer) || o.ClosedBy != "peer" {
			t.Errorf("held %v s: %s, closed by %q, want %s by peer", o.HoldSeconds, o.Reason, o.ClosedBy, rightReason(peer))
		}
		seen := time.Duration(*o.ClosedAfterSeconds * float64(time.Second))
		ending := capture.Ending(t, o.Attempts[0].LocalAddr.Port())
		if off := (seen - ending.Idle).Abs(); off > 20*time.Millisecond {
			t.Errorf("perch saw the close after %s, the capture after %s: %s apart, want at most 20ms", seen, ending.Idle, off)
		}
	}
	return closed
}
