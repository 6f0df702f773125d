package lab_test

import (
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"perch.example/lab"
)

// evidence is what the client's kernel knows after the reused request was written.
type evidence struct {
	clean        bool // nothing had come before the write
	fin, rst     bool
	bytes        bool
	acknowledged bool // any of the request's bytes
	retransmits  uint32
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

// reuse warms a connection, lets the server end it where the scenario does that to
// an idle one, writes blindly and asks the client's kernel until that knows enough.
func reuse(t *testing.T, s *lab.Server, enough func(evidence) bool) evidence {
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
	before, queued := info(t, tcp)
	clean := func() bool { return before.State == tcpEstablished && queued == 0 }
	for end := time.Now().Add(patience); s.Scenario().IdleFor > 0 && clean(); before, queued = info(t, tcp) {
		if time.Now().After(end) {
			t.Fatal("the server does not close")
		}
		time.Sleep(time.Millisecond)
	}
	if _, err := io.WriteString(stream, request); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		after, waiting := info(t, tcp)
		got := evidence{
			clean: clean(), bytes: waiting > 0,
			fin: after.State == tcpCloseWait || closedAfterFIN(t, tcp, after), rst: after.State == tcpClose,
			acknowledged: after.Bytes_acked > before.Bytes_acked, retransmits: after.Total_retrans - before.Total_retrans,
		}
		if enough(got) || time.Now().After(end) {
			return got
		}
	}
}

// closedAfterFIN reports whether an RST found the FIN there already, which we were too
// late to see: the kernel says so by the error that it keeps.
func closedAfterFIN(t *testing.T, tcp *net.TCPConn, now unix.TCPInfo) bool {
	t.Helper()
	if now.State != tcpClose {
		return false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	if err := raw.Control(func(fd uintptr) { kept, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR) }); err != nil {
		t.Fatal(err)
	}
	return err == nil && unix.Errno(kept) == unix.EPIPE
}

func fin(e evidence) bool { return e.fin }
func rst(e evidence) bool { return e.rst }

// silent waits for the acknowledgement, and then a little longer for what else comes.
func silent() func(evidence) bool {
	var since time.Time
	return func(e evidence) bool {
		if e.acknowledged && since.IsZero() {
			since = time.Now()
		}
		return e.rst || e.acknowledged && time.Since(since) >= quiet
	}
}

func TestCrossedCloseDoesNotAcknowledge(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		s := start(t, "crossed_close", lab.Options{TLS: secure})
		for i := range 20 {
			got := reuse(t, s, fin)
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
			got := reuse(t, s, fin)
			if !got.clean || !got.fin || !got.acknowledged || got.bytes {
				t.Fatalf("TLS %t, connection %d: %+v, want a FIN that acknowledges the request", secure, i+1, got)
			}
		}
	}
}

func TestResetIsBare(t *testing.T) {
	t.Parallel()
	s := start(t, "reset", lab.Options{Healthy: 1})
	if got := reuse(t, s, rst); !got.clean || !got.rst {
		t.Errorf("%+v, want an RST", got)
	}
}

func TestBlackholeLosesEverything(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		s := start(t, "blackhole", lab.Options{TLS: secure})
		got := reuse(t, s, func(e evidence) bool { return e.retransmits >= 2 || e.acknowledged || e.fin || e.rst })
		if !got.clean || got.fin || got.rst || got.bytes || got.acknowledged || got.retransmits < 2 {
			t.Errorf("TLS %t: %+v, want silence and two repetitions", secure, got)
		}
	}
}

func TestNoResponseAcknowledges(t *testing.T) {
	t.Parallel()
	s := start(t, "no_response", lab.Options{Healthy: 1})
	if got := reuse(t, s, silent()); !got.clean || got.fin || got.rst || !got.acknowledged {
		t.Errorf("%+v, want an acknowledgement and silence", got)
	}
}

// A half-closed connection takes the client's request and acknowledges it; a
// closed one answers it with an RST.
func TestHalfCloseTakesTheNextRequest(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"idle_fin_half": true, "idle_fin": false} {
		s := start(t, name, options())
		enough := rst
		if want {
			enough = silent()
		}
		got := reuse(t, s, enough)
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
	asked := time.Now()
	ask(t, conn)
	readAnswer(t, conn)
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
	if earliest := asked.Add(options().IdleTimeout); record[0].At.Before(earliest) || record[0].At.After(closed) {
		t.Errorf("recorded at %v, want between %v and %v", record[0].At, earliest, closed)
	}
}
