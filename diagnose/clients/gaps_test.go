package clients

import (
	"net/http"
	"slices"
	"testing"

	"perch.example/probes"
)

// Over HTTP/2 a client does other things, and meets others: httpx notices a FIN over
// HTTP/1.1 only.
func TestGapsOverHTTP2(t *testing.T) {
	httpx := probes.Client{Kind: "httpx", Retry: &probes.RetryPolicy{Errors: []string{"httpx.ConnectError"}}}
	gaps := func(decl probes.Client) map[probes.Reason]bool {
		found := map[probes.Reason]bool{}
		for _, g := range Gaps(decl) {
			found[g.Reason] = g.Gap
		}
		return found
	}
	over1 := gaps(httpx)
	httpx.HTTP2 = true
	over2 := gaps(httpx)
	for _, tt := range []struct {
		reason                     probes.Reason
		told1, gap1, told2, gapped bool
	}{
		{probes.ReasonIdleFIN, true, false, true, true},
		{probes.ReasonIdleGoaway, false, false, true, true},
		{probes.ReasonGoawayUnprocessed, false, false, true, true},
		{probes.ReasonGoawayProcessed, false, false, true, true},
		{probes.ReasonRefusedStream, false, false, true, true},
		{probes.ReasonStreamReset, false, false, true, true},
		{probes.ReasonIdleBytes, true, over1[probes.ReasonIdleBytes], false, false}, // frames, there
		{probes.ReasonPartialHead, true, true, false, false},                        // a head comes whole, there
		{probes.ReasonRefused, true, false, true, false},                            // before any protocol
	} {
		gap1, told1 := over1[tt.reason]
		gap2, told2 := over2[tt.reason]
		if told1 != tt.told1 || gap1 != tt.gap1 || told2 != tt.told2 || gap2 != tt.gapped {
			t.Errorf("%s: over HTTP/1.1 told %v, a gap %v; over HTTP/2 told %v, a gap %v", tt.reason, told1, gap1, told2, gap2)
		}
	}
}

// A gap is what an audit calls missed, whatever the protocol.
func TestGapsAreWhatAnAuditMisses(t *testing.T) {
	for _, decl := range Common() {
		speaks, _ := SpeaksHTTP2(decl.Kind)
		for _, decl.HTTP2 = range []bool{false, speaks.HTTP2} {
			decl.Retry = &probes.RetryPolicy{Attempts: 3}
			gaps := Gaps(decl)
			if len(gaps) < 5 {
				t.Errorf("%s, HTTP/2 %v: %d gaps: nothing was tested", decl.Kind, decl.HTTP2, len(gaps))
			}
			rows := Audit(decl, []string{http.MethodGet}).Rows
			for _, g := range gaps {
				i := slices.IndexFunc(rows, func(r probes.AuditRow) bool { return r.Reason == g.Reason })
				if i < 0 || g.Gap != (rows[i].Result == probes.AuditMissed) {
					t.Errorf("%s, HTTP/2 %v, %s: a gap %v, and the audit says otherwise", decl.Kind, decl.HTTP2, g.Reason, g.Gap)
				}
			}
		}
	}
}
