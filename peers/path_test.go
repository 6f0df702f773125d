//go:build peers

package peers

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// pathIn takes a path's fingerprint with the command in a network namespace.
func pathIn(t *testing.T, perch string, n *namespace, config string) (string, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), perch, "path", "--config", config, "--output", "json")
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := n.inside(cmd.Start); err != nil { // the child is born where this thread is
		return "", err
	}
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("perch path: %w\n%s%s", err, out.String(), errs.String())
	}
	return out.String(), nil
}

// comparePaths runs the command's comparison, and returns what it says and its
// exit status.
func comparePaths(t *testing.T, perch, a, b string) (string, int) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), perch, "path", "--compare", a, b).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		return string(out), exit.ExitCode()
	}
	return string(out), 0
}

// serveTLS shakes hands on a listener until the test ends.
func serveTLS(t *testing.T, ln net.Listener, config *tls.Config) {
	t.Helper()
	var running sync.WaitGroup
	t.Cleanup(func() { _ = ln.Close(); running.Wait() })
	running.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer func() { _ = c.Close() }()
				_ = c.SetDeadline(time.Now().Add(10 * time.Second))
				_ = tls.Server(c, config).Handshake() // perch says how that went
			})
		}
	})
}

// listenAt listens at the far end of a link, on the port of these tests.
func listenAt(t *testing.T, l *Link) net.Listener {
	t.Helper()
	ln, err := l.Listen("tcp", net.JoinHostPort(l.ServerIP(), pathPort))
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// proxied serves at the far end of a link through a relay that ends TCP there:
// the TLS server is further away.
func proxied(t *testing.T, l *Link, config *tls.Config, delay time.Duration) {
	t.Helper()
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveTLS(t, far, config)
	r := &relay{ln: listenAt(t, l).(*net.TCPListener), to: far.Addr().String(), delay: delay}
	r.running.Go(r.accept)
	t.Cleanup(func() {
		_ = r.ln.Close()
		r.mu.Lock()
		for _, c := range r.conns {
			_ = c.Close()
		}
		r.mu.Unlock()
		r.running.Wait()
	})
}

const (
	pathPort   = "8443"
	pathConfig = `
version: 1
name: path
targets:
  - name: api
    url: https://%s:%s
    rate_limit: 10/s
    share: 100%%
    tls: {ca_file: %q}
    probes: [{name: get, kind: http}]
`
)

// TestPathOfNamespaces: one server over three ways, of 2 ms, of 40 ms, and of 2
// ms to something that ends TCP before it. Of one way twice the comparison says
// so; of two it names what differs and nothing else.
func TestPathOfNamespaces(t *testing.T) {
	perch, err := buildPerch()
	if err != nil {
		t.Fatal(err)
	}
	cert := newCertificate(t, t.TempDir(), serverIP)
	pair, err := tls.LoadX509KeyPair(cert.file, cert.keyFile)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	short, long, ended := Delay(t, 2*time.Millisecond), Delay(t, 40*time.Millisecond), Delay(t, 2*time.Millisecond)
	serveTLS(t, listenAt(t, short), config)
	serveTLS(t, listenAt(t, long), config)
	proxied(t, ended, config, 20*time.Millisecond)

	file := write(t, filepath.Join(t.TempDir(), "perch.yaml"), fmt.Sprintf(pathConfig, serverIP, pathPort, cert.caFile))
	var taken [4]string
	var failed [4]error
	var taking sync.WaitGroup
	for i, n := range []*namespace{short.client, short.client, long.client, ended.client} {
		taking.Go(func() { taken[i], failed[i] = pathIn(t, perch, n, file) })
	}
	taking.Wait()
	var files [4]string
	for i := range taken {
		if failed[i] != nil {
			t.Fatal(failed[i])
		}
		files[i] = write(t, filepath.Join(t.TempDir(), "path.json"), taken[i])
	}
	said, code := comparePaths(t, perch, files[0], files[1])
	if code != 0 || !strings.HasPrefix(said, "THE SAME PATH as far as can be seen") {
		t.Errorf("one way twice: exit status %d, want 0\n%s", code, said)
	}
	for other, differences := range map[string][]string{
		files[2]: {"TCP round trip", "TLS round trip"}, files[3]: {"where TCP ends", "TLS round trip"},
	} {
		said, code := comparePaths(t, perch, files[0], other)
		if want := fmt.Sprintf("NOT THE SAME PATH: %d differences", len(differences)); code != 1 || !strings.HasPrefix(said, want) {
			t.Errorf("two ways: exit status %d, want 1 and %q\n%s", code, want, said)
		}
		for _, d := range differences {
			if !strings.Contains(said, "DIFFERENT: "+d) {
				t.Errorf("no difference in %s:\n%s", d, said)
			}
		}
	}
}
