package slackfake

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestFaults(t *testing.T) {
	tests := []struct {
		name                    string
		fault                   Fault
		status, hook            int
		says, header            string
		kept, cut, isJSON, html bool
	}{
		{name: "limited", fault: RateLimited("2.5"), status: 429, hook: 429, says: "ratelimited", header: "2.5", isJSON: true},
		{name: "limited, not saying how long", fault: RateLimited(""), status: 429, hook: 429, says: "ratelimited", isJSON: true},
		{name: "away", fault: Status(503), status: 503, hook: 503, says: "Service Unavailable", html: true},
		{name: "refused", fault: Refuse("fatal_error"), status: 200, hook: 403, says: "fatal_error", isJSON: true},
		{name: "accepted, then 500", fault: Status(500).Accepted(), status: 500, hook: 500, says: "Internal Server Error", kept: true, html: true},
		{name: "cut", fault: Cut(), cut: true},
		{name: "accepted, then cut", fault: Cut().Accepted(), cut: true, kept: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t)
			c.fake.Fail("chat.postMessage", 1, tt.fault)
			got, err := c.do("https://slack.com/api/chat.postMessage", strings.NewReader("channel=stock&text=hi"),
				"Content-Type", "application/x-www-form-urlencoded", "Authorization", "Bearer "+bot)
			if errors.Is(err, io.ErrUnexpectedEOF) != tt.cut || err != nil && !tt.cut {
				t.Fatalf("it ended with %v", err)
			}
			kind := got.header.Get("Content-Type")
			if !tt.cut && (got.status != tt.status || !strings.Contains(got.body, tt.says) || got.header.Get("Retry-After") != tt.header ||
				strings.Contains(kind, "json") != tt.isJSON || strings.Contains(kind, "html") != tt.html) {
				t.Errorf("it answered %d %q as %q, Retry-After %q", got.status, got.body, kind, got.header.Get("Retry-After"))
			}
			call := c.fake.Calls()[0]
			if kept := len(c.fake.Messages()) == 1; kept != tt.kept || call.Accepted != tt.kept || !strings.Contains(call.Result, tt.fault.String()) {
				t.Errorf("kept: %v, the call is %+v", kept, call)
			}
			if got := c.form("chat.postMessage", "channel", "stock", "text", "hi"); !got.OK {
				t.Errorf("the next one: %s", got.body)
			}
			if tt.cut {
				return
			}
			c.fake.Fail(MethodWebhook, 1, tt.fault)
			if got := c.hook(hookPath, `{"text":"hi"}`); got.status != tt.hook {
				t.Errorf("to a webhook: %d %q, want %d", got.status, got.body, tt.hook)
			}
		})
	}
}

func TestFaultsAreTakenInOrder(t *testing.T) {
	c := start(t)
	c.fake.Fail("auth.test", 1, Refuse("first"))
	c.fake.Fail("", 2, Refuse("any"))
	c.fake.Script(func(call Call) Fault {
		if call.Number == 5 {
			return Refuse("scripted")
		}
		return Fault{}
	})
	var said []string
	for range 6 {
		said = append(said, c.json("auth.test", object{}).Error)
	}
	if want := []string{"first", "any", "any", "", "scripted", ""}; !slices.Equal(said, want) {
		t.Errorf("it said %q, want %q", said, want)
	}
}

// TestWaitingNeedsNoRealTime: in a bubble an answer may never come, or late.
func TestWaitingNeedsNoRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t)
		c.fake.Fail("auth.test", 1, Slow(5*time.Second))
		began := time.Now()
		if got := c.json("auth.test", object{}); !got.OK || time.Since(began) != 5*time.Second {
			t.Errorf("after %s: %s", time.Since(began), got.body)
		}
		for _, fault := range []Fault{Hang(), Hang().Accepted(), Slow(time.Hour)} {
			c.fake.Fail(MethodWebhook, 1, fault)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://hooks.slack.com"+hookPath, strings.NewReader(`{"text":"hi"}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			_, err = c.fake.Transport().RoundTrip(r) //nolint:bodyclose // there is none
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", fault, err)
			}
			cancel()
		}
		if n := len(c.fake.Messages()); n != 1 {
			t.Errorf("%d messages, want the one that was accepted", n)
		}
	})
}

// TestBehindARealServer: a cut is a connection that ends, and the upload goes
// to the server itself.
func TestBehindARealServer(t *testing.T) {
	fake := New(workspace())
	server := httptest.NewUnstartedServer(fake)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	defer server.Close()
	post := func(path, body string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return server.Client().Do(r)
	}
	resp, err := post("/api/files.getUploadURLExternal", "token="+bot+"&filename=a.png&length=3")
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(resp.Body)
	if err != nil || resp.Body.Close() != nil || !strings.Contains(string(content), server.URL+uploadPath) {
		t.Errorf("the upload's address: %s (%v)", content, err)
	}
	fake.Fail("auth.test", 1, Cut())
	if resp, err := post("/api/auth.test", "token="+bot); err == nil {
		t.Errorf("a cut answered %d", resp.StatusCode)
		_ = resp.Body.Close()
	}
	resp, err = server.Client().Get(server.URL + "/api/auth.test")
	if err != nil || resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a GET: %v %v", resp, err)
	}
	_ = resp.Body.Close()
	resp, err = post("/elsewhere", "")
	if err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("another path: %v %v", resp, err)
	}
	_ = resp.Body.Close()
}

func TestManyAtOnce(t *testing.T) {
	c := start(t)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			c.form("chat.postMessage", "channel", "stock", "text", "hi")
			c.fake.Messages()
			c.fake.Events()
		})
	}
	wg.Wait()
	ids := map[string]bool{}
	for _, m := range c.fake.Messages() {
		ids[m.TS] = true
	}
	if len(ids) != 20 || len(c.fake.Calls()) != 20 {
		t.Errorf("%d ids of %d calls, want 20", len(ids), len(c.fake.Calls()))
	}
}
