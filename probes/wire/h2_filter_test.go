//go:build peers && linux

package wire_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// These need root, as those of HTTP/1.1 do.

// warmed serves one exchange, and waits for what the client says of the settings.
func (h *h2peer) warmed() {
	h.warm()
	for f := h.frame(); f != nil; f = h.frame() {
		if s, ok := f.(*http2.SettingsFrame); ok && s.IsAck() {
			return
		}
	}
}

// A stream on a path that forgot the connection is lost, also where a PING of the
// application's was lost before it: TCP then sends the PING again in its place,
// and by then seldom.
func TestH2Blackhole(t *testing.T) {
	rounds(t, 40, func(t *testing.T, f flavor, i int) probes.Reason {
		s := serveH2(t, f.server, func(h *h2peer) {
			h.warmed()
			h.loseAll(t)
			h.did()
			h.linger()
		})
		pings := i%2 == 1
		c, p := s.openH2(f.client, func(o *wire.Options) {
			if pings {
				o.Ping = 50 * time.Millisecond
			}
		})
		warmed(t, c)
		<-p.acted
		if pings {
			if h := c.Hold(t.Context(), time.Now().Add(1500*time.Millisecond), true); h.Close != nil || !h.LateKnown {
				t.Errorf("held: %+v", h)
			}
		}
		_, e := c.Exchange(t.Context(), ask(t, 600*time.Millisecond))
		mustBe(t, e, probes.ReasonBlackhole)
		if pings != (e.H2.PingsUnanswered > 0) || pings && e.Before.Unacked == 0 {
			t.Errorf("pings %+v", *e.H2)
		}
		return probes.Classify(e)
	})
}

// What leaves the peer when the request is on its way: the filter loses the
// request, and says so.
func TestH2Crossed(t *testing.T) {
	for _, tt := range []struct {
		name string
		want probes.Reason
		then func(*h2peer)
	}{
		{"fin", probes.ReasonCrossedClose, func(h *h2peer) { _ = h.raw.CloseWrite() }},
		{"goaway", probes.ReasonGoawayUnprocessed, func(h *h2peer) { h.away(1, 0, ""); h.flush() }},
		{"goaway and close", probes.ReasonGoawayUnprocessed, func(h *h2peer) { h.away(1, 0, ""); h.half() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rounds(t, 60, func(t *testing.T, f flavor, _ int) probes.Reason {
				s := serveH2(t, f.server, func(h *h2peer) {
					h.warmed()
					h.losesRequest(t)
					tt.then(h)
					h.linger()
				})
				c, p := s.openH2(f.client)
				warmed(t, c)
				<-p.acted
				r := ask(t, 10*time.Second)
				r.HTTP.Header.Set("X-Long", strings.Repeat("x", 100)) // the filter lets small segments through
				_, e := c.Exchange(context.Background(), r)
				mustBe(t, e, tt.want)
				if e.First == nil || e.First.Acked != 0 {
					t.Errorf("the first event acknowledged %+v, want nothing", e.First)
				}
				return probes.Classify(e)
			})
		})
	}
}
