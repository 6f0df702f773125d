//go:build peers

package peers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"perch.example/internal/cluster"
	"perch.example/internal/stood"
	"perch.example/lab"
)

// The six hypotheses, in the order in which a scenario's ruled names them.
func sixHypotheses() []string {
	return []string{"api_down", "path_blocks", "own_pod", "stale_pool", "rate_limit", "retry_gap"}
}

// scenario is one way to fail, and all that perch must say of it.
type scenario struct {
	name  string
	setup func(t *testing.T, p *subject) // starts what perch talks to, and fills in p
	want  []wanted                       // one for each outcome that is not of another target
}

// wanted is what one outcome must be. Empty fields are not asked for.
type wanted struct {
	reason, verdict, diagnosis string
	ends                       string // path.tcp_ends
	closedBy                   string // "-": nobody
	ruled                      string // six of in, out, open: of sixHypotheses
	evidence                   map[string]string
}

// subject is one run of the real command, as a user starts it.
type subject struct {
	url, ca, via, client string // of the target
	probe                string // the rest of the probe, behind its name
	probes               int    // how many of it; 0: one
	patience             string // for an answer; empty: 1 s
	more                 string // further targets
	before               []string
	within               *namespace

	started chan struct{}
	process *os.Process
}

const subjectConfig = `
version: 1
name: ruled
alerts: {settle: none}
targets:
  - name: api
    url: %[1]s
    rate_limit: 100/s
    share: 100%%
    daily_limit: 1000000
    max_connections: 64
    via: %[2]s
    tls: {ca_file: %[3]q}
    timeouts: {dns: 2s, connect: %[5]s, tls: %[5]s, response: %[5]s}
%[4]s    probes:
%[6]s%[7]s`

func (p *subject) config() string {
	via, all := p.via, ""
	if via == "" {
		via = "none"
	}
	for n := range max(1, p.probes) {
		all += fmt.Sprintf("      - {name: probe-%d, path: /calendar, %s}\n", n+1, p.probe)
	}
	return fmt.Sprintf(subjectConfig, p.url, via, p.ca, p.client, cmp.Or(p.patience, "1s"), all, p.more)
}

// pid is perch's, once it runs.
func (p *subject) pid() int {
	<-p.started
	return p.process.Pid
}

// ruledReport is what these tests read of the JSON report.
type ruledReport struct {
	Outcomes []ruledOutcome
	Problems []string
}

type ruledOutcome struct {
	Target, Probe, Verdict, Reason, Diagnosis, Message string

	ClosedBy string `json:"closed_by"`
	Path     struct {
		TCPEnds string `json:"tcp_ends"`
		Via     []string
	}
	Hypotheses []struct{ ID, Ruled, Evidence string }
	Advice     []string
}

// run runs perch to its end.
func (p *subject) run(t *testing.T) ruledReport {
	t.Helper()
	path, err := buildPerch()
	if err != nil {
		t.Fatal(err)
	}
	config := write(t, filepath.Join(t.TempDir(), "perch.yaml"), p.config())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	line := append(p.before, path, "run", "--config", config, "--output", "json", "--fail-on", "never")
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := cmd.Start
	if p.within != nil {
		start = func() error { return p.within.inside(cmd.Start) }
	}
	if err := start(); err != nil {
		t.Fatalf("starting perch: %v", err)
	}
	p.process = cmd.Process
	close(p.started)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("perch run: %v\n%s%s\n%s", err, out.String(), errs.String(), p.config())
	}
	var report ruledReport
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("reading the report: %v\n%s", err, out.String())
	}
	return report
}

// noSidecar fails the test where somebody listens on a mesh's port: perch is
// right to take that for a sidecar of its own, and TCP to end there.
func noSidecar(t *testing.T) {
	t.Helper()
	cluster.MeshPorts(t, false)
	for _, port := range []string{"15000", "15020", "15021", "4191"} {
		if conn, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second); err == nil {
			_ = conn.Close()
			t.Fatalf("127.0.0.1:%s, a mesh's port, takes connections on this machine: these scenarios are of a pod without a mesh", port)
		}
	}
}

// play runs perch through the scenario and holds every outcome against what is
// wanted.
func (s scenario) play(t *testing.T) {
	t.Helper()
	noSidecar(t)
	stood.Again(t, stood.Moment, func() []string { return s.once(t) })
}

// once says what of the outcomes was not as wanted.
func (s scenario) once(t *testing.T) (wrong []string) {
	t.Helper()
	p := &subject{started: make(chan struct{})}
	s.setup(t, p)
	report := p.run(t)
	var outcomes []ruledOutcome
	for _, o := range report.Outcomes {
		if o.Target == "api" {
			outcomes = append(outcomes, o)
		}
	}
	if len(outcomes) != len(s.want) {
		return []string{fmt.Sprintf("%d outcomes, want %d: %+v", len(outcomes), len(s.want), outcomes)}
	}
	for i, o := range outcomes {
		t.Logf("outcome %d of %d: %s", i+1, len(outcomes), o.text())
		for _, what := range s.want[i].check(o) {
			wrong = append(wrong, fmt.Sprintf("outcome %d of %d: %s", i+1, len(outcomes), what))
		}
	}
	return wrong
}

// check returns what is not as wanted.
func (w wanted) check(o ruledOutcome) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, c := range []struct{ what, got, want string }{
		{"reason", o.Reason, w.reason}, {"verdict", o.Verdict, w.verdict}, {"diagnosis", o.Diagnosis, w.diagnosis},
		{"path.tcp_ends", o.Path.TCPEnds, w.ends}, {"closed_by", o.closer(), w.closedBy},
	} {
		if c.want != "" && c.got != c.want {
			say("%s %q, want %q", c.what, c.got, c.want)
		}
	}
	if w.ruled == "" {
		return wrong
	}
	want := strings.Fields(w.ruled)
	if len(o.Hypotheses) != len(want) {
		say("%d hypotheses, want %d", len(o.Hypotheses), len(want))
		return wrong
	}
	for i, h := range o.Hypotheses {
		if h.ID != sixHypotheses()[i] || h.Ruled != want[i] {
			say("%s is %s, want %s %s: %s", h.ID, h.Ruled, sixHypotheses()[i], want[i], h.Evidence)
		}
		if h.Evidence == "" {
			say("%s is %s without a word of evidence", h.ID, h.Ruled)
		}
		if e := w.evidence[h.ID]; !regexp.MustCompile(e).MatchString(h.Evidence) {
			say("%s: evidence %q, want it to match %q", h.ID, h.Evidence, e)
		}
	}
	return wrong
}

func (o ruledOutcome) closer() string {
	if o.ClosedBy == "" {
		return "-"
	}
	return o.ClosedBy
}

// text is an outcome for the log of a test that failed.
func (o ruledOutcome) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s, tcp ends %s, closed by %s: %s\n", o.Verdict, o.Reason, o.Diagnosis, o.Path.TCPEnds, o.closer(), o.Message)
	for _, h := range o.Hypotheses {
		fmt.Fprintf(&b, "  %-11s %-4s %s\n", h.ID, h.Ruled, h.Evidence)
	}
	for _, a := range o.Advice {
		fmt.Fprintf(&b, "  - %s\n", a)
	}
	return b.String()
}

// playAll plays scenarios at the same time.
func playAll(t *testing.T, all []scenario) {
	t.Helper()
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.play(t)
		})
	}
}

// serve starts a lab scenario for the length of the test.
func serve(t *testing.T, p *subject, name string, o lab.Options) *lab.Server {
	t.Helper()
	server, err := lab.Start(t.Context(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	p.url = server.URL()
	if ca := server.CA(); ca != nil {
		p.ca = write(t, filepath.Join(t.TempDir(), "ca.pem"), string(ca))
	}
	return server
}

// fresh is a probe that makes one exchange, and held one that holds a
// connection for that long.
const fresh = "kind: http"

func held(holds string) string {
	return fmt.Sprintf("kind: idle, keep_alive: 10s, holds: [%s]", holds)
}

// declaredApache is the incident's client, with its limits and its retry layer. It looks
// at what was idle for 4 s: as far from the hold of these tests as that is from the close.
func declaredApache(maxIdle, layer, errors string) string {
	return fmt.Sprintf(`    client:
      kind: apache-httpclient-4.5
      wrapped_by: spring-resttemplate
      max_idle: %s
      validate_after: 4s
      automatic_retries: none
      retry: {layer: %s, attempts: 3, errors: [%s]}
`, maxIdle, layer, errors)
}
