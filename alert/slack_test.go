package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slack-go/slack"

	"perch.example/probes"
)

const secretPath = "/services/T0SECRET01/B0SECRET02/xSecretTokenX0123456789"

// fakeWebhook is Slack's side: it checks what it gets as Slack does, and
// answers as it is told, one answer a request, the last one for ever.
type fakeWebhook struct {
	t       *testing.T
	answers []http.HandlerFunc
	mu      sync.Mutex
	got     []slack.WebhookMessage
}

func (f *fakeWebhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Error(err)
	}
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.URL.Path != secretPath {
		f.t.Errorf("%s %s as %q, want a POST of application/json to the webhook", r.Method, r.URL.Path, r.Header.Get("Content-Type"))
	}
	var message slack.WebhookMessage
	if err := json.Unmarshal(content, &message); err != nil {
		f.t.Errorf("the message is not JSON: %v", err)
	}
	if message.Blocks != nil {
		texts(f.t, message.Blocks.BlockSet)
	}
	if message.Text == "" || message.UnfurlLinks == nil || *message.UnfurlLinks {
		f.t.Errorf("the message has no text of its own, or unfurls links: %.200s", content)
	}
	f.mu.Lock()
	answer := f.answers[min(len(f.got), len(f.answers)-1)]
	f.got = append(f.got, message)
	f.mu.Unlock()
	answer(w, r)
}

func (f *fakeWebhook) messages() []slack.WebhookMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.got
}

func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// cut answers nothing and closes the connection.
func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// hang answers nothing until the client gives up.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// hangInBody answers a head and no body.
func hangInBody(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", "2")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// startWebhook gives a server and a Slack that sends to it.
func startWebhook(t *testing.T, answers ...http.HandlerFunc) (*fakeWebhook, *Slack) {
	t.Helper()
	fake := &fakeWebhook{t: t, answers: answers}
	server := httptest.NewUnstartedServer(fake)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	t.Cleanup(server.Close)
	return fake, NewSlack(probes.NewSecret(server.URL+secretPath+"\n"), server.Client())
}

func sample(t *testing.T) Notice {
	t.Helper()
	_, told := decideAll(options, incident(), incident())
	return told[1][0]
}

func TestSendDelivers(t *testing.T) {
	fake, to := startWebhook(t, answer(200, "ok"))
	if _, err := to.Send(t.Context(), sample(t), Receipt{}); err != nil {
		t.Fatal(err)
	}
	got := fake.messages()
	if len(got) != 1 || got[0].Blocks == nil || !strings.HasPrefix(got[0].Text, "FIRING stock-api") {
		t.Errorf("Slack got %+v, want one message with blocks", got)
	}
}

func TestSendFails(t *testing.T) {
	tests := []struct {
		name      string
		answer    http.HandlerFunc
		status    int
		ambiguous bool
		says      string
	}{
		{"forbidden", answer(403, "action_prohibited"), 403, false, "admins do not allow"},
		{"removed", answer(404, "no_service"), 404, false, "make a new one"},
		{"archived", answer(410, "channel_is_archived"), 410, false, "another one"},
		{"broken", answer(500, "rollup_error"), 500, true, "may have been delivered"},
		{"behind a proxy", answer(502, "<html>\n\nBad gateway"), 502, true, `"<html> Bad gateway"`},
		{"a login page", answer(200, "<html>please log in"), 200, true, "not Slack"},
		{"an empty answer", answer(200, ""), 200, true, "not Slack"},
		{"a redirect", answer(302, "", "Location", "https://elsewhere.example/"), 302, false, "redirects are not followed"},
		{"a huge answer", answer(500, strings.Repeat("x ", 1<<20)), 500, true, "…"},
		{"no answer", cut, 0, true, "EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fake, to := startWebhook(t, tt.answer)
			_, err := to.Send(t.Context(), sample(t), Receipt{})
			var failure *SendError
			if !errors.As(err, &failure) {
				t.Fatalf("sent: %v, want a SendError", err)
			}
			if failure.Status != tt.status || failure.Ambiguous != tt.ambiguous || !strings.Contains(err.Error(), tt.says) || len(err.Error()) > 600 {
				t.Errorf("sent: %q (status %d, ambiguous %v), want %q (%d, %v)", err, failure.Status, failure.Ambiguous, tt.says, tt.status, tt.ambiguous)
			}
			if got := len(fake.messages()); got != 1 {
				t.Errorf("%d requests, want 1: only a 429 is tried again", got)
			}
		})
	}
}

// TestRedirectsAreNotFollowed: the message and the webhook's secret go to
// nobody else, not even where the method and the body would be kept.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s followed the redirect", r.Method, r.URL)
	}))
	defer elsewhere.Close()
	_, to := startWebhook(t, answer(307, "", "Location", elsewhere.URL+secretPath))
	var failure *SendError
	if _, err := to.Send(t.Context(), sample(t), Receipt{}); !errors.As(err, &failure) || failure.Status != 307 || failure.Ambiguous {
		t.Errorf("sent: %v, want a SendError of status 307", err)
	}
}

// TestSendWithoutAClearAnswer: the run's deadline comes before the answer.
func TestSendWithoutAClearAnswer(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{"no head": hang, "no body": hangInBody} {
		ctx, cancel := context.WithCancel(t.Context())
		_, to := startWebhook(t, func(w http.ResponseWriter, r *http.Request) {
			cancel() // Slack has the message now
			handler(w, r)
		})
		_, err := to.Send(ctx, sample(t), Receipt{})
		var failure *SendError
		if !errors.As(err, &failure) || !failure.Ambiguous || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want an ambiguous SendError of context.Canceled", name, err)
		}
	}
}

func TestSendWhereNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + listener.Addr().String() + secretPath
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = NewSlack(probes.NewSecret(address), nil).Send(t.Context(), sample(t), Receipt{})
	var failure *SendError
	if !errors.As(err, &failure) || failure.Ambiguous || !strings.Contains(err.Error(), "refused") {
		t.Errorf("sent: %v, want a SendError that is not ambiguous", err)
	}
}

// TestRefusedBlocksGoOutAsText: Slack's rules may change; the alert gets through.
func TestRefusedBlocksGoOutAsText(t *testing.T) {
	fake, to := startWebhook(t, answer(400, "invalid_blocks"), answer(200, "ok"))
	if _, err := to.Send(t.Context(), sample(t), Receipt{}); err != nil {
		t.Fatal(err)
	}
	got := fake.messages()
	if len(got) != 2 || got[1].Blocks != nil || !strings.Contains(got[1].Text, "NoHttpResponseException") {
		t.Fatalf("Slack got %d messages, want a second one without blocks", len(got))
	}
	_, to = startWebhook(t, answer(400, "invalid_payload"))
	var failure *SendError
	if _, err := to.Send(t.Context(), sample(t), Receipt{}); !errors.As(err, &failure) || !failure.Content || failure.Ambiguous {
		t.Errorf("refused twice: %v, want a SendError about the content", err)
	}
}

// transport answers without a network, so that a bubble's time can pass.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func canned(status int, body string, header http.Header) *http.Response {
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

// TestSendWaitsAsTold: what a 429 says is obeyed within the run's deadline.
func TestSendWaitsAsTold(t *testing.T) {
	date := time.Date(2000, 1, 1, 0, 0, 7, 0, time.UTC).Format(http.TimeFormat) // bubbles begin at 2000
	tests := []struct {
		name, header string
		limited      int // how many times Slack says 429
		deadline     time.Duration
		waits        time.Duration
		told         bool
		retryAfter   time.Duration
	}{
		{"whole seconds", "3", 1, time.Minute, 3 * time.Second, true, 0},
		{"a fraction", "2.5", 1, time.Minute, 2500 * ms, true, 0},
		{"a date", date, 1, time.Minute, 7 * time.Second, true, 0},
		{"absent", "", 1, time.Minute, time.Second, true, 0},
		{"nonsense", "soon", 1, time.Minute, time.Second, true, 0},
		{"negative", "-5", 1, time.Minute, time.Second, true, 0},
		{"infinite", "Inf", 1, time.Minute, 0, false, 24 * time.Hour},
		{"twice", "3", 2, time.Minute, 6 * time.Second, true, 0},
		{"too often", "3", 9, time.Minute, 6 * time.Second, false, 3 * time.Second},
		{"beyond the deadline", "61", 1, time.Minute, 0, false, 61 * time.Second},
		{"no deadline", "30", 1, 0, 30 * time.Second, true, 0},
		{"no deadline, and too long", "31", 1, 0, 0, false, 31 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				client := &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
					requests++
					if requests > tt.limited {
						return canned(200, "ok", nil), nil
					}
					header := http.Header{}
					if tt.header != "" {
						header.Set("Retry-After", tt.header)
					}
					return canned(429, "rate_limited", header), nil
				})}
				ctx := t.Context()
				if tt.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.deadline)
					defer cancel()
				}
				begin := time.Now()
				_, err := NewSlack(probes.NewSecret("https://hooks.example"+secretPath), client).Send(ctx, sample(t), Receipt{})
				if waited := time.Since(begin); waited != tt.waits {
					t.Errorf("waited %s, want %s", waited, tt.waits)
				}
				var failure *SendError
				if tt.told != (err == nil) {
					t.Fatalf("sent: %v, want delivered: %v", err, tt.told)
				}
				if errors.As(err, &failure) && (failure.RetryAfter != tt.retryAfter || failure.Ambiguous) {
					t.Errorf("asked to wait %s (ambiguous: %v), want %s", failure.RetryAfter, failure.Ambiguous, tt.retryAfter)
				}
			})
		})
	}
}

// TestSendGivesUp: a request ends after 10 s, whatever the client it was given.
func TestSendGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}
		begin := time.Now()
		_, err := NewSlack(probes.NewSecret("https://hooks.example"+secretPath), client).Send(t.Context(), sample(t), Receipt{})
		if waited := time.Since(begin); waited != postTimeout || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("gave up after %s: %v", waited, err)
		}
	})
}

// TestTheWebhookNeverLeaks: its secret is in no error and in no print of
// anything that holds it.
func TestTheWebhookNeverLeaks(t *testing.T) {
	leaky := func(text string) transport { // a transport that says the address in its own words
		return func(r *http.Request) (*http.Response, error) {
			if text == "" {
				return canned(500, "cannot POST "+r.URL.String()+" "+r.URL.Path+" "+r.URL.RawQuery+" "+url.QueryEscape(r.URL.String()), nil), nil
			}
			return nil, &url.Error{Op: "Post", URL: r.URL.String(), Err: fmt.Errorf("%s %s via %s", text, r.URL, url.PathEscape(r.URL.Path))}
		}
	}
	wild := "https://user:pAssw0rd-secret@hooks.example" + secretPath + "?key=qUery%2FSecret99"
	senders := map[string]*Slack{
		"an echoing server": NewSlack(probes.NewSecret(wild), &http.Client{Transport: leaky("")}),
		"a talking error":   NewSlack(probes.NewSecret(wild), &http.Client{Transport: leaky("dialling")}),
		"not a URL":         NewSlack(probes.NewSecret("https://hooks.example:bad port"+secretPath), nil),
		"a control byte":    NewSlack(probes.NewSecret("https://hooks.example\x7f"+secretPath), nil),
		"no scheme":         NewSlack(probes.NewSecret("hooks.example"+secretPath), nil),
		"no host":           NewSlack(probes.NewSecret("https:"+secretPath), nil),
		"another scheme":    NewSlack(probes.NewSecret("ftp://hooks.example"+secretPath), nil),
		"nobody there":      NewSlack(probes.NewSecret("http://127.0.0.1:1"+secretPath), nil),
		"empty":             NewSlack(probes.NewSecret(""), nil),
	}
	for name, to := range senders {
		_, err := to.Send(t.Context(), sample(t), Receipt{})
		if err == nil {
			t.Fatalf("%s: it was sent", name)
		}
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		logger.Error("sending", "err", err, "to", to, "value", *to)
		m, all := Deliver(t.Context(), Memory{Outbox: []Notice{waiting(sample(t))}}, []Destination{{Name: "slack", Sender: to}}, noon())
		delivery := all[0]
		kept, jsonErr := json.Marshal(struct {
			M  Memory
			To *Slack
			E  []error
		}{m, to, delivery.Errors})
		if jsonErr != nil {
			t.Fatal(jsonErr)
		}
		holder := struct{ inner Slack }{*to}
		shown := log.String() + string(kept) + err.Error() + to.String()
		for e := err; e != nil; e = errors.Unwrap(e) {
			shown += fmt.Sprintf("%v %+v %#v %q", e, e, e, e)
		}
		shown += fmt.Sprintf("%v %+v %#v %v %+v %#v %+v", to, to, to, *to, *to, *to, holder)
		for _, d := range delivery.Errors {
			shown += fmt.Sprintf("%v %+v %#v", d, d, d)
		}
		for _, secret := range []string{"T0SECRET01", "B0SECRET02", "xSecretTokenX", "pAssw0rd-secret", "Secret99"} {
			if strings.Contains(shown, secret) {
				t.Errorf("%s: %q is shown in %s", name, secret, shown)
			}
		}
	}
}
