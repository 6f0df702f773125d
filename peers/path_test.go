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
func pathIn(t *testing.T, perch string, n *namespace, url string) (string, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), perch, "path", url, "--output", "json")
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

// serveTLS shakes hands at the far end of a link until the test ends.
func serveTLS(t *testing.T, l *Link, config *tls.Config) {
	t.Helper()
	ln, err := l.Listen("tcp", net.JoinHostPort(l.ServerIP(), "8443"))
	if err != nil {
		t.Fatal(err)
	}
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

// TestPathOfTwoNamespaces: one server over two ways, of 2 ms and of 40 ms. Of
// the same way twice the comparison says so, of the two it names the difference
// and nothing else.
func TestPathOfTwoNamespaces(t *testing.T) {
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
	short, long := Delay(t, 2*time.Millisecond), Delay(t, 40*time.Millisecond)
	serveTLS(t, short, config)
	serveTLS(t, long, config)
	url := "https://" + net.JoinHostPort(serverIP, "8443")
	var taken [3]string
	var failed [3]error
	var taking sync.WaitGroup
	for i, n := range []*namespace{short.client, short.client, long.client} {
		taking.Go(func() { taken[i], failed[i] = pathIn(t, perch, n, url) })
	}
	taking.Wait()
	var files [3]string
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
	said, code = comparePaths(t, perch, files[0], files[2])
	for _, part := range []string{"NOT THE SAME PATH: 2 differences", "DIFFERENT: TCP round trip", "DIFFERENT: TLS round trip"} {
		if code != 1 || !strings.Contains(said, part) {
			t.Errorf("two ways: exit status %d, want 1; want %q in\n%s", code, part, said)
		}
	}
}
