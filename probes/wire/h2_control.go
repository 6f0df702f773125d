package wire

import (
	"time"

	"golang.org/x/net/http2"
)

const (
	// A peer may send so many frames that bring no answer, and so many more for
	// each second of the connection and each answer: each costs us work, and some a
	// reply. Go's server sends 5 in an exchange; who pings each second sends 1 a second.
	maxSpent          = 1000
	maxSpentPerSecond = 10
	maxSpentPerAnswer = 50
	// maxDebug bounds what is kept of a GOAWAY's text.
	maxDebug = 128
)

// spend counts a frame that brought no answer.
func (c *Conn) spend() error {
	c.h2.spent++
	if c.h2.spent > maxSpent+maxSpentPerSecond*int(time.Since(c.opened).Seconds())+maxSpentPerAnswer*c.served {
		return protocolError("a flood of frames that bring no answer")
	}
	return nil
}

// control takes a frame that is no part of an answer, and queues what is to be
// replied. A GOAWAY is kept; when it came is for the caller to say.
func (c *Conn) control(f http2.Frame) error {
	h := c.h2
	if err := c.spend(); err != nil {
		return err
	}
	if s, ok := f.(*http2.SettingsFrame); !h.settled && (!ok || s.IsAck()) {
		return protocolError("the first frame is no SETTINGS")
	}
	switch f := f.(type) {
	case *http2.SettingsFrame:
		return h.settings(f)
	case *http2.PingFrame:
		if f.IsAck() {
			h.ping.answered()
			return nil
		}
		h.pings++
		h.queue(func(w *http2.Framer) error { return w.WritePing(true, f.Data) })
	case *http2.WindowUpdateFrame:
		return h.widen(f)
	case *http2.GoAwayFrame:
		h.leave(f)
	case *http2.PushPromiseFrame:
		return protocolError("a PUSH_PROMISE, which was forbidden")
	case *http2.MetaHeadersFrame, *http2.DataFrame, *http2.ContinuationFrame:
		return protocolError("an answer on a stream that is not open")
	case *http2.RSTStreamFrame:
		if f.StreamID > h.stream || f.StreamID%2 == 0 {
			return protocolError("a RST_STREAM on a stream that was never opened")
		}
	default: // PRIORITY, and what RFC 9113 (5.5) wants ignored
	}
	return nil
}

// settings takes over what the peer wants.
func (h *h2) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	err := f.ForeachSetting(func(s http2.Setting) error {
		switch {
		case s.Valid() != nil, s.ID == http2.SettingEnablePush && s.Val != 0:
			return protocolError("a setting that HTTP/2 forbids")
		case s.ID == http2.SettingInitialWindowSize:
			change := int64(s.Val) - h.initial
			h.initial, h.current = int64(s.Val), h.current+change
			if h.current >= h2WindowLimit {
				return protocolError("a window larger than allowed")
			}
		case s.ID == http2.SettingMaxConcurrentStreams:
			h.full = s.Val == 0
		}
		return nil
	})
	if err != nil {
		return err
	}
	h.settled = true
	h.queue((*http2.Framer).WriteSettingsAck)
	return nil
}

// widen lets us send more.
func (h *h2) widen(f *http2.WindowUpdateFrame) error {
	window := &h.window
	switch {
	case f.StreamID == 0:
	case f.StreamID == h.stream:
		window = &h.current
	case f.StreamID > h.stream || f.StreamID%2 == 0:
		return protocolError("a WINDOW_UPDATE on a stream that was never opened")
	default: // an old one of ours
		return nil
	}
	if *window += int64(f.Increment); *window >= h2WindowLimit {
		return protocolError("a window larger than allowed")
	}
	return nil
}

// leave keeps a GOAWAY. A later one may only take streams back.
func (h *h2) leave(f *http2.GoAwayFrame) {
	g := &Goaway{LastStream: f.LastStreamID, Code: uint32(f.ErrCode), Debug: Printable(string(f.DebugData()), maxDebug)}
	if h.goaway != nil {
		g.LastStream = min(g.LastStream, h.goaway.LastStream)
		g.Idle, g.Age = h.goaway.Idle, h.goaway.Age
		if g.Debug == "" {
			g.Debug = h.goaway.Debug
		}
	}
	h.goaway = g
}

// received takes a DATA frame's size off the connection's window.
func (h *h2) received(size int64) error {
	if h.room -= size; h.room < 0 {
		return protocolError("more DATA than the window allows")
	}
	return nil
}

// giveBack lets the peer send more on the connection, once that is worth a frame.
func (h *h2) giveBack() {
	if h.room <= h2Window/2 {
		more := uint32(h2Window - h.room)
		h.room = h2Window
		h.queue(func(w *http2.Framer) error { return w.WriteWindowUpdate(0, more) })
	}
}
