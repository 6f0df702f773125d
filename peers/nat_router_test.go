//go:build peers

package peers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What the router does with a segment of a connection that it has forgotten.
const (
	forgotDrop   = "drop"
	forgotReject = "reject with tcp reset"
)

// natTimeout is after how much silence the router forgets a connection.
const natTimeout = 3 * time.Second

// nat is a path through a router that keeps a table of connections and forgets
// what is idle: three namespaces, client - router - server.
type nat struct {
	client, router, server string // namespaces
	url                    string // of the API behind it, which never closes by itself
	answers                atomic.Int64
}

// natsMade tells the namespaces of one test run apart.
var natsMade atomic.Int64 //nolint:gochecknoglobals // names are the machine's

// startNAT builds the path and serves an API at its far end, for the length of
// the test. It needs root, iproute2 and nftables.
func startNAT(t *testing.T, forgotten string) *nat {
	t.Helper()
	id := fmt.Sprintf("%d-%d", os.Getpid(), natsMade.Add(1))
	n := &nat{client: "pc" + id, router: "pr" + id, server: "ps" + id}
	for _, name := range []string{n.client, n.router, n.server} {
		natDo(t, "", "ip", "netns", "add", name)
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
	}
	natDo(t, "", "ip", "-n", n.client, "link", "add", "eth0", "type", "veth", "peer", "name", "in0", "netns", n.router)
	natDo(t, "", "ip", "-n", n.server, "link", "add", "eth0", "type", "veth", "peer", "name", "out0", "netns", n.router)
	for _, a := range [][3]string{
		{n.client, "eth0", "10.78.1.2/24"}, {n.router, "in0", "10.78.1.1/24"},
		{n.server, "eth0", "10.78.2.2/24"}, {n.router, "out0", "10.78.2.1/24"},
	} {
		natDo(t, "", "ip", "-n", a[0], "addr", "add", a[2], "dev", a[1])
		natDo(t, "", "ip", "-n", a[0], "link", "set", a[1], "up")
		natDo(t, "", "ip", "-n", a[0], "link", "set", "lo", "up")
	}
	natDo(t, "", "ip", "-n", n.client, "route", "add", "default", "via", "10.78.1.1")
	natDo(t, fmt.Sprintf(natRules, forgotten), "ip", "netns", "exec", n.router, "nft", "-f", "-")
	n.set(t, "net/ipv4/ip_forward", 1)
	n.set(t, "net/netfilter/nf_conntrack_tcp_loose", 0)
	n.forgetsAfter(t, natTimeout)
	n.url = n.serve(t)
	return n
}

// natRules let through what belongs to a connection that is known or begins one.
const natRules = `
table ip nat {
	chain post {
		type nat hook postrouting priority 100;
		oifname "out0" masquerade
	}
}
table ip filter {
	chain forward {
		type filter hook forward priority 0; policy drop;
		ct state established,related accept
		tcp flags & (fin|syn|rst|ack) == syn ct state new accept
		meta l4proto tcp %s
	}
}
`

// set writes one of the router's settings.
func (n *nat) set(t *testing.T, key string, value int) {
	t.Helper()
	natDo(t, "", "ip", "netns", "exec", n.router, "sh", "-c", fmt.Sprintf("echo %d > /proc/sys/%s", value, key))
}

// forgetsAfter says how long from its next packet on a connection is known; in
// whole seconds.
func (n *nat) forgetsAfter(t *testing.T, idle time.Duration) {
	t.Helper()
	n.set(t, "net/netfilter/nf_conntrack_tcp_timeout_established", int(idle.Seconds()))
}

// serve answers at the far end, and never closes a connection.
func (n *nat) serve(t *testing.T) string {
	t.Helper()
	var ln net.Listener
	err := inNamed(n.server, func() (err error) {
		ln, err = net.Listen("tcp", "10.78.2.2:0")
		return err
	})
	if err != nil {
		t.Fatalf("listening behind the router: %v", err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok"))
		n.answers.Add(1)
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Serve(ln)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-served
	})
	return "http://" + ln.Addr().String()
}

// inNamed runs f in a namespace that `ip netns` made.
func inNamed(name string, f func() error) error {
	fd, err := unix.Open("/run/netns/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening namespace %s: %w", name, err)
	}
	defer func() { _ = unix.Close(fd) }()
	return (&namespace{fd: fd}).inside(f)
}

// perch runs the command where the application would run, and reads its report.
func (n *nat) perch(t *testing.T, args ...string) natReport {
	t.Helper()
	r, err := n.run(args...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// run is perch, for goroutines beside the test's.
func (n *nat) run(args ...string) (r natReport, err error) {
	path, err := buildPerch()
	if err != nil {
		return r, err
	}
	cmd := exec.Command("ip", append([]string{"netns", "exec", n.client, path}, append(args, "--output", "json")...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if code := cmd.ProcessState.ExitCode(); err != nil && !errors.As(err, &exit) || code > 1 {
		return r, fmt.Errorf("perch %s: %w, exit status %d\n%s%s", strings.Join(args, " "), err, code, out.String(), errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return r, fmt.Errorf("reading the report: %w\n%s", err, out.String())
	}
	return r, nil
}

// natReport is what these tests read of the JSON report.
type natReport struct {
	Outcomes []natOutcome
	Idle     []natIdle
}

type natOutcome struct {
	Verdict, Reason, Diagnosis, Message string
	Advice                              []string
	HoldSeconds                         float64 `json:"hold_seconds"`
	Attempts                            []struct {
		Connection, Reason string
		IdleSeconds        float64 `json:"idle_seconds"`
	}
}

type natIdle struct {
	Survived float64 `json:"survived_seconds"`
	Died     float64 `json:"died_seconds"`
	Measured float64 `json:"measured_seconds"`
	How      string
}

func natDo(t *testing.T, stdin, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}
