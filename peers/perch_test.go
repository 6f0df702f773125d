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

	"perch.example/internal/stood"
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

// eachServer plays against every real server, plain and over TLS, and fails the test with
// what was wrong.
func eachServer(t *testing.T, play func(t *testing.T, peer Peer, capture *Capture) (wrong []string)) {
	for _, secure := range []bool{false, true} {
		for _, name := range Servers(secure) {
			t.Run(fmt.Sprintf("%s/tls=%t", name, secure), func(t *testing.T) {
				t.Parallel()
				peer := Start(t, name, idleTimeout, secure)
				capture := StartCapture(t, peer.Port)
				stood.Again(t, stood.Moment, func() []string { return play(t, peer, capture) })
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
	eachServer(t, func(t *testing.T, peer Peer, capture *Capture) []string {
		d := runPerch(t, peer.CAFile, []int{0, 1}, "idle", peer.URL, "--max", "8s", "--rate", "20/s")
		if len(d.Idle) != 1 || d.Idle[0].MeasuredSeconds == nil {
			return []string{fmt.Sprintf("nothing was measured: %+v", d)}
		}
		closed, wrong := checkRungs(t, peer, capture, d)
		if closed == 0 {
			wrong = append(wrong, fmt.Sprintf("no rung saw the close: %+v", d))
		}
		return wrong
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
	eachServer(t, func(t *testing.T, peer Peer, capture *Capture) (wrong []string) {
		from, to := expected(peer.Name)
		config := filepath.Join(t.TempDir(), "perch.yaml")
		write(t, config, fmt.Sprintf(ladderConfig, peer.URL, peer.CAFile, from, to+1500*time.Millisecond))
		d := runPerch(t, "", []int{0, 1}, "run", "--config", config)
		if len(d.Outcomes) != 4 {
			return []string{fmt.Sprintf("%d outcomes, want 4: %+v", len(d.Outcomes), d)}
		}
		for _, o := range d.Outcomes {
			want := "ok"
			if o.HoldSeconds > to.Seconds() {
				want = rightReason(peer)
			}
			if o.Reason != want {
				wrong = append(wrong, fmt.Sprintf("held %v s: reason %s, want %s: %s", o.HoldSeconds, o.Reason, want, o.Message))
			}
		}
		closed, more := checkRungs(t, peer, capture, d)
		if closed != 2 {
			more = append(more, fmt.Sprintf("%d rungs saw the close, want 2", closed))
		}
		return append(wrong, more...)
	})
}

// checkRungs holds each close against the capture of that connection, and
// returns how many there were, and what was wrong. All rungs pass.
func checkRungs(t *testing.T, peer Peer, capture *Capture, d document) (closed int, wrong []string) {
	t.Helper()
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if d.Verdict != "pass" {
		say("the verdict is %s, want pass", d.Verdict)
	}
	for _, o := range d.Outcomes {
		if o.Verdict != "pass" {
			say("held %v s: %s %s: %s", o.HoldSeconds, o.Verdict, o.Diagnosis, o.Message)
		}
		if o.ClosedAfterSeconds == nil {
			continue
		}
		closed++
		if o.Reason != rightReason(peer) || o.ClosedBy != "peer" {
			say("held %v s: %s, closed by %q, want %s by peer", o.HoldSeconds, o.Reason, o.ClosedBy, rightReason(peer))
		}
		seen := time.Duration(*o.ClosedAfterSeconds * float64(time.Second))
		ending := capture.Ending(t, o.Attempts[0].LocalAddr.Port())
		if off := (seen - ending.Idle).Abs(); off > 20*time.Millisecond {
			say("perch saw the close after %s, the capture after %s: %s apart, want at most 20ms", seen, ending.Idle, off)
		}
	}
	return closed, wrong
}
