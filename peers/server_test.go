//go:build peers

package peers

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"perch.example/internal/freeport"
)

// twoDays is what every server answers, to any method, on /calendar.
const twoDays = `{"days":[{"date":"2026-03-02"},{"date":"2026-03-03"}]}` + "\n"

// readyWithin is how long a server may take to start: a JVM on a busy machine.
const readyWithin = 90 * time.Second

// Peer is a real server that runs for the length of a test.
type Peer struct {
	Name   string
	URL    string // answers twoDays
	Addr   string // host and port
	Port   uint16
	CAFile string // PEM; empty: plain
	RootCA []byte // the same
	HTTP2  bool   // speaks HTTP/2: by ALPN, plain by prior knowledge
}

// place is what a server's configuration needs to know.
type place struct {
	dir  string // world-readable: servers change their user
	host string
	port int
	idle time.Duration
	cert certificate // zero: plain

	http2 bool // and where the server can choose, nothing else
}

// seconds is the idle timeout in whole seconds, for servers that know no
// smaller unit.
func (p place) seconds() int { return int(p.idle / time.Second) }

// millis is the idle timeout in milliseconds.
func (p place) millis() int64 { return p.idle.Milliseconds() }

// Servers are the names that Start knows; secure says whether with TLS.
func Servers(secure bool) []string {
	if secure {
		return []string{"nginx", "haproxy", "node", "go"}
	}
	return []string{"nginx", "haproxy", "apache2", "caddy", "tomcat10", "node", "gunicorn", "go"}
}

// Start runs the server on loopback until the test ends, with that idle timeout
// in its own configuration, and returns once it answers. What is missing fails
// the test.
func Start(t *testing.T, name string, idle time.Duration, secure bool) Peer {
	t.Helper()
	return StartOn(t, nil, name, idle, secure)
}

// StartOn is Start at the far end of a link; nil means loopback.
func StartOn(t *testing.T, link *Link, name string, idle time.Duration, secure bool) Peer {
	t.Helper()
	return start(t, link, name, place{idle: idle}, secure)
}

// start is StartOn for a place of which the rest is still to be found.
func start(t *testing.T, link *Link, name string, p place, secure bool) Peer {
	t.Helper()
	p.dir, p.host = worldDir(t), "127.0.0.1"
	if link != nil {
		p.host = link.ServerIP()
	}
	p.port = freePort(t, link, p.host)
	peer := Peer{Name: name, Addr: net.JoinHostPort(p.host, strconv.Itoa(p.port)), Port: uint16(p.port), HTTP2: p.http2}
	scheme := "http://"
	if secure {
		scheme = "https://"
		p.cert = newCertificate(t, p.dir, p.host)
		peer.CAFile, peer.RootCA = p.cert.caFile, p.cert.ca
	}
	peer.URL = scheme + peer.Addr + "/calendar"
	write(t, filepath.Join(p.dir, "www", "calendar"), twoDays)
	if name == "go" {
		serveGo(t, link, p)
	} else {
		run(t, link, name, command(t, name, p))
	}
	awaitAnswer(t, link, peer)
	return peer
}

// command writes the server's configuration and returns how to run it in the
// foreground.
func command(t *testing.T, name string, p place) *exec.Cmd {
	t.Helper()
	switch name {
	case "nginx":
		return nginx(t, p)
	case "haproxy":
		return haproxy(t, p)
	case "apache2":
		return apache(t, p)
	case "caddy":
		return caddy(t, p)
	case "tomcat10":
		return tomcat(t, p)
	case "node":
		return node(t, p)
	case "gunicorn":
		return gunicorn(t, p)
	}
	t.Fatalf("no server is called %q", name)
	return nil
}

// run starts a server in a process group of its own and ends that group with
// the test.
func run(t *testing.T, link *Link, name string, cmd *exec.Cmd) {
	t.Helper()
	var said locked
	cmd.Stdout, cmd.Stderr = &said, &said
	// A test that panics ends its server too.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	done, err := launch(link, cmd)
	if err != nil {
		t.Fatalf("starting %s (is its package installed? .ci/run has the list): %v", name, err)
	}
	group := -cmd.Process.Pid
	t.Cleanup(func() {
		_ = syscall.Kill(group, syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(5 * time.Second):
		}
		_ = syscall.Kill(group, syscall.SIGKILL)
		if t.Failed() {
			t.Logf("%s said:\n%s", name, said.String())
		}
	})
}

// launch starts a program, at the far end of a link if there is one, and closes
// done when it has ended. Its thread waits for it: the signal of Pdeathsig is
// for the death of the thread that started it.
func launch(link *Link, cmd *exec.Cmd) (done <-chan struct{}, err error) {
	within := onThread
	if link != nil {
		within = link.server.inside
	}
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		if err := within(func() error {
			err := cmd.Start()
			started <- err
			if err == nil {
				_ = cmd.Wait()
			}
			return nil
		}); err != nil {
			started <- err
		}
	}()
	return ended, <-started
}

// awaitAnswer waits until a whole answer has come: a server that listens may
// not serve yet.
func awaitAnswer(t *testing.T, link *Link, peer Peer) {
	t.Helper()
	end := time.Now().Add(readyWithin)
	for {
		err := ask(link, peer)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waiting for %s: %v", peer.Name, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ask makes one exchange on a connection of its own.
func ask(link *Link, peer Peer) error {
	if peer.HTTP2 {
		return askHTTP2(peer)
	}
	conn, err := open(link, peer)
	if err != nil {
		return err
	}
	return errors.Join(exchange(conn, peer), conn.Close())
}

// open dials the peer and shakes hands.
func open(link *Link, peer Peer) (net.Conn, error) {
	dial := net.Dial
	if link != nil {
		dial = link.DialTCP
	}
	conn, err := dial("tcp", peer.Addr)
	if err != nil || peer.CAFile == "" {
		return conn, err
	}
	config, err := peer.tlsConfig()
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	secure := tls.Client(conn, config)
	if err := secure.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if err := secure.Handshake(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secure, secure.SetDeadline(time.Time{})
}

// exchange asks once on an open connection and reads the answer to its end.
func exchange(conn net.Conn, peer Peer) error {
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(conn, "GET /calendar HTTP/1.1\r\nHost: %s\r\nConnection: keep-alive\r\n\r\n", peer.Addr)
	if err != nil {
		return err
	}
	var got []byte
	buffer := make([]byte, 4096)
	for !bytes.HasSuffix(got, []byte(twoDays)) && !bytes.HasSuffix(got, []byte(twoDays+"\r\n0\r\n\r\n")) {
		n, err := conn.Read(buffer)
		got = append(got, buffer[:n]...)
		if err != nil {
			return fmt.Errorf("reading the answer: %w after %q", err, got)
		}
	}
	if !bytes.HasPrefix(got, []byte("HTTP/1.1 200")) {
		return fmt.Errorf("answer %.60q, want status 200", got)
	}
	return conn.SetDeadline(time.Time{})
}

// freePort finds a port on which nobody listens at the moment.
func freePort(t *testing.T, link *Link, host string) int {
	t.Helper()
	listen := net.Listen
	if link != nil {
		listen = link.Listen
	}
	return freeport.On(t, listen, host)
}

// worldDir is a folder of the test's own that other users may read.
func worldDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "perch-peers-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// write makes a file, and the folders that lead to it.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// locked is a buffer that a process may write to while the test reads it.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
