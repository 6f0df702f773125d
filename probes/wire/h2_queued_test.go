package wire_test

import (
	"context"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"perch.example/probes"
)

// queuedGoaway is a way in which a GOAWAY stands in the queue.
type queuedGoaway struct {
	name string
	// held is what comes while the connection is held, gate what comes after the
	// hold and before the write.
	held, gate func(*h2peer)
}

func (h *h2peer) ping() { _ = h.WritePing(false, [8]byte{1}) }

// inPieces sends what was written in pieces of n bytes: under TLS each is a record.
func (h *h2peer) inPieces(n int) {
	all := append([]byte(nil), h.out.Bytes()...)
	h.out.Reset()
	for len(all) > 0 {
		size := min(n, len(all))
		h.say(string(all[:size]))
		all = all[size:]
	}
}

func queuedGoaways() []queuedGoaway {
	goaway := func(h *h2peer) { h.away(0, 0, "max_idle") }
	whole := func(h *h2peer) { goaway(h); h.flush() }
	split := func(h *h2peer) { goaway(h); h.inPieces(11) }
	pieces := func(h *h2peer) { goaway(h); h.inPieces(3) }
	behindPing := func(h *h2peer) { h.ping(); goaway(h); h.flush() }
	behindRecord := func(h *h2peer) { h.ping(); h.flush(); goaway(h); h.flush() }
	across := func(h *h2peer) { h.ping(); goaway(h); h.inPieces(20) }
	many := func(h *h2peer) {
		for range 200 {
			h.ping()
		}
		goaway(h)
		h.inPieces(1000) // few enough for the first congestion window
	}
	ping := func(h *h2peer) { h.ping(); h.flush() }
	var all []queuedGoaway
	for name, way := range map[string]func(*h2peer){
		"whole": whole, "split": split, "in many pieces": pieces, "behind a PING": behindPing, "behind a PING's record": behindRecord,
		"across records, with a PING": across, "behind many PINGs": many,
	} {
		all = append(all, queuedGoaway{"held/" + name, way, nil}, queuedGoaway{"unseen/" + name, nil, way}, queuedGoaway{"unseen, PING held/" + name, ping, way})
	}
	return append(all, queuedGoaway{
		"begun in the hold",
		func(h *h2peer) {
			goaway(h)
			rest := append([]byte(nil), h.out.Bytes()[12:]...)
			h.out.Truncate(12)
			h.flush()
			h.out.Write(rest)
		},
		(*h2peer).flush,
	})
}

// A GOAWAY that has come before the write is idle_goaway, however it stands in the
// queue, and whether the hold has seen it or not; and it is dated before the write.
func TestH2QueuedGoaway(t *testing.T) {
	t.Parallel()
	for _, f := range h2flavors(t) {
		for _, q := range queuedGoaways() {
			for name, used := range map[string]bool{"used": true, "unused": false} { // TLS's tickets wait on an unused one
				t.Run(f.name+"/"+name+"/"+q.name, func(t *testing.T) {
					t.Parallel()
					queuedOnce(t, f, q, used)
				})
			}
		}
	}
}

func queuedOnce(t *testing.T, f flavor, q queuedGoaway, used bool) {
	sent, act := make(chan struct{}), make(chan struct{})
	s := serveH2(t, f.server, func(h *h2peer) {
		if used {
			h.warm()
		} else {
			h.settle()
		}
		if q.held != nil {
			q.held(h)
		}
		close(sent)
		<-act
		if q.gate != nil {
			q.gate(h)
		}
		h.did()
		h.linger()
	})
	c, p := s.openH2(f.client)
	if used {
		warmed(t, c)
	}
	<-sent
	c.Hold(t.Context(), time.Now().Add(20*time.Millisecond), false)
	r := ask(t, 5*time.Second)
	r.Gate = func(context.Context) error {
		close(act)
		<-p.acted
		return nil
	}
	_, e := c.Exchange(t.Context(), r)
	mustBe(t, e, probes.ReasonIdleGoaway)
	if g := e.H2.Goaway; g == nil || !g.Idle || g.Code != uint32(http2.ErrCodeNo) || e.IdleClose == nil || e.IdleClose.At.After(e.Started) {
		t.Errorf("goaway %+v, close %+v\n%s", g, e.IdleClose, dump(e))
	}
}
