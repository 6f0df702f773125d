package alert

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"perch.example/internal/slackfake"
	"perch.example/probes"
)

// realSlack serves the fake on a real port, and gives a client for which that
// is Slack.
func realSlack(t *testing.T, fake *slackfake.Fake) *http.Client {
	t.Helper()
	server := httptest.NewUnstartedServer(fake)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		host := r.URL.Host
		r = r.Clone(r.Context())
		r.Host, r.URL.Host = host, address.Host
		return server.Client().Transport.RoundTrip(r)
	})}
}

// TestOverRealConnections: what the tests without a network assume of cut
// connections and of uploads holds with them.
func TestOverRealConnections(t *testing.T) {
	d := newDesk(t)
	client := realSlack(t, d.fake)
	deliver := func() Delivery {
		to := NewSlackBot(probes.NewSecret(botToken), "#alerts", client)
		m, all := Deliver(t.Context(), MarkSending(d.m), []Destination{{Name: "slack", Sender: to}}, time.Now())
		d.m = m
		return all[0]
	}
	n := charted(tale("stock-api", KindFiring, "FIRING"))
	n.Sections = n.Sections[:2] // all in the root: nothing waits for a second message
	d.adds(n)
	d.fake.Fail("chat.postMessage", 1, slackfake.Cut().Accepted())
	if got := deliver(); got.Ambiguous != 1 || got.Untold != 1 {
		t.Errorf("cut: delivered %+v, want one ambiguous", got)
	}
	if got := deliver(); got.Told != 1 || len(got.Problems) != 0 {
		t.Errorf("delivered %+v, want it told", got)
	}
	if got := d.events(); !slices.Equal(got, []string{"posted FIRING", "posted FIRING", "shared Held idle, then used again", "shared How long attempts took"}) {
		t.Errorf("Slack accepted %q", got)
	}
}
