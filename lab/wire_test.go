package lab_test

import (
	"bufio"
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
	patience = 3 * time.Second       // how long a test waits for what must come
)

// seen is what a client saw of the exchange that the scenario spoiled.
type seen struct {
	text string // what came, at most 64 KiB
	end  string
}

// exchange speaks to a scenario as a simple client does: one request and, with
// a held scenario, a second one after the time that the scenario names. It
// waits for the first byte, or the end, as long as first says, and for every
// further one as long as more says.
func exchange(t *testing.T, s *lab.Server, first, more time.Duration) seen {
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
	if s.Scenario().Held {
		ask(t, stream)
		warm := readAnswer(t, stream)
		if !strings.Contains(warm, "200 OK") || !strings.Contains(warm, `"days"`) {
			t.Fatalf("the first request of a held scenario got %q", warm)
		}
		time.Sleep(s.Scenario().IdleFor)
	}
	before := readAll(t, stream, time.Millisecond, time.Millisecond)
	if before.end != endOpen {
		return before
	}
	if _, err := io.WriteString(stream, request); err != nil {
		return seen{before.text, ending(err)}
	}
	after := readAll(t, stream, first, more)
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
	in := bufio.NewReaderSize(stream, 16)
	var text strings.Builder
	for !strings.HasSuffix(text.String(), "}]}]}\n") {
		b, err := in.ReadByte()
		if err != nil {
			t.Fatalf("reading the first answer: %v after %q", err, text.String())
		}
		text.WriteByte(b)
	}
	rest, _ := in.Peek(in.Buffered())
	if len(rest) > 0 {
		t.Logf("behind the first answer: %q", rest)
	}
	return text.String()
}

// readAll reads until the connection ends or nothing more comes.
func readAll(t *testing.T, stream net.Conn, first, more time.Duration) seen {
	t.Helper()
	var text strings.Builder
	buffer := make([]byte, 16<<10)
	wait := first
	for text.Len() < 64<<10 {
		if err := stream.SetReadDeadline(time.Now().Add(wait)); err != nil {
			t.Fatal(err)
		}
		n, err := stream.Read(buffer)
		text.Write(buffer[:n])
		if err != nil {
			return seen{text.String(), ending(err)}
		}
		wait = more
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
