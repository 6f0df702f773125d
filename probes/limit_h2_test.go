package probes

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes/wire"
)

// An end between two requests is a limit of idle time where the connection had never
// been idle for as long, and no limit of requests.
func TestLimitBetweenRequests(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name   string
		idled  time.Duration // the longest that was answered
		goaway Goaway
		idle   time.Duration
	}{
		{"never so long", 0, Goaway{Age: s}, s},
		{"as long before", 2 * s, Goaway{Age: s}, 0},
		{"with the answer", 0, Goaway{Age: 20 * time.Millisecond}, 0},
		{"it says why", 0, Goaway{Age: s, Debug: "max_age"}, 0},
		{"under the request", 0, Goaway{}, 0},
	} {
		m := many{obs: &Observation{}, idle: tt.idled, served: 3}
		m.obs.Limit = &ConnectionLimit{Requests: 3, Age: 5 * s, Ended: true, Told: true, By: "GOAWAY"}
		m.left(tt.goaway)
		l := m.obs.Limit
		want := "after 3 requests ("
		if tt.idle > 0 {
			want = "ended the connection after 1s of idleness (GOAWAY), which is shorter than what lay between two requests here"
		}
		if l.Idle != tt.idle || l.Age != 5*s+tt.goaway.Age || !strings.Contains(l.Words(), want) {
			t.Errorf("%s: %+v: %s", tt.name, *l, l.Words())
		}
	}
}

// What of a failed request ends its connection.
func TestEndsConnection(t *testing.T) {
	ends := map[Reason]bool{
		ReasonIdleGoaway: true, ReasonIdleCloseNotify: true, ReasonIdleBytes: true, ReasonIdleFIN: true, ReasonIdleRST: true,
		ReasonGoawayUnprocessed: true, ReasonGoawayProcessed: true, ReasonCrossedClose: true, ReasonEOF: true, ReasonReset: true,
		ReasonPartialHead: true, ReasonPartialBody: true,
	}
	for _, r := range Reasons() {
		if got := endsConnection(Attempt{Reason: r}); got != ends[r] {
			t.Errorf("%s: %v", r, got)
		}
	}
	if !endsConnection(Attempt{Reason: ReasonRefusedStream, Goaway: &Goaway{}}) {
		t.Error("a GOAWAY ends it")
	}
}

// The code of a GOAWAY is told where it is an error's.
func TestToldByGoaway(t *testing.T) {
	e := wire.Evidence{H2: &wire.H2{Goaway: &wire.Goaway{}}}
	for code, want := range map[uint32]string{0: "GOAWAY", 2: "GOAWAY INTERNAL_ERROR", 11: "GOAWAY ENHANCE_YOUR_CALM"} {
		if got := toldBy(Attempt{Goaway: &Goaway{Code: code}}, e); got != want {
			t.Errorf("%d: %q", code, got)
		}
	}
	if got := toldBy(Attempt{CloseAfter: true}, wire.Evidence{}); got != "Connection: close" {
		t.Errorf("%q", got)
	}
}

// ENHANCE_YOUR_CALM is heard on the connection and on the stream.
func TestCalmed(t *testing.T) {
	calm, other := uint32(11), uint32(8)
	for want, a := range map[string]Attempt{
		"GOAWAY": {Goaway: &Goaway{Code: 11}}, "RST_STREAM": {StreamReset: &calm}, "": {StreamReset: &other, Goaway: &Goaway{Code: 2}},
	} {
		if got := a.Calmed(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	var none *Goaway
	if none.Name() != "NO_ERROR" || (&Goaway{Code: 1}).Name() != "PROTOCOL_ERROR" {
		t.Error("a code's name")
	}
}
