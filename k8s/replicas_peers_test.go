//go:build peers

package k8s

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"perch.example/internal/cluster"
	"perch.example/internal/freeport"
	"perch.example/internal/stood"
)

// replicated is what each replica runs: a request a second, which says whose it is.
const replicated = `
version: 1
name: shop
vantage: prod
targets:
  - name: api
    url: %s
    rate_limit: 100/s
    share: 50%%
    daily_limit: 1000000
    headers: [{name: X-Replica, from: {env: REPLICA}}]
    probes: [{name: get, kind: http, path: /, every: 1s}]
alerts: {mode: report}
metrics: {listen: "%s"}
state: {configmap: perch-state}
`

// longestTakeover is the Lease's 15 s, what a look at it takes, a start, and the every.
const longestTakeover = 15*time.Second + 1500*time.Millisecond + 2*time.Second + time.Second

// election is two perch serve, an API server between them, and the API that they
// probe.
type election struct {
	t       *testing.T
	cluster *cluster.Cluster
	perch   string
	api     string
	machine *stood.Record

	mu   sync.Mutex
	hits []call
}

// call is a request as it arrived.
type call struct {
	at  time.Time
	who string
}

func (e *election) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hits = append(e.hits, call{time.Now(), r.Header.Get("X-Replica")})
}

func (e *election) calls() []call {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.hits)
}

// after is the first call of a replica's after an instant.
func (e *election) after(at time.Time, who string) (call, bool) {
	all := e.calls()
	i := slices.IndexFunc(all, func(c call) bool { return c.at.After(at) && c.who == who })
	if i < 0 {
		return call{}, false
	}
	return all[i], true
}

// process is one perch serve.
type process struct {
	e      *election
	name   string
	listen string
	cmd    *exec.Cmd
	log    *os.File
	done   chan error
}

// start runs a perch with the rights of its account and nothing else.
func (e *election) start(name string) *process {
	e.t.Helper()
	p := &process{e: e, name: name, listen: fmt.Sprintf("127.0.0.1:%d", freeport.Loopback(e.t)), done: make(chan error, 1)}
	dir := e.t.TempDir()
	config := filepath.Join(dir, "perch.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, replicated, e.api, p.listen), 0o600); err != nil {
		e.t.Fatal(err)
	}
	var err error
	if p.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		e.t.Fatal(err)
	}
	p.cmd = exec.Command(e.perch, "serve", "--elect", "--config="+config)
	p.cmd.Env = []string{"REPLICA=" + name, "KUBECONFIG=" + e.cluster.Kubeconfig(e.cluster.Token("shop", "perch"), "shop")}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	e.t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		if e.t.Failed() {
			text, _ := os.ReadFile(p.log.Name())
			e.t.Logf("%s said:\n%s", name, text)
		}
		_ = p.log.Close()
	})
	return p
}

// says waits until /readyz says something.
func (p *process) says(want string) {
	p.e.t.Helper()
	cluster.Await(p.e.t, within, p.name+" to say "+want, func() error {
		text, err := p.get("/readyz")
		if err == nil && !strings.Contains(text, want) {
			err = fmt.Errorf("it says %q", text)
		}
		return err
	})
}

func (p *process) get(path string) (string, error) {
	resp, err := http.Get("http://" + p.listen + path)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, body)
	}
	return string(body), err
}

func (p *process) signal(s os.Signal) time.Time {
	p.e.t.Helper()
	at := time.Now()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.e.t.Fatal(err)
	}
	return at
}

// probes waits for a replica's first request.
func (e *election) probes(p *process) {
	e.t.Helper()
	cluster.Await(e.t, within, p.name+" to probe", func() error {
		if _, there := e.after(time.Time{}, p.name); !there {
			return fmt.Errorf("no request")
		}
		return nil
	})
}

// takesOver waits for a replica's first request after an instant, and holds it to be
// there in time, and the other one's last to be before it. While the machine stood still
// nobody could take over.
func (e *election) takesOver(p *process, old string, at time.Time, most time.Duration) {
	e.t.Helper()
	e.probes(p)
	first, _ := e.after(at, p.name)
	var last time.Time
	for _, c := range e.calls() {
		if c.who == old {
			last = c.at
		}
	}
	if !last.Before(first.at) {
		e.t.Errorf("%s sent a request %s after %s had begun", old, last.Sub(first.at), p.name)
	}
	if took, still := first.at.Sub(at), e.machine.During(at, first.at); took > most+still {
		e.t.Errorf("%s sent its first request %s later, want at most %s, and %s in which the machine stood still", p.name, took, most, still)
	} else {
		e.t.Logf("%s took over after %s; %s had sent its last %s before", p.name, took.Round(time.Millisecond), old, first.at.Sub(last).Round(time.Millisecond))
	}
}

// TestReplicasElectTheOneThatProbes: two real perch serve and a real API server. The
// leader is killed, told to stop, and made to stand still.
func TestReplicasElectTheOneThatProbes(t *testing.T) {
	e := &election{t: t, cluster: cluster.Start(t), perch: filepath.Join(t.TempDir(), "perch"), machine: stood.Recorded(t, 20*time.Millisecond)}
	if out, err := exec.Command("go", "build", "-o", e.perch, "perch.example/cmd/perch").CombinedOutput(); err != nil {
		t.Fatalf("building perch: %v\n%s", err, out)
	}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	e.api = server.URL
	k := &kit{cluster: e.cluster}
	e.cluster.Namespace("shop")
	e.cluster.InstallKinds()
	e.cluster.Apply(written(t, made(t, small, Options{Kind: KindDeployment, Replicas: 2, Namespace: "shop"})), "-n", "shop", "--server-side")
	k.mayNothingElse(t, "shop", "perch")

	a := e.start("a")
	a.says("ok")
	e.probes(a)
	b := e.start("b")
	b.says("standing by: ")
	if text, err := b.get("/metrics"); err != nil || !strings.Contains(text, "perch_leader{perch=\"shop\",vantage=\"prod\"} 0") || strings.Contains(text, "perch_runs_total") {
		t.Errorf("the standby's metrics: %v\n%s", err, text)
	}
	e.takesOver(b, "a", a.signal(syscall.SIGKILL), longestTakeover)
	b.says("ok")

	a = e.start("a2")
	a.says("standing by: ")
	e.takesOver(a, "b", b.signal(syscall.SIGTERM), 5*time.Second)
	if err := <-b.done; err != nil {
		t.Errorf("b ended with %v", err)
	}

	b = e.start("b2")
	b.says("standing by: ")
	e.takesOver(b, "a2", a.signal(syscall.SIGSTOP), longestTakeover)
	woken := a.signal(syscall.SIGCONT)
	select {
	case err := <-a.done:
		if err == nil {
			t.Error("it ended as if it had been told to")
		}
	case <-time.After(within):
		t.Error("it goes on")
	}
	if c, sent := e.after(woken, "a2"); sent {
		t.Errorf("it sent a request %s after it woke, and another one leads", c.at.Sub(woken))
	}
	if out, err := e.cluster.Try("", "get", "lease", "perch-state", "-n", "shop", "-o", "jsonpath={.spec.leaseDurationSeconds}"); err != nil || out != "15" {
		t.Errorf("the Lease lasts %s (%v)", out, err)
	}
}
