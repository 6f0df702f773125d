package wire_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// h2peer is the server's end of one HTTP/2 connection, driven by a script that
// writes frames.
type h2peer struct {
	*peer
	*http2.Framer
	out    bytes.Buffer
	stream uint32 // of the last request
	acks   int    // PINGs of ours that the client answered
	pinged int    // PINGs of the client's
	body   bytes.Buffer
	head   http.Header
}

// serveH2 runs a script on each connection, once the prefaces are exchanged.
func serveH2(t testing.TB, config *tls.Config, script func(*h2peer)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveH2From(t, l, config, script)
}

func serveH2From(t testing.TB, l net.Listener, config *tls.Config, script func(*h2peer)) *server {
	t.Helper()
	if config != nil {
		config = config.Clone()
		config.NextProtos = []string{"h2"}
	}
	return serveFrom(t, l, config, func(p *peer) {
		h := &h2peer{peer: p}
		h.Framer = http2.NewFramer(&h.out, p.br)
		h.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		var start [len(http2.ClientPreface)]byte
		if _, err := io.ReadFull(p.br, start[:]); err != nil || string(start[:]) != http2.ClientPreface {
			t.Errorf("preface %q: %v", start, err)
			return
		}
		script(h)
	})
}

// openH2 opens a connection that speaks HTTP/2.
func (s *server) openH2(client *tls.Config, change ...func(*wire.Options)) (*wire.Conn, *peer) {
	s.t.Helper()
	if client != nil {
		client = client.Clone()
		client.NextProtos = []string{"h2"}
	}
	o := s.options(client)
	o.Protocol = wire.SpeakH2
	for _, f := range change {
		f(&o)
	}
	c, e := wire.Open(s.t.Context(), o)
	if c == nil {
		s.t.Fatalf("opening: %s (%s)", e.Failure, e.Error)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c, <-s.peers
}

// flush sends what was written, as one piece.
func (h *h2peer) flush() {
	_, _ = h.Write(h.out.Bytes()) // the client may be gone, which the test sees
	h.out.Reset()
	h.said()
}

// settle sends the server's preface and takes the client's.
func (h *h2peer) settle() { _ = h.WriteSettings(); h.flush() }

// frame reads one frame, and answers what wants an answer.
func (h *h2peer) frame() http2.Frame {
	f, err := h.ReadFrame()
	if err != nil {
		return nil
	}
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if !f.IsAck() {
			_ = h.WriteSettingsAck()
			h.flush()
		}
	case *http2.PingFrame:
		if f.IsAck() {
			h.acks++
		} else {
			h.pinged++
		}
	case *http2.MetaHeadersFrame:
		h.stream, h.head = f.StreamID, http.Header{}
		for _, field := range f.Fields {
			h.head.Add(field.Name, field.Value)
		}
	case *http2.DataFrame:
		h.body.Write(f.Data())
	}
	return f
}

// request reads one request to its end.
func (h *h2peer) request() bool {
	for {
		switch f := h.frame().(type) {
		case nil:
			return false
		case *http2.MetaHeadersFrame:
			if f.StreamEnded() {
				return true
			}
		case *http2.DataFrame:
			if f.StreamEnded() {
				return true
			}
		}
	}
}

// block packs a head.
func block(fields ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	e.SetMaxDynamicTableSize(0)
	for i := 0; i+1 < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return b.Bytes()
}

// heads writes a head on the request's stream.
func (h *h2peer) heads(end bool, fields ...string) {
	_ = h.WriteHeaders(http2.HeadersFrameParam{StreamID: h.stream, EndHeaders: true, EndStream: end, BlockFragment: block(fields...)})
}

func (h *h2peer) whole() {
	h.heads(false, ":status", "200", "content-length", strconv.Itoa(len("hi")))
	_ = h.WriteData(h.stream, true, []byte("hi"))
	h.flush()
}

// warm serves one exchange.
func (h *h2peer) warm() { h.settle(); h.request(); h.whole() }

// read reads until the client has closed.
func (h *h2peer) read() {
	for h.frame() != nil {
	}
}

func TestH2(t *testing.T) {
	for _, f := range flavors(t) {
		t.Run(f.name, func(t *testing.T) {
			s := serveH2(t, f.server, func(h *h2peer) {
				h.warm()
				h.request()
				h.whole()
				h.read()
			})
			c, _ := s.openH2(f.client)
			warmed(t, c)
			h := c.Hold(t.Context(), time.Now().Add(20*time.Millisecond), true)
			if h.Close != nil || !h.LateKnown {
				t.Errorf("held: %+v", h)
			}
			r, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
			mustBe(t, e, probes.ReasonOK)
			if r.Proto != "HTTP/2.0" || e.Proto != "HTTP/2.0" || string(r.Body) != "hi" || e.H2.Stream != 3 || r.Close {
				t.Errorf("%+v\n%s", r, dump(e))
			}
		})
	}
}

// below is the highest stream that a GOAWAY names which leaves the request out.
func (h *h2peer) below() uint32 { return max(h.stream, 2) - 2 }

// h2flavors are plain and TLS 1.3: the version changes nothing for frames.
func h2flavors(t testing.TB) []flavor {
	return slices.DeleteFunc(flavors(t), func(f flavor) bool { return f.name == "tls12" })
}
