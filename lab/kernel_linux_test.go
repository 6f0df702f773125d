package lab_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"perch.example/lab"
)

// evidence is what the client's kernel knows at the first event after the
// reused request was written.
type evidence struct {
	clean        bool // nothing had come before the write
	fin, rst     bool
	bytes        bool
	acknowledged bool // any of the request's bytes
	retransmits  uint32
	elapsed      time.Duration
}

// info asks the client's kernel, without consuming anything.
func info(t *testing.T, tcp *net.TCPConn) (unix.TCPInfo, int) {
	t.Helper()
	raw, err := tcp.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var got *unix.TCPInfo
	var queued int
	var failed error
	if err := raw.Control(func(fd uintptr) {
		got, failed = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if failed == nil {
			queued, failed = unix.IoctlGetInt(int(fd), unix.SIOCINQ)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if failed != nil {
		t.Fatal(failed)
	}
	return *got, queued
}

const (
	tcpEstablished = 1
	tcpClose       = 7
	tcpCloseWait   = 8
)

// reuse warms a connection, idles as the scenario asks, writes blindly and
// reports the first event after the write, or the lack of one.
func reuse(t *testing.T, s *lab.Server, wait time.Duration) evidence {
	t.Helper()
	conn, err := net.Dial("tcp", s.Host())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	tcp := conn.(*net.TCPConn)
	stream := conn
	if s.CA() != nil {
		config := s.ClientConfig()
		config.ServerName = "127.0.0.1"
		stream = tls.Client(conn, config)
	}
	ask(t, stream)
	readAnswer(t, stream)
	idle(t, s)

	before, queued := info(t, tcp)
	got := evidence{clean: before.State == tcpEstablished && queued == 0}
	began := time.Now()
	if _, err := io.WriteString(stream, request); err != nil {
		t.Fatal(err)
	}
	if err := tcp.SetReadDeadline(time.Now().Add(wait)); err != nil {
		t.Fatal(err)
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	// The edge may have come before we look: ask first, then wait.
	err = raw.Read(func(fd uintptr) bool {
		now, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		return err != nil || now.State != before.State
	})
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	got.elapsed = time.Since(began)
	after, queued := info(t, tcp)
	got.fin = after.State == tcpCloseWait
	got.rst = after.State == tcpClose
	got.bytes = queued > 0
	got.acknowledged = after.Bytes_acked > before.Bytes_acked
	got.retransmits = after.Total_retrans - before.Total_retrans
	return got
}

func TestCrossedCloseDoesNotAcknowledge(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		s := start(t, "crossed_close", lab.Options{TLS: secure})
		for i := range 20 {
			got := reuse(t, s, patience)
			if !got.clean || !got.fin || got.acknowledged || got.bytes {
				t.Fatalf("TLS %t, connection %d: %+v, want a clean connection and a FIN without an acknowledgement", secure, i+1, got)
			}
		}
		if got, want := len(s.Closes()), 20; got != want {
			t.Errorf("%d closes recorded, want %d", got, want)
		}
	}
}

func TestEOFAcknowledges(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		s := start(t, "eof", lab.Options{TLS: secure, Healthy: 1})
		for i := range 20 {
			got := reuse(t, s, patience)
			if !got.clean || !got.fin || !got.acknowledged || got.bytes {
				t.Fatalf("TLS %t, connection %d: %+v, want a FIN that acknowledges the request", secure, i+1, got)
			}
		}
	}
}

func TestResetIsBare(t *testing.T) {
	t.Parallel()
	s := start(t, "reset", lab.Options{Healthy: 1})
	if got := reuse(t, s, patience); !got.clean || !got.rst {
		t.Errorf("%+v, want an RST", got)
	}
}

func TestBlackholeLosesEverything(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		s := start(t, "blackhole", lab.Options{TLS: secure})
		got := reuse(t, s, 700*time.Millisecond)
		if !got.clean || got.fin || got.rst || got.bytes || got.acknowledged || got.retransmits < 2 {
			t.Errorf("TLS %t: %+v, want silence and two repetitions", secure, got)
		}
	}
}

func TestNoResponseAcknowledges(t *testing.T) {
	t.Parallel()
	s := start(t, "no_response", lab.Options{Healthy: 1})
	if got := reuse(t, s, 100*time.Millisecond); !got.clean || got.fin || got.rst || !got.acknowledged {
		t.Errorf("%+v, want an acknowledgement and silence", got)
	}
}

// A half-closed connection takes the client's request and acknowledges it; a
// closed one answers it with an RST.
func TestHalfCloseTakesTheNextRequest(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"idle_fin_half": true, "idle_fin": false} {
		s := start(t, name, options())
		got := reuse(t, s, quiet)
		if got.clean || got.acknowledged != want || got.rst == want {
			t.Errorf("%s: %+v, want acknowledged %t", name, got, want)
		}
	}
}

func TestIdleFINIsOnTime(t *testing.T) {
	t.Parallel()
	s := start(t, "idle_fin", options())
	conn, err := net.Dial("tcp", s.Host())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ask(t, conn)
	readAnswer(t, conn)
	answered := time.Now()
	if got := readAll(t, conn, wanted{end: endFIN}); got.end != endFIN {
		t.Fatalf("the connection ended with %q", got.end)
	}
	closed := time.Now()
	record := s.Closes()
	if len(record) != 1 {
		t.Fatalf("%d closes recorded, want 1", len(record))
	}
	if record[0].Idle < options().IdleTimeout {
		t.Errorf("closed after %v of idleness, want at least %v", record[0].Idle, options().IdleTimeout)
	}
	if record[0].At.Before(answered) || record[0].At.After(closed) {
		t.Errorf("recorded at %v, want between %v and %v", record[0].At, answered, closed)
	}
}
