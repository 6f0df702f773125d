package lab_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"perch.example/lab"
)

// h2Answered are the HTTP/2 scenarios: which frames a client that reuses, where
// the scenario asks for it, sees of the spoiled exchange, and the end. Each word
// is a frame as h2Client writes it down.
func h2Answered() map[string]wanted {
	const answer = "HEADERS:200 DATA:180:end"
	return map[string]wanted{
		"h2_healthy":         {end: endOpen, contains: answer},
		"h2_pings":           {end: endOpen, idle: "PING SETTINGS", contains: "PING SETTINGS " + answer},
		"h2_goaway_answered": {end: endFIN, contains: "GOAWAY:1:NO_ERROR: " + answer},
		"h2_status":          {end: endOpen, contains: "HEADERS:404"},
		"h2_slow":            {end: endOpen, contains: answer},
		"h2_alpn_refused":    {end: "remote error: tls: no application protocol", nothing: true},
		"h2_alpn_ignored":    {end: "agreed on \"\"", nothing: true},

		"h2_idle_goaway":           {end: endFIN, contains: "GOAWAY:1:NO_ERROR:"},
		"h2_idle_goaway_lingering": {end: endFIN, idle: "GOAWAY", contains: "GOAWAY:1:NO_ERROR:"},
		"h2_idle_goaway_open":      {end: endOpen, idle: "GOAWAY", contains: "GOAWAY:1:NO_ERROR:"},
		"h2_idle_goaway_twice":     {end: endFIN, contains: "PING GOAWAY:2147483647:NO_ERROR:graceful_stop GOAWAY:1:NO_ERROR:"},
		"h2_idle_too_many_pings":   {end: endFIN, contains: "GOAWAY:1:ENHANCE_YOUR_CALM:too_many_pings"},
		"h2_idle_close_notify":     {end: endFIN, nothing: true},
		"h2_idle_fin":              {end: endFIN, nothing: true},
		"h2_idle_rst":              {end: endRST, nothing: true},

		"h2_blackhole":               {end: endOpen, nothing: true},
		"h2_crossed_close":           {end: endFIN, nothing: true},
		"h2_goaway_at_once":          {end: endOpen, contains: "GOAWAY:0:NO_ERROR:"},
		"h2_goaway_unprocessed":      {end: endFIN, contains: "GOAWAY:1:NO_ERROR:"},
		"h2_goaway_unprocessed_calm": {end: endFIN, contains: "GOAWAY:1:ENHANCE_YOUR_CALM:too_many_pings"},
		"h2_goaway_processed":        {end: endFIN, contains: "GOAWAY:3:NO_ERROR:"},
		"h2_refused_stream":          {end: endOpen, contains: "RST_STREAM:REFUSED_STREAM"},
		"h2_stream_reset":            {end: endOpen, contains: "RST_STREAM:INTERNAL_ERROR"},
		"h2_stream_reset_cancel":     {end: endOpen, contains: "RST_STREAM:CANCEL"},
		"h2_eof":                     {end: endFIN, nothing: true},
		"h2_reset":                   {end: endRST, nothing: true},
		"h2_no_response":             {end: endOpen, contains: "PING PING", lacks: "HEADERS"},

		"h2_partial_head":       {end: endFIN, nothing: true},
		"h2_partial_head_reset": {end: endRST, nothing: true},
		"h2_partial_head_stall": {end: endOpen, nothing: true},
		"h2_partial_body":       {end: endFIN, contains: "HEADERS:200 DATA:90", lacks: "end"},
		"h2_partial_body_reset": {end: endRST, contains: "HEADERS:200 DATA:90", lacks: "end"},
		"h2_partial_body_stall": {end: endOpen, contains: "HEADERS:200 DATA:90", lacks: "end"},
		"h2_stream_reset_body":  {end: endOpen, contains: "HEADERS:200 DATA:90 RST_STREAM:INTERNAL_ERROR"},

		"h2_bad_response":              {end: "http2: failed reading the frame payload: http2: frame too large", nothing: true},
		"h2_bad_response_hpack":        {end: "connection error: COMPRESSION_ERROR", nothing: true},
		"h2_bad_response_bomb":         {end: endOpen, contains: "HEADERS:200:truncated"},
		"h2_bad_response_frame":        {end: "connection error: PROTOCOL_ERROR", nothing: true},
		"h2_bad_response_stream":       {end: endOpen, contains: "HEADERS:200"},
		"h2_bad_response_frame_size":   {end: "http2: frame too large", contains: "HEADERS:200"},
		"h2_bad_response_push":         {end: endOpen, contains: "PUSH_PROMISE"},
		"h2_bad_response_headless":     {end: endOpen, contains: "DATA:180:end", lacks: "HEADERS"},
		"h2_bad_response_no_status":    {end: endOpen, contains: "HEADERS:"},
		"h2_bad_response_endless_head": {end: "connection error: PROTOCOL_ERROR", nothing: true},
		"h2_too_large":                 {end: endOpen, contains: strings.Repeat(" DATA:16384", 12), lacks: "end"},
	}
}

func TestH2OnTheWire(t *testing.T) {
	t.Parallel()
	for name, want := range h2Answered() {
		for _, secure := range []bool{false, true} {
			t.Run(name+map[bool]string{false: "/h2c", true: "/h2"}[secure], func(t *testing.T) {
				t.Parallel()
				o := options()
				o.TLS = secure
				got := exchangeH2(t, start(t, name, o), want)
				if !strings.HasPrefix(got.end, want.end) {
					t.Errorf("the connection ended with %q, want %q", got.end, want.end)
				}
				if want.nothing && got.text != "" {
					t.Errorf("got %.300q, want nothing", got.text)
				}
				if !strings.Contains(got.text, want.contains) {
					t.Errorf("got %.300q, want %q in it", got.text, want.contains)
				}
				if want.lacks != "" && strings.Contains(got.text, want.lacks) {
					t.Errorf("got %.300q, want no %q in it", got.text, want.lacks)
				}
			})
		}
	}
}

// cut is how long a frame may take whose first byte is there; longer: the server
// stalls within it.
const cut = time.Second

// h2Client speaks just enough HTTP/2 to write down what a server says. It
// answers PINGs and SETTINGS.
type h2Client struct {
	conn   net.Conn
	in     *bufio.Reader // under framer, so that a deadline never cuts a frame in two
	framer *http2.Framer
	seen   []string
	stream uint32

	settled bool  // the server's first SETTINGS came
	wrote   error // what the last write said; an RST that a write met is hidden from the next read
}

// exchangeH2 asks once and, with a held scenario, again unless the server ends what
// is idle; what comes before that is read first.
func exchangeH2(t *testing.T, s *lab.Server, want wanted) seen {
	t.Helper()
	c, err := dialH2(t, s)
	if err != nil {
		return seen{end: err.Error()}
	}
	if s.Scenario().Held {
		c.ask(t)
		if end := c.until(t, ":end"); end != endOpen {
			t.Fatalf("the first request got %q, %v", end, c.seen)
		}
		c.seen = nil
	}
	end := ""
	switch {
	case want.idle != "":
		end = c.until(t, want.idle)
	case s.Scenario().IdleFor > 0:
		end = c.read(t, want)
	default:
		end = c.read(t, wanted{end: endOpen, nothing: true})
	}
	if end == endOpen {
		c.ask(t)
		end = c.read(t, want)
	}
	return seen{strings.Join(c.seen, " "), end}
}

func dialH2(t *testing.T, s *lab.Server) (*h2Client, error) {
	t.Helper()
	conn, err := net.Dial("tcp", s.Host())
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = conn.Close() })
	if s.CA() != nil {
		config := s.ClientConfig()
		config.ServerName, config.NextProtos = "127.0.0.1", []string{"h2"}
		secure := tls.Client(conn, config)
		if err := secure.Handshake(); err != nil {
			return nil, err
		}
		if got := secure.ConnectionState().NegotiatedProtocol; got != "h2" {
			return nil, fmt.Errorf("agreed on %q", got)
		}
		conn = secure
	}
	c := &h2Client{conn: conn, in: bufio.NewReader(conn), stream: 1}
	c.framer = http2.NewFramer(conn, c.in)
	c.framer.SetMaxReadFrameSize(16 << 10)
	c.framer.MaxHeaderListSize = 64 << 10
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return nil, err
	}
	return c, c.framer.WriteSettings()
}

// ask opens the next stream. A connection that was reset is no failure: what the
// server does is read afterwards.
func (c *h2Client) ask(t *testing.T) {
	t.Helper()
	var block strings.Builder
	packer := hpack.NewEncoder(&block)
	for _, f := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "lab"}, {":path", "/calendar?days=2"}} {
		if err := packer.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}); err != nil {
			t.Fatal(err)
		}
	}
	c.wrote = c.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: c.stream, BlockFragment: []byte(block.String()), EndStream: true, EndHeaders: true,
	})
	c.stream += 2
}

// read writes down what comes until the connection ends, or nothing more comes
// behind what is wanted.
func (c *h2Client) read(t *testing.T, want wanted) string {
	t.Helper()
	for len(c.seen) <= 500 {
		wait := patience
		if want.end == endOpen && (want.nothing || c.has(want.contains)) {
			wait = quiet
		}
		if end := c.frame(t, wait); end != "" {
			return end
		}
	}
	return endOpen
}

// until writes down what comes until the words are there, and leaves what follows
// them unread; or until the connection ends.
func (c *h2Client) until(t *testing.T, words string) string {
	t.Helper()
	for !c.has(words) {
		switch end := c.frame(t, patience); end {
		case "":
		case endOpen:
			return "without " + words
		default:
			return end
		}
	}
	return endOpen
}

func (c *h2Client) has(words string) bool {
	return strings.Contains(strings.Join(c.seen, " "), words)
}

// frame writes down one frame and returns "", or says what came in its place.
func (c *h2Client) frame(t *testing.T, wait time.Duration) string {
	t.Helper()
	if err := c.conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
		t.Fatal(err)
	}
	_, err := c.in.Peek(1)
	if err == nil {
		err = c.conn.SetReadDeadline(time.Now().Add(max(wait, cut)))
	}
	var f http2.Frame
	if err == nil {
		f, err = c.framer.ReadFrame()
	}
	var malformed http2.StreamError
	if errors.As(err, &malformed) {
		c.seen = append(c.seen, "malformed:"+malformed.Code.String())
		return ""
	}
	if errors.Is(c.wrote, syscall.ECONNRESET) {
		return endRST
	}
	if err != nil {
		return ending(err)
	}
	c.write(f)
	return ""
}

func (c *h2Client) write(f http2.Frame) {
	say := func(format string, args ...any) { c.seen = append(c.seen, fmt.Sprintf(format, args...)) }
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if !f.IsAck() {
			_ = c.framer.WriteSettingsAck()
			if c.settled { // the first comes with every connection
				say("SETTINGS")
			}
			c.settled = true
		}
	case *http2.PingFrame:
		say("PING")
		_ = c.framer.WritePing(true, f.Data)
	case *http2.MetaHeadersFrame:
		say("HEADERS:%s%s", f.PseudoValue("status"), map[bool]string{true: ":truncated"}[f.Truncated])
	case *http2.DataFrame:
		say("DATA:%d%s", f.Length, map[bool]string{true: ":end"}[f.StreamEnded()])
		// Of a short answer no client says that it was read: a server that has closed by
		// then would answer with an RST, over its own FIN.
		if !f.StreamEnded() && f.Length >= 1<<10 {
			c.wrote = errors.Join(c.framer.WriteWindowUpdate(0, f.Length), c.framer.WriteWindowUpdate(f.StreamID, f.Length))
		}
	case *http2.RSTStreamFrame:
		say("RST_STREAM:%v", f.ErrCode)
	case *http2.GoAwayFrame:
		say("GOAWAY:%d:%v:%s", f.LastStreamID, f.ErrCode, f.DebugData())
	default:
		say("%v", f.Header().Type)
	}
}
