package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/probes"
)

// posted is a server that keeps what it got.
type posted struct {
	mu      sync.Mutex
	request *http.Request
	body    []byte
	count   int
}

// last returns the last request, its body, and how many there were.
func (p *posted) last() (*http.Request, []byte, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.request, p.body, p.count
}

// startDoor gives a server that answers so, and what it got.
func startDoor(t *testing.T, answer http.HandlerFunc) (*httptest.Server, *posted) {
	t.Helper()
	got := &posted{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got.mu.Lock()
		got.request, got.body = r, body
		got.count++
		got.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server, got
}

// TestWebhookPosts: one document a notice, with its headers.
func TestWebhookPosts(t *testing.T) {
	for _, status := range []int{200, 201, 202, 204} {
		server, got := startDoor(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		to := NewWebhook(probes.NewSecret(server.URL+"/in?key=a\n"), func(context.Context) (http.Header, error) {
			return http.Header{"Authorization": {"Bearer token"}}, nil
		}, server.Client())
		n := tale("stock-api", KindFiring, "FIRING")
		n.ID = "größe 100%/x#1 firing"
		if _, err := to.Send(t.Context(), n, Receipt{}); err != nil {
			t.Fatal(err)
		}
		r, body, count := got.last()
		if count != 1 || r.Method != http.MethodPost || r.URL.RequestURI() != "/in?key=a" || r.Header.Get("Content-Type") != "application/json" ||
			r.Header.Get("Authorization") != "Bearer token" || r.Header.Get("Idempotency-Key") != "shop prod-tokyo gr%C3%B6%C3%9Fe 100%25/x#1 firing 2026-03-02T12:00:00Z" {
			t.Errorf("%d times %s %s with %v", count, r.Method, r.URL, r.Header)
		}
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields()
		var d Document
		if err := decoder.Decode(&d); err != nil || d.ID != "shop prod-tokyo "+n.ID+" 2026-03-02T12:00:00Z" || d.Version != 1 || decoder.More() {
			t.Errorf("posted %s: %v", body, err)
		}
	}
}

// TestDocumentIDs are of one notice each, though every state numbers its
// incidents from 1: a receiver may throw away what it has seen.
func TestDocumentIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, perch := range []string{"shop", "bank"} {
		for _, vantage := range []string{"tokyo", "osaka"} {
			for hour := range 2 {
				n := tale("stock-api", KindFiring, "FIRING")
				n.Trail = []Fact{{Name: "perch", Value: perch}, {Name: "vantage", Value: vantage}}
				n.About[0].Since = noon().Add(time.Duration(hour) * time.Hour)
				seen[documentOf(n).ID] = true
			}
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d ids, want 8: %v", len(seen), seen)
	}
}

// TestDocument: what other programs hold on to.
func TestDocument(t *testing.T) {
	late := tale("stock-api", KindResolved, "RESOLVED stock-api")
	late.PossibleRepeat, late.Waited, late.Decided = true, 90*time.Minute, noon().In(time.FixedZone("", 9*3600))
	alone := Notice{ID: "digest 2026-03-02", Kind: KindDigest, Decided: noon(), Title: "A day", Summary: "All was well."}
	for name, n := range map[string]Notice{"webhook_resolved": late, "webhook_digest": alone} {
		content, err := json.MarshalIndent(documentOf(n), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", append(content, '\n'))
	}
}

// TestDoorFails: each answer is judged, at the webhook as at Alertmanager.
func TestDoorFails(t *testing.T) {
	tests := []struct {
		name               string
		answer             http.HandlerFunc
		status             int
		ambiguous, content bool
		says               string
	}{
		{"bad request", answer(400, "no field x"), 400, false, true, `"no field x"; it refused what the notice says`},
		{"too large", answer(413, ""), 413, false, true, "in the report"},
		{"not processed", answer(422, ""), 422, false, true, "in the report"},
		{"no access", answer(401, "who are you"), 401, false, false, "headers in the config"},
		{"forbidden", answer(403, ""), 403, false, false, "headers in the config"},
		{"not there", answer(404, ""), 404, false, false, "look at the URL"},
		{"a redirect", answer(301, "", "Location", "/elsewhere"), 301, false, false, "redirects are not followed"},
		{"broken", answer(500, ""), 500, true, false, "may have been delivered"},
		{"away", answer(503, ""), 503, true, false, "may have been delivered"},
		{"a gateway", answer(504, ""), 504, true, false, "may have been delivered"},
		{"cut", cut, 0, true, false, "may have been delivered"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server, got := startDoor(t, tt.answer)
			for who, to := range map[string]Sender{
				"the webhook":  NewWebhook(probes.NewSecret(server.URL), nil, server.Client()),
				"Alertmanager": NewAlertmanager(probes.NewSecret(server.URL), nil, server.Client()),
			} {
				_, err := to.Send(t.Context(), tale("stock-api", KindResolved, "RESOLVED"), Receipt{})
				var failure *SendError
				if !errors.As(err, &failure) {
					t.Fatalf("sent: %v, want a SendError", err)
				}
				if failure.Status != tt.status || failure.Ambiguous != tt.ambiguous || failure.Content != tt.content ||
					!strings.Contains(err.Error(), tt.says) || !strings.HasPrefix(err.Error(), "sending to "+who+": ") {
					t.Errorf("sent: %q (%+v), want %q", err, *failure, tt.says)
				}
			}
			if _, _, count := got.last(); count != 2 {
				t.Errorf("%d requests, want one for each: nothing is sent again at once", count)
			}
		})
	}
}

// TestDoorWaitsAsTold: a 429, and a 503 that says until when, took nothing.
func TestDoorWaitsAsTold(t *testing.T) {
	for _, tt := range []struct {
		status int
		header string
		waits  time.Duration
		told   bool
	}{
		{429, "3", 3 * time.Second, true}, {429, "", time.Second, true}, {503, "2.5", 2500 * ms, true}, {429, "90", 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			requests := 0
			client := &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
				requests++
				if requests == 1 {
					header := http.Header{}
					if tt.header != "" {
						header.Set("Retry-After", tt.header)
					}
					return canned(tt.status, "", header), nil
				}
				return canned(204, "", nil), nil
			})}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			begin := time.Now()
			_, err := NewWebhook(probes.NewSecret("https://hooks.example/in"), nil, client).Send(ctx, tale("stock-api", KindFiring, "FIRING"), Receipt{})
			if waited := time.Since(begin); waited != tt.waits || (err == nil) != tt.told {
				t.Errorf("%d with %q: waited %s, %v; want %s, told: %v", tt.status, tt.header, waited, err, tt.waits, tt.told)
			}
			var failure *SendError
			if errors.As(err, &failure) && (failure.Ambiguous || failure.RetryAfter != 90*time.Second) {
				t.Errorf("sent: %+v, want that nothing was taken", failure)
			}
		})
	}
}

// TestDoorWithoutHeaders: a secret that cannot be read now may be there in the next run.
func TestDoorWithoutHeaders(t *testing.T) {
	to := NewWebhook(probes.NewSecret("https://hooks.example/in"), func(context.Context) (http.Header, error) {
		return nil, errors.New("no file /run/token")
	}, &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
		t.Error("it was sent without its headers")
		return canned(200, "", nil), nil
	})})
	_, err := to.Send(t.Context(), tale("stock-api", KindFiring, "FIRING"), Receipt{})
	var failure *SendError
	if !errors.As(err, &failure) || failure.Ambiguous || !strings.Contains(err.Error(), "no file /run/token") {
		t.Errorf("sent: %v, want why the headers are not there", err)
	}
}

// TestDoorHidesAnAddressesUser: what a server echoes of the request is in no
// error, in the form in which it was sent either.
func TestDoorHidesAnAddressesUser(t *testing.T) {
	server, got := startDoor(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "refused "+r.URL.Path+" with Authorization: "+r.Header.Get("Authorization"))
	})
	address := strings.Replace(server.URL, "://", "://robot:hunter2-secret@", 1) + "/hooks/T0123456789"
	_, err := NewWebhook(probes.NewSecret(address), nil, server.Client()).Send(t.Context(), tale("stock-api", KindFiring, "FIRING"), Receipt{})
	if err == nil {
		t.Fatal("no error")
	}
	r, _, _ := got.last()
	_, sent, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	for _, secret := range []string{sent, "hunter2", "T0123456789"} {
		if secret == "" || strings.Contains(err.Error(), secret) {
			t.Errorf("error %q shows %q", err, secret)
		}
	}
}
