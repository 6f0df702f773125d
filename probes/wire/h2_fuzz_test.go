package wire_test

import (
	"bytes"
	"context"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// frames writes frames out.
func frames(write func(*h2peer)) []byte {
	h := &h2peer{stream: 1}
	h.Framer = http2.NewFramer(&h.out, nil)
	h.AllowIllegalWrites = true
	write(h)
	return h.out.Bytes()
}

// Whatever a peer sends, at once or while the connection is held, gets one
// reason, never internal, and a whole answer has a status.
func FuzzH2Frames(f *testing.F) {
	settings := frames(func(h *h2peer) { _ = h.WriteSettings() })
	answer := func(h *h2peer) {
		h.heads(false, ":status", "200", "content-length", "2")
		_ = h.WriteData(h.stream, true, []byte("hi"))
	}
	for _, write := range []func(*h2peer){
		answer,
		func(h *h2peer) { h.heads(true, ":status", "204") },
		func(h *h2peer) { h.heads(false, ":status", "103"); answer(h) },
		func(h *h2peer) {
			h.heads(false, ":status", "200", "content-encoding", "gzip")
			h.heads(true, "grpc-status", "0")
		},
		func(h *h2peer) { h.away(0, 0, "max_age"); _ = h.WritePing(false, [8]byte{}) },
		func(h *h2peer) { h.away(1<<31-1, 0, ""); answer(h) },
		func(h *h2peer) { _ = h.WriteRSTStream(1, 7) },
		func(h *h2peer) { _ = h.WriteWindowUpdate(0, 1<<31-1) },
		func(h *h2peer) { _ = h.WriteDataPadded(1, true, []byte("hi"), make([]byte, 9)) },
		func(h *h2peer) {
			h.part(http2.FrameHeaders, 0, 1, "\x88")
			h.part(http2.FrameContinuation, 4, 1, "\x3f\xe1\x1f")
		},
		func(h *h2peer) { h.part(http2.FrameHeaders, 4, 1, "\xff\xff\xff\xff\xff\x0f") },
		func(h *h2peer) { h.out.WriteString("HTTP/1.1 400 Bad Request\r\n\r\n") },
	} {
		b := frames(write)
		f.Add([]byte(nil), append(bytes.Clone(settings), b...), 1)
		f.Add(append(bytes.Clone(settings), b...), b, 4096)
	}
	f.Fuzz(func(t *testing.T, idle, answer []byte, step int) {
		peer := &canned{answer: bytes.NewReader(idle), step: max(step, 1)}
		c, e := wire.Open(t.Context(), wire.Options{Host: "192.0.2.1", Port: "80", Protocol: wire.SpeakH2,
			Dial: func(context.Context, string, string) (net.Conn, error) { return peer, nil }})
		if c == nil {
			t.Fatal(e.Error)
		}
		if len(idle) > 0 { // held: to the end of what came, and then of the connection
			c.Hold(t.Context(), time.Now(), true)
			peer.answer = bytes.NewReader(answer)
		}
		r := wire.Request{HTTP: get(t, "Accept-Encoding", "gzip"), MaxHead: 4096, MaxBody: 4096}
		for range 2 {
			got, e := c.Exchange(t.Context(), r)
			switch reason := probes.Classify(e); reason {
			case probes.ReasonOK:
				if got.Status < 200 || got.Status > 999 || got.Proto != "HTTP/2.0" || len(got.Body) > 4096 {
					t.Errorf("ok with %+v", got)
				}
				continue
			case probes.ReasonEOF, probes.ReasonPartialHead, probes.ReasonPartialBody, probes.ReasonBadResponse, probes.ReasonTooLarge,
				probes.ReasonIdleGoaway, probes.ReasonGoawayUnprocessed, probes.ReasonGoawayProcessed, probes.ReasonRefusedStream, probes.ReasonStreamReset:
				if got.Status != 0 && reason != probes.ReasonIdleGoaway {
					t.Errorf("%s with status %d", reason, got.Status)
				}
			default:
				t.Errorf("%s (%s)", reason, probes.Explain(e))
			}
			if len(probes.Explain(e)) < 5 {
				t.Errorf("%q", probes.Explain(e))
			}
			break
		}
	})
}
