package diagnose

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestPingAdvice: a server that says that the PINGs are too many is believed; one
// that ends connections by age is told about as before.
func TestPingAdvice(t *testing.T) {
	const s = time.Second
	with := func(debug string, code uint32) Input {
		in := one(rungAt(0, 15*s, "idle_goaway").closed(4*s, probes.HowGoaway).reuse(func(a *probes.Attempt) {
			a.Goaway = &probes.Goaway{Code: code, Debug: debug, Age: 4 * s, Idle: true}
		}))
		in.Spec.KeepAlive = time.Minute
		in.Spec.Client = &probes.Client{Kind: "go-net-http", HTTP2Ping: s}
		return in
	}
	advice := strings.Join(Judge(with("too_many_pings", 11))[0].Advice, "\n")
	for _, want := range []string{
		"1. Raise the client's HTTP/2 PING interval of 1 s (http2_ping in perch's config)", "ended the connection after 4 s (GOAWAY ENHANCE_YOUR_CALM, too_many_pings)", "1b. Or ask the API's owner to allow them",
	} {
		if !strings.Contains(advice, want) {
			t.Errorf("%q, want %q", advice, want)
		}
	}
	if strings.Contains(advice, "max_idle") {
		t.Errorf("an idle limit is advised: %q", advice)
	}
	for _, other := range []Input{with("max_idle", 0), with("", 11)} {
		if advice := strings.Join(Judge(other)[0].Advice, "\n"); strings.Contains(advice, "PING") || advice == "" {
			t.Errorf("%q", advice)
		}
	}
}
