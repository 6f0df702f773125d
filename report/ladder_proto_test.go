package report

import (
	"testing"
	"time"

	"perch.example/probes"
)

func TestHeldOver(t *testing.T) {
	for _, tt := range []struct {
		proto  string
		reason probes.Reason
		want   string
	}{
		{"HTTP/2.0", probes.ReasonOK, "stayed open, HTTP/2"},
		{"HTTP/1.1", probes.ReasonOK, "stayed open"},
		{"HTTP/2.0", probes.ReasonEOF, "not held"}, // nothing was held
		{"", probes.ReasonDNS, "not held"},
	} {
		o := &probes.Outcome{Attempts: []probes.Attempt{{Connection: probes.ConnectionFresh, Reason: tt.reason, Proto: tt.proto}}}
		if tt.reason == probes.ReasonOK {
			o.Attempts = append(o.Attempts, probes.Attempt{Connection: probes.ConnectionReused, Reason: probes.ReasonOK, Proto: tt.proto})
		}
		if got := heldOver(o, idleCell(o)); got.text != tt.want {
			t.Errorf("%q, %s: %q, want %q", tt.proto, tt.reason, got.text, tt.want)
		}
	}
	goaway := &probes.Outcome{ClosedBy: "peer", Close: &probes.Close{How: probes.HowGoaway, Age: 2e9}, Attempts: []probes.Attempt{
		{Connection: probes.ConnectionFresh, Reason: probes.ReasonOK, Proto: "HTTP/2.0"},
		{Connection: probes.ConnectionReused, Reason: probes.ReasonIdleGoaway, Proto: "HTTP/2.0"},
	}}
	if got := heldOver(goaway, idleCell(goaway)); got.text != "GOAWAY by peer at 2 s, HTTP/2" {
		t.Errorf("%q", got.text)
	}
}

// An end where a new connection fails as well is no timeout of connections that
// never carried a request.
func TestUnusedWordsAskTheControl(t *testing.T) {
	ended := func(control ...probes.Attempt) *probes.Outcome {
		return &probes.Outcome{Unused: true, Hold: 3e9, Close: &probes.Close{Age: 2e9, How: probes.HowFIN}, Attempts: append([]probes.Attempt{
			{Connection: probes.ConnectionReused, Reason: probes.ReasonIdleFIN, IdleTime: 3e9},
		}, control...)}
	}
	for _, c := range []struct {
		o    *probes.Outcome
		want string
	}{
		{ended(), "; one that never carried a request is ended after 2 s"},
		{ended(probes.Attempt{Connection: probes.ConnectionControl, Reason: probes.ReasonOK}), "; one that never carried a request is ended after 2 s"},
		{ended(probes.Attempt{Connection: probes.ConnectionControl, Reason: probes.ReasonTLS}), "; one that never carried a request did not work"},
	} {
		if got := unusedWords([]*probes.Outcome{c.o}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestExchangeSaysHTTP2: with `protocol: auto` the line alone tells which one it was.
func TestExchangeSaysHTTP2(t *testing.T) {
	for _, tt := range []struct {
		kind        probes.Kind
		proto, want string
	}{
		{probes.KindHTTP, "HTTP/1.1", "200 in 3 ms"},
		{probes.KindHTTP, "HTTP/2.0", "200 in 3 ms, HTTP/2"},
		{probes.KindGRPC, "HTTP/2.0", "200 in 3 ms"},
	} {
		o := &probes.Outcome{Kind: tt.kind, Attempts: []probes.Attempt{{Reason: probes.ReasonOK, Status: 200, Elapsed: 3 * time.Millisecond, Proto: tt.proto}}}
		if got := exchange(o); got != tt.want {
			t.Errorf("%s over %s: %q, want %q", tt.kind, tt.proto, got, tt.want)
		}
	}
}
