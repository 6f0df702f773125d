package plan

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

func TestDeclared(t *testing.T) {
	oauth := &probes.OAuth{TokenURL: &url.URL{Scheme: "https", Host: "login.example"}, DailyLimit: 200}
	var steps []Step
	for _, s := range []probes.Spec{
		{Target: "a", Probe: "search", Kind: probes.KindHTTP, Method: http.MethodPost, ReadOnly: "a search"},
		{Target: "a", Probe: "get", Kind: probes.KindHTTP, Method: http.MethodGet, OAuth: oauth},
		{Target: "a", Probe: "held", Kind: probes.KindIdle, Method: http.MethodGet, OAuth: oauth},
		{Target: "a", Probe: "held", Kind: probes.KindIdle, Method: http.MethodGet, OAuth: oauth},
		{Target: "a", Probe: "grpc", Kind: probes.KindGRPC, Method: http.MethodPost, GRPC: &probes.GRPC{}},
		{Target: "a", Probe: "list", Kind: probes.KindGRPC, Method: http.MethodPost, ReadOnly: "a list", GRPC: &probes.GRPC{Method: "shop.Stock/List"}},
	} {
		steps = append(steps, Step{Spec: &s})
	}
	var b bytes.Buffer
	if err := (&Plan{Steps: steps}).Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"POST", "a/search, declared read-only: a search\n", "a/list, shop.Stock/List, declared read-only: a list\n", "of login.example, asked for once a run, at most 200, for a/get, a/held\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if n := strings.Count(b.String(), "declared read-only"); n != 2 {
		t.Errorf("%d times declared", n)
	}
}

// TestWaysAreShown: who reviews a plan sees which HTTP is spoken, and through what.
func TestWaysAreShown(t *testing.T) {
	proxy := probes.Way{Proxy: probes.Proxy{URL: &url.URL{Scheme: "http", Host: "proxy.example:3128"}}}
	var steps []Step
	for _, s := range []probes.Spec{
		{Target: "a", Probe: "plain", Kind: probes.KindHTTP},
		{Target: "a", Probe: "h2", Kind: probes.KindHTTP, Protocol: probes.ProtocolH2, Way: proxy},
		{Target: "a", Probe: "any", Kind: probes.KindIdle, Protocol: probes.ProtocolAuto, Way: proxy},
		{Target: "a", Probe: "cert", Kind: probes.KindTLS, Protocol: probes.ProtocolH2},
		{Target: "a", Probe: "up", Kind: probes.KindGRPC, GRPC: &probes.GRPC{}},
	} {
		steps = append(steps, Step{Spec: &s})
	}
	var b bytes.Buffer
	if err := (&Plan{Steps: steps}).Text(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"a/plain http ", "a/h2 http h2 ", "a/any idle auto ", "a/cert tls ", "a/up grpc ", "proxy http://proxy.example:3128, for a/h2, a/any"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(text, "tls h2") {
		t.Errorf("a handshake speaks no HTTP:\n%s", b.String())
	}
}

// TestMostWithTokens: what a 401 is asked again with is within what a run may send.
func TestMostWithTokens(t *testing.T) {
	oauth := &probes.OAuth{}
	for _, c := range []struct {
		spec probes.Spec
		want int
	}{
		{probes.Spec{Kind: probes.KindHTTP}, 1},
		{probes.Spec{Kind: probes.KindHTTP, OAuth: oauth}, 2},
		{probes.Spec{Kind: probes.KindHTTP, OAuth: oauth, Retry: probes.Retry{Attempts: 2}}, 3},
		{probes.Spec{Kind: probes.KindHTTP, OAuth: oauth, Method: http.MethodPost}, 1},
	} {
		if got := (&job{spec: &c.spec}).most(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.spec, got, c.want)
		}
	}
}

// TestTokensADay: a CronJob's run is a process of its own, and asks anew for each token.
func TestTokensADay(t *testing.T) {
	of := func(id string, every time.Duration, limit int) probes.Spec {
		o := &probes.OAuth{TokenURL: &url.URL{Scheme: "https", Host: "login.example"}, ClientID: id, DailyLimit: limit}
		return probes.Spec{Kind: probes.KindHTTP, Every: every, OAuth: o}
	}
	for _, c := range []struct {
		name  string
		specs []probes.Spec
		row   string
		note  string // empty: none
	}{
		{"the defaults", []probes.Spec{of("a", 5*time.Minute, 500)}, "once a run, 288 times a day, at most 500", ""},
		{"just as many", []probes.Spec{of("a", 5*time.Minute, 288)}, "288 times a day, at most 288", ""},
		{"too many", []probes.Spec{of("a", 5*time.Minute, 287)}, "288 times a day, at most 287", "asked for tokens 288 times a day"},
		{"one token for two, the more frequent counts", []probes.Spec{of("a", time.Hour, 500), of("a", 10*time.Minute, 500), of("a", time.Hour, 500)}, "144 times a day", ""},
		{"two tokens of one host", []probes.Spec{of("a", 5*time.Minute, 500), of("b", 5*time.Minute, 500)}, "576 times a day", "a daily_limit of 576, would fit"},
		{"nobody knows how often", []probes.Spec{of("a", 0, 1)}, "once a run, at most 1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.specs {
				c.specs[i].Probe = "p" + strconv.Itoa(i)
			}
			one := target("api", c.specs...)
			p, err := New(config.Config{Targets: []probes.Target{one}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := p.Text(&b); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), c.row) {
				t.Errorf("no %q in\n%s", c.row, b.String())
			}
			notes := strings.Join(p.Notes, "\n")
			if c.note == "" && strings.Contains(notes, "tokens") || !strings.Contains(notes, c.note) {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
		})
	}
}
