package lab_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"perch.example/lab"
)

// h2Pooled is Go's own client, speaking HTTP/2 and nothing else.
func h2Pooled(t *testing.T, s *lab.Server) *http.Client {
	t.Helper()
	c := client(t, s)
	transport := c.Transport.(*http.Transport)
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP2(s.CA() != nil)
	transport.Protocols.SetUnencryptedHTTP2(s.CA() == nil)
	return c
}

func TestH2SpeaksWithGo(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		s := start(t, "h2_healthy", lab.Options{TLS: secure})
		c := h2Pooled(t, s)
		for _, q := range []struct{ method, body string }{
			{http.MethodGet, ""}, {http.MethodHead, ""}, {http.MethodPost, strings.Repeat("x", 200<<10)},
		} {
			status, proto, body := speak(t, c, q.method, s.URL()+"/calendar?days=2", q.body)
			if status != http.StatusOK || proto != "HTTP/2.0" || (q.method != http.MethodHead) != strings.Contains(body, `"2026-03-03"`) {
				t.Errorf("%s: status %d, %s, body %q", q.method, status, proto, body)
			}
		}
		var many sync.WaitGroup
		for range 20 {
			many.Go(func() { speak(t, c, http.MethodPost, s.URL(), "{}") })
		}
		many.Wait()
		got := s.Requests()
		if len(got) != 23 || got[2].Method != http.MethodPost || got[0].URI != "/calendar?days=2" || got[2].Header.Get("User-Agent") == "" {
			t.Errorf("%d requests recorded, want 23: %+v", len(got), got)
		}
		if opened, _ := s.Connections(); opened != 1 {
			t.Errorf("%d connections, want 1", opened)
		}
	}
}

func speak(t *testing.T, c *http.Client, method, url, body string) (status int, proto, text string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(q)
	if err != nil {
		t.Error(err)
		return 0, "", ""
	}
	defer func() { _ = resp.Body.Close() }()
	read, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, resp.Proto, string(read)
}

// TestH2PingsMustBeAnswered: a client that reads nothing while it idles is
// turned away.
func TestH2PingsMustBeAnswered(t *testing.T) {
	t.Parallel()
	s := start(t, "h2_pings", options())
	c, err := dialH2(t, s)
	if err != nil {
		t.Fatal(err)
	}
	c.ask(t)
	if end := c.until(t, ":end"); end != endOpen {
		t.Fatalf("the first request got %q, %v", end, c.seen)
	}
	c.seen = nil
	if err := c.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.in.Peek(1); err != nil { // the PING is here, and stays unread
		t.Fatal(err)
	}
	c.ask(t)
	end := c.read(t, wanted{end: endFIN})
	const turnedAway = "GOAWAY:1:PROTOCOL_ERROR:PING or SETTINGS not answered"
	if got := strings.Join(c.seen, " "); end != endFIN || !strings.Contains(got, turnedAway) {
		t.Errorf("got %q, %s, want %q", got, end, turnedAway)
	}
}

func TestH2WantsThePreface(t *testing.T) {
	t.Parallel()
	s := start(t, "h2_healthy", lab.Options{})
	got := exchange(t, s, wanted{end: endFIN})
	if got.end != endFIN || strings.Contains(got.text, "HTTP/1.1") {
		t.Errorf("HTTP/1.1 got %q, %s", got.text, got.end)
	}
}

func TestH2HealthyRequestsComeFirst(t *testing.T) {
	t.Parallel()
	s := start(t, "h2_refused_stream", lab.Options{Healthy: 2})
	c, err := dialH2(t, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{":end", ":end", "RST_STREAM:" + http2.ErrCodeRefusedStream.String(), ":end"} {
		c.seen = nil
		c.ask(t)
		if end := c.read(t, wanted{end: endOpen, contains: want}); end != endOpen {
			t.Errorf("got %q, %v, want %q", end, c.seen, want)
		}
	}
}
