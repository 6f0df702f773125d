package wire_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// canned is a connection that answers whatever is asked with the same bytes,
// a few at a time, and then ends.
type canned struct {
	net.Conn // the methods that are not used
	answer   io.Reader
	step     int
}

func (c canned) Read(p []byte) (int, error)       { return c.answer.Read(p[:min(len(p), c.step)]) }
func (c canned) Write(p []byte) (int, error)      { return len(p), nil }
func (c canned) Close() error                     { return nil }
func (c canned) LocalAddr() net.Addr              { return nil }
func (c canned) RemoteAddr() net.Addr             { return nil }
func (c canned) SetDeadline(time.Time) error      { return nil }
func (c canned) SetReadDeadline(time.Time) error  { return nil }
func (c canned) SetWriteDeadline(time.Time) error { return nil }

// Whatever comes gets one reason, never internal, and what is called a whole
// answer is one to net/http as well.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		whole, "", "H", "HTTP/1.1 100 Continue\r\n\r\n" + whole, "SSH-2.0-OpenSSH\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nA: b\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + zipped("hi"),
		"HTTP/1.0 200 OK\r\n\r\nhi", "HTTP/1.1 204 No Content\r\n\r\nhi",
	} {
		f.Add([]byte(s), 1)
		f.Add([]byte(s), 4096)
	}
	f.Fuzz(func(t *testing.T, answer []byte, step int) {
		c, e := wire.Open(t.Context(), wire.Options{Host: "192.0.2.1", Port: "80",
			Dial: func(context.Context, string, string) (net.Conn, error) {
				return canned{answer: bytes.NewReader(answer), step: max(step, 1)}, nil
			}})
		if c == nil {
			t.Fatal(e.Error)
		}
		r := wire.Request{HTTP: get(t, "Accept-Encoding", "gzip"), MaxHead: 4096, MaxBody: 4096}
		got, e := c.Exchange(t.Context(), r)
		switch reason := probes.Classify(e); reason {
		case probes.ReasonOK:
			sameAsHTTP(t, answer, got)
		case probes.ReasonEOF, probes.ReasonPartialHead, probes.ReasonPartialBody, probes.ReasonBadResponse, probes.ReasonTooLarge:
			if got.Status != 0 {
				t.Errorf("%s with status %d", reason, got.Status)
			}
		default:
			t.Errorf("%s (%s)", reason, probes.Explain(e))
		}
	})
}

func sameAsHTTP(t *testing.T, answer []byte, got wire.Response) {
	br := bufio.NewReader(bytes.NewReader(answer))
	for {
		r, err := http.ReadResponse(br, get(t))
		if err != nil {
			t.Fatalf("net/http: %v", err)
		}
		if r.StatusCode >= 100 && r.StatusCode < 200 && r.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil || r.StatusCode != got.Status || !bytes.Equal(body, got.Body) && r.Header.Get("Content-Encoding") == "" {
			t.Fatalf("net/http reads %d %q (%v), not %d %q", r.StatusCode, body, err, got.Status, got.Body)
		}
		return
	}
}
