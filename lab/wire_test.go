package lab_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"perch.example/lab"
)

// How a connection ended, as a plain client sees it.
const (
	endFIN  = "fin"
	endRST  = "rst"
	endOpen = "open" // nothing more came for a while
)

const (
	quiet    = 60 * time.Millisecond // how long nothing comes on a connection that is called open
	patience = 20 * time.Second      // how long a test waits for what must come
)

// wanted is what a client must see of the exchange that the scenario spoils.
type wanted struct {
	end      string
	idle     string // what comes before a held connection is used again; empty: its end
	contains string // in what came
	lacks    string // not in it
	nothing  bool   // not a byte came
}

// seen is what a client saw of the exchange that the scenario spoiled.
type seen struct {
	text string // what came, at most 64 KiB
	end  string
}

// exchange speaks to a scenario as a simple client does: one request and, with
// a held scenario, a second one unless the server ends what is idle. It waits for
// what is wanted, and then a little longer.
func exchange(t *testing.T, s *lab.Server, want wanted) seen {
	t.Helper()
	tcp, err := net.Dial("tcp", s.Host())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tcp.Close() })
	stream := tcp
	if s.CA() != nil {
		config := s.ClientConfig()
		config.ServerName = "127.0.0.1"
		secure := tls.Client(tcp, config)
		if err := secure.Handshake(); err != nil {
			t.Fatal(err)
		}
		stream = secure
	}
	unasked := wanted{end: endOpen, nothing: true}
	if s.Scenario().Held {
		ask(t, stream)
		warm := readAnswer(t, stream)
		if !strings.Contains(warm, "200 OK") || !strings.Contains(warm, `"days"`) {
			t.Fatalf("the first request of a held scenario got %q", warm)
		}
		if s.Scenario().IdleFor > 0 {
			unasked = want
		}
	}
	before := readAll(t, stream, unasked)
	if before.end != endOpen {
		return before
	}
	if _, err := io.WriteString(stream, request); err != nil {
		return seen{before.text, ending(err)}
	}
	after := readAll(t, stream, want)
	return seen{before.text + after.text, after.end}
}

const request = "GET /calendar?days=2 HTTP/1.1\r\nHost: lab\r\n\r\n"

func ask(t *testing.T, stream io.Writer) {
	t.Helper()
	if _, err := io.WriteString(stream, request); err != nil {
		t.Fatal(err)
	}
}

// readAnswer reads up to the end of a good answer's JSON, byte by byte so as to
// take nothing that belongs to what follows.
func readAnswer(t *testing.T, stream net.Conn) string {
	t.Helper()
	if err := stream.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	var b [1]byte
	for !strings.HasSuffix(text.String(), "}]}]}\n") {
		if _, err := io.ReadFull(stream, b[:]); err != nil {
			t.Fatalf("reading the first answer: %v after %q", err, text.String())
		}
		text.WriteByte(b[0])
	}
	return text.String()
}

// readAll reads until the connection ends, or nothing more comes behind what is
// wanted.
func readAll(t *testing.T, stream net.Conn, want wanted) seen {
	t.Helper()
	var text strings.Builder
	buffer := make([]byte, 16<<10)
	for text.Len() < 64<<10 {
		wait := patience
		if want.end == endOpen && (want.nothing || strings.Contains(text.String(), want.contains)) {
			wait = quiet
		}
		if err := stream.SetReadDeadline(time.Now().Add(wait)); err != nil {
			t.Fatal(err)
		}
		n, err := stream.Read(buffer)
		text.Write(buffer[:n])
		if err != nil {
			return seen{text.String(), ending(err)}
		}
	}
	return seen{text.String(), endOpen}
}

func ending(err error) string {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return endOpen
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return endFIN
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return endRST
	}
	return err.Error()
}
