//go:build peers

package peers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// framed is a client's HTTP/2 connection, frame by frame: what a ready client
// hides (a GOAWAY, and when it came) is what these tests are about.
type framed struct {
	conn   net.Conn
	framer *http2.Framer
}

// openHTTP2 dials the peer and says the preface.
func openHTTP2(peer Peer) (*framed, error) {
	conn, err := open(nil, peer)
	if err != nil {
		return nil, err
	}
	f := &framed{conn: conn, framer: http2.NewFramer(conn, conn)}
	_, err = io.WriteString(conn, http2.ClientPreface)
	if err = errors.Join(err, f.framer.WriteSettings()); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return f, nil
}

// exchange asks on a stream and reads the answer to its end.
func (f *framed) exchange(peer Peer, stream uint32) error {
	if err := f.conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	if err := f.framer.WriteHeaders(request(peer, stream)); err != nil {
		return err
	}
	var body []byte
	for {
		frame, err := f.next()
		if err != nil {
			return fmt.Errorf("reading the answer: %w", err)
		}
		if data, ok := frame.(*http2.DataFrame); ok {
			body = append(body, data.Data()...)
		}
		ended := frame.Header().StreamID == stream && frame.Header().Flags.Has(http2.FlagDataEndStream)
		switch {
		case frame.Header().Type == http2.FrameGoAway || frame.Header().Type == http2.FrameRSTStream:
			return fmt.Errorf("asked, and %v came", frame)
		case ended && string(body) != twoDays:
			return fmt.Errorf("the answer is %q, want %q", body, twoDays)
		case ended:
			return f.conn.SetDeadline(time.Time{})
		}
	}
}

// next reads a frame and answers what must be answered.
func (f *framed) next() (http2.Frame, error) {
	frame, err := f.framer.ReadFrame()
	if err != nil {
		return nil, err
	}
	switch got := frame.(type) {
	case *http2.SettingsFrame:
		if !got.IsAck() {
			err = f.framer.WriteSettingsAck()
		}
	case *http2.PingFrame:
		if !got.IsAck() {
			err = f.framer.WritePing(true, got.Data)
		}
	}
	return frame, err
}

// request is a GET of the calendar.
func request(peer Peer, stream uint32) http2.HeadersFrameParam {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	scheme := "http"
	if peer.CAFile != "" {
		scheme = "https"
	}
	for _, field := range [][2]string{
		{":method", "GET"}, {":scheme", scheme}, {":authority", peer.Addr}, {":path", "/calendar"}, {"user-agent", "perch/test"},
	} {
		_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}) // to memory
	}
	return http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true}
}

// askHTTP2 makes one exchange on a connection of its own.
func askHTTP2(peer Peer) error {
	f, err := openHTTP2(peer)
	if err != nil {
		return err
	}
	return errors.Join(f.exchange(peer, 1), f.conn.Close())
}
