package probes

import (
	"fmt"
	"testing"
	"time"
)

// over is an attempt over TLS with its two round trips.
func over(rtt, hello time.Duration) Attempt {
	return Attempt{Reason: ReasonIdleFIN, MinRTT: rtt, Hello: hello}
}

func TestWhereTCPEnds(t *testing.T) {
	const ms = time.Millisecond
	near, far, split := over(100*time.Microsecond, 900*time.Microsecond), over(30*ms, 31*ms), over(100*time.Microsecond, 6200*time.Microsecond)
	const port = "by Envoy's admin port: 127.0.0.1:15000 takes connections"
	named := func(a Attempt) Attempt { a.Via = []string{"envoy"}; return a }
	answered := func(a Attempt, wait time.Duration) Attempt {
		a.Reason, a.Status, a.Phases.Wait = ReasonOK, 200, wait
		return a
	}
	tests := []struct {
		name     string
		declared Via
		mesh     string
		attempts []Attempt
		ends     TCPEnds
		words    string
	}{
		{"nothing is known", ViaNone, "", nil, TCPEndsUnknown, ""},
		{"plain: no hello tells", ViaNone, "", []Attempt{{MinRTT: 30 * ms}}, TCPEndsUnknown, ""},
		{"TLS without a kernel", ViaNone, "", []Attempt{{Hello: 30 * ms}}, TCPEndsUnknown, ""},

		{"declared", ViaMesh, "", nil, TCPEndsBeforePeer, "mesh sidecar (declared)"},
		{"declared, whatever is measured", ViaProxy, "", []Attempt{far}, TCPEndsBeforePeer, "proxy (declared)"},
		{"declared and seen", ViaProxy, port, []Attempt{near}, TCPEndsBeforePeer, "proxy (declared), mesh sidecar (" + port + ")"},
		{"declared and seen alike", ViaMesh, port, nil, TCPEndsBeforePeer, "mesh sidecar (declared)"},

		{"a sidecar's port, plain", ViaNone, port, []Attempt{{MinRTT: 30 * ms}}, TCPEndsBeforePeer, "mesh sidecar (" + port + ")"},
		{"a sidecar's port, TLS near by", ViaNone, port, []Attempt{near}, TCPEndsBeforePeer, "mesh sidecar (" + port + ")"},
		{"a sidecar's port, TLS passed on", ViaNone, port, []Attempt{split}, TCPEndsBeforePeer, "mesh sidecar (" + port + ")"},
		{"a sidecar's port, but TCP goes far", ViaNone, port, []Attempt{far}, TCPEndsPeer, ""},

		{"a header, plain", ViaNone, "", []Attempt{named(Attempt{MinRTT: 30 * ms})}, TCPEndsBeforePeer, "envoy (by the answer's headers)"},
		{"a header, TLS near by", ViaNone, "", []Attempt{named(near)}, TCPEndsBeforePeer, "envoy (by the answer's headers)"},
		{"a header of the API's own edge", ViaNone, "", []Attempt{named(far)}, TCPEndsPeer, "envoy (at the far end, by the answer's headers)"},
		{"a header behind a nearer end", ViaNone, "", []Attempt{named(split)}, TCPEndsBeforePeer,
			"envoy (by the answer's headers), proxy (by its round trip: TCP 0.1 ms, TLS hello 6.2 ms)"},
		{"a header twice", ViaNone, "", []Attempt{named(near), named(near)}, TCPEndsBeforePeer, "envoy (by the answer's headers)"},

		{"TLS from further away", ViaNone, "", []Attempt{split}, TCPEndsBeforePeer, "proxy (by its round trip: TCP 0.1 ms, TLS hello 6.2 ms)"},
		{"a slow one twice", ViaNone, "", []Attempt{split, over(80*time.Microsecond, 5200*time.Microsecond)}, TCPEndsBeforePeer,
			"proxy (by its round trip: TCP 0.08 ms, TLS hello 5.2 ms)"},
		{"5 ms apart to the microsecond", ViaNone, "", []Attempt{over(ms, 6*ms)}, TCPEndsBeforePeer, "proxy (by its round trip: TCP 1.0 ms, TLS hello 6.0 ms)"},
		{"just under 5 ms apart", ViaNone, "", []Attempt{over(ms, 6*ms-1)}, TCPEndsPeer, ""},
		{"a fifth is no longer under it", ViaNone, "", []Attempt{over(2*ms, 10*ms)}, TCPEndsPeer, ""},
		{"just under a fifth", ViaNone, "", []Attempt{over(2*ms-1, 10*ms)}, TCPEndsBeforePeer, "proxy (by its round trip: TCP 2.0 ms, TLS hello 10 ms)"},
		{"they agree", ViaNone, "", []Attempt{far}, TCPEndsPeer, ""},
		{"they agree near by", ViaNone, "", []Attempt{near}, TCPEndsPeer, ""},

		{"busy at the first hello only", ViaNone, "", []Attempt{split, near}, TCPEndsPeer, ""},
		{"busy at the hello, quick to answer", ViaNone, "", []Attempt{answered(split, ms)}, TCPEndsPeer, ""},
		{"slow to answer as well", ViaNone, "", []Attempt{answered(split, 200*ms)}, TCPEndsBeforePeer, "proxy (by its round trip: TCP 0.1 ms, TLS hello 6.2 ms)"},
		{"a pushed answer is none to us", ViaNone, "", []Attempt{{Reason: ReasonIdleBytes, MinRTT: 100 * time.Microsecond, Hello: 9 * ms, Phases: Phases{Wait: ms}}},
			TCPEndsBeforePeer, "proxy (by its round trip: TCP 0.1 ms, TLS hello 9.0 ms)"},
		{"an alert of whoever stands before a dead peer", ViaNone, "", []Attempt{{Reason: ReasonTLS, MinRTT: 100 * time.Microsecond, Hello: ms}}, TCPEndsUnknown, ""},
		{"such an alert beside a handshake", ViaNone, "", []Attempt{split, {Reason: ReasonTLS, MinRTT: 100 * time.Microsecond, Hello: ms}},
			TCPEndsBeforePeer, "proxy (by its round trip: TCP 0.1 ms, TLS hello 6.2 ms)"},
		{"a nearer address without a hello", ViaNone, "", []Attempt{{Reason: ReasonTLS, MinRTT: ms}, far}, TCPEndsPeer, ""},
	}
	for _, tt := range tests {
		p := pathOf(tt.declared, tt.mesh, "", tt.attempts)
		if p.TCPEnds != tt.ends || p.Words() != tt.words || len(p.Via) != len(p.By) {
			t.Errorf("%s: %s, %q; want %s, %q", tt.name, p.TCPEnds, p.Words(), tt.ends, tt.words)
		}
	}
}

// A path keeps the two times that decided, for whoever cites them.
func TestPathKeepsItsRoundTrips(t *testing.T) {
	p := pathOf(ViaNone, "", "", []Attempt{over(3*time.Millisecond, 40*time.Millisecond), over(2*time.Millisecond, 50*time.Millisecond), {MinRTT: 1}})
	if p.TCPRTT != 2*time.Millisecond || p.Hello != 40*time.Millisecond {
		t.Errorf("TCP %s, hello %s; want the smallest of both, of attempts over TLS", p.TCPRTT, p.Hello)
	}
}

// The sidecar's port is asked of the run, not dialled, and only for what was tried.
func TestMeshIsAskedOfTheRun(t *testing.T) {
	asked := 0
	env := Env{Mesh: func() string { asked++; return "by its port" }}
	if p := env.path(&Spec{}, nil); p.TCPEnds != TCPEndsUnknown || asked != 0 {
		t.Errorf("nothing was tried: %+v, asked %d times", p, asked)
	}
	if p := env.path(&Spec{}, []Attempt{{}}); fmt.Sprint(p.Via, p.By) != "[mesh sidecar] [by its port]" || p.TCPEnds != TCPEndsBeforePeer || asked != 1 {
		t.Errorf("%+v, asked %d times", p, asked)
	}
}
