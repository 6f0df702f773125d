package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// overHTTP2 lets every attempt of a ladder have spoken HTTP/2.
func overHTTP2(in Input) Input {
	for i := range in.Observations {
		for k := range in.Observations[i].Attempts {
			in.Observations[i].Attempts[k].Proto = overH2
		}
	}
	return in
}

// saidGone is a rung whose connection said GOAWAY at that idle age.
func saidGone(in Input, age time.Duration, debug string) Input {
	in = overHTTP2(in)
	for i := range in.Observations {
		for k := range in.Observations[i].Attempts {
			if a := &in.Observations[i].Attempts[k]; a.Connection == probes.ConnectionReused {
				a.Goaway = &probes.Goaway{Debug: debug, Age: age, Idle: true}
			}
		}
	}
	return in
}

// TestNoBandIsNotAnUnknownOne: of a client that does not speak the probe's protocol,
// or was not measured over it, no danger band is no reassurance.
func TestNoBandIsNotAnUnknownOne(t *testing.T) {
	const s = time.Second
	for kind, known := range map[string]bool{
		"apache-httpclient-4.5": false, "requests": false, "okhttp": false, "dotnet-httpclient": false, "abacus": false,
		"go-net-http": true, "jdk-httpclient": true,
	} {
		in := saidGone(idleInput(3*s, rungAt(0, 1500*time.Millisecond, "idle_goaway").closed(s, "goaway")), s, "")
		in.Spec.Client = &probes.Client{Kind: kind}
		o := judgeOne(t, in, 0)
		text := sentences(o) + strings.Join(o.Advice, "\n")
		if got := strings.Contains(text, "has no danger band here") || strings.Contains(text, "it stops or looks before"); got != known {
			t.Errorf("%s: is said to have no danger band: %t, want %t\n%s", kind, got, known, text)
		}
		if got := strings.Contains(text, "still uses such a connection is not known"); got == known {
			t.Errorf("%s: is said not to be known: %t, want %t\n%s", kind, got, !known, text)
		}
	}
}

// TestNothingSurvived: then only shorter holds tell more.
func TestNothingSurvived(t *testing.T) {
	in := idleInput(0, rungAt(0, 500*time.Millisecond, "goaway_processed"))
	if got := strings.Join(judgeOne(t, in, 0).Advice, "\n"); !strings.Contains(got, "below the 500 ms that nothing survived; a ladder with shorter holds") {
		t.Error(got)
	}
}

// TestGRPCIsNotAdvisedAsHTTP: of the catalog's clients none is a gRPC channel.
func TestGRPCIsNotAdvisedAsHTTP(t *testing.T) {
	const s = time.Second
	for _, c := range []*probes.Client{nil, {Kind: "go-net-http"}, {Kind: "httpx"}} {
		in := saidGone(idleInput(5*s, rungAt(0, 3*s, "idle_goaway").closed(2*s, "goaway")), 2*s, "max_idle")
		in.Spec.GRPC, in.Spec.Client = &probes.GRPC{}, c
		o := judgeOne(t, in, 0)
		text := strings.Join(o.Advice, "\n")
		for _, want := range []string{"grpc.WithIdleTimeout", "ManagedChannelBuilder.idleTimeout", "at or below 1.8 s", "MaxConnectionIdle", "Mind: a GOAWAY"} {
			if !strings.Contains(strings.ReplaceAll(text, "Mind: A", "Mind: a"), want) {
				t.Errorf("%+v: the advice lacks %q:\n%s", c, want, text)
			}
		}
		for _, wrong := range []string{"http.Transport", "net/http", "httpx", "HttpClient", "ECONNRESET", "danger band"} {
			if all := text + sentences(o) + o.Message; strings.Contains(all, wrong) {
				t.Errorf("%+v: it speaks of %s:\n%s", c, wrong, all)
			}
		}
		if c != nil && (o.Client.Band != nil || o.Client.Experiences != "" || o.Client.Result != "") {
			t.Errorf("%+v", o.Client)
		}
	}
}

// TestWhatAProxyAnsweredIsNotAlwaysA503: the client's words have the proxy's own
// status, and there are none where it asked for credentials, gave no status, or was
// not there.
func TestWhatAProxyAnsweredIsNotAlwaysA503(t *testing.T) {
	for _, tt := range []struct {
		name          string
		asked, final  bool
		status        int
		words, advice string
	}{
		{"502", true, false, 502, "Tunnel connection failed: 502 ...", "Ask whoever runs the forward proxy: it could not reach the API, or says so, and answers 502 itself"},
		{"403", true, true, 403, "Tunnel connection failed: 403 ...", "Check the forward proxy and what it allows"},
		{"407", true, true, 407, "", "Renew the credentials for the forward proxy (proxy_credentials"},
		{"SOCKS", true, true, 0, "", "Check the credentials for the forward proxy (proxy_credentials), and whether it allows"},
		{"no answer", true, false, 0, "", "Check the forward proxy and what it allows"},
		{"nobody there", false, false, 0, "", "Check that the forward proxy is there"},
	} {
		for _, kind := range []string{"requests", "urllib3"} {
			in := httpInput("proxy")
			in.Spec.Client = &probes.Client{Kind: kind}
			a := &in.Observations[0].Attempts[0]
			a.ProxyAsked, a.ProxyFinal, a.ProxyStatus = tt.asked, tt.final, tt.status
			o := Judge(in)[0]
			if got := o.Client.Experiences; (got == "") != (tt.words == "") || !strings.Contains(got, tt.words) {
				t.Errorf("%s, %s: experiences %q, want %q", tt.name, kind, got, tt.words)
			}
			if !slices.ContainsFunc(o.Advice, func(s string) bool { return strings.Contains(s, tt.advice) }) {
				t.Errorf("%s, %s: %q, want %q", tt.name, kind, o.Advice, tt.advice)
			}
		}
	}
}
