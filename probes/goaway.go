package probes

import (
	"cmp"
	"strconv"
	"time"

	"perch.example/probes/wire"
)

// Goaway is an HTTP/2 GOAWAY frame: the peer's word that it takes no further
// streams on a connection.
type Goaway struct {
	Code       uint32        // of RFC 9113, 7
	LastStream uint32        // the highest of our streams that it may have processed
	Debug      string        // what it says beside it, printable and bounded ("too_many_pings")
	Age        time.Duration // since the last answer's last byte; 0: it came after the request had left
	Idle       bool          // it had come before the request
}

// enhanceYourCalm is the code of a peer that takes us for a nuisance.
const enhanceYourCalm = 11

// TooManyPings reports whether a gRPC server ended the connection because the
// client's HTTP/2 PINGs come more often than it allows (keepalive enforcement).
// All gRPC servers say it in the same words.
func (g *Goaway) TooManyPings() bool {
	return g != nil && g.Code == enhanceYourCalm && g.Debug == "too_many_pings"
}

// healthy reports whether there is nothing wrong but that the connection ends.
func (g *Goaway) healthy() bool { return g == nil || g.Code == 0 }

// Name is the code as RFC 9113 (7) names it; of nil that of no error.
func (g *Goaway) Name() string {
	if g == nil {
		return wire.CodeName(0)
	}
	return wire.CodeName(g.Code)
}

// Said is what a GOAWAY says beside that the connection ends: its code's name where that
// is an error's, else its text where servers are known to use it; empty: nothing.
func (g *Goaway) Said() string {
	switch {
	case g == nil:
		return ""
	case g.Code != 0:
		return g.Name()
	}
	return knownDebug(g.Debug)
}

// WantsHTTP1 reports whether the peer reset the stream since it takes the request over
// HTTP/1.1 only.
func (a Attempt) WantsHTTP1() bool { return a.StreamReset != nil && *a.StreamReset == http11Required }

// Calmed is the frame by which the peer said ENHANCE_YOUR_CALM, that it takes what it
// gets for too much: "GOAWAY" of the connection, "RST_STREAM" of the request's stream;
// empty: it did not.
func (a Attempt) Calmed() string {
	switch {
	case a.StreamReset != nil && *a.StreamReset == enhanceYourCalm:
		return "RST_STREAM"
	case a.Goaway != nil && a.Goaway.Code == enhanceYourCalm:
		return "GOAWAY"
	}
	return ""
}

func goawayOf(h *wire.H2) *Goaway {
	if h == nil || h.Goaway == nil {
		return nil
	}
	g := h.Goaway
	return &Goaway{Code: g.Code, LastStream: g.LastStream, Debug: g.Debug, Age: g.Age, Idle: g.Idle}
}

// GRPCStatus is what a gRPC answer ended with.
type GRPCStatus struct {
	Code   int    // 0 is OK
	Name   string // such as "NOT_FOUND"; of a code that nobody knows "UNKNOWN"
	Health string // what a health check says that is answered OK and does not serve, such as "NOT_SERVING"; else empty
}

// Answer is the status that a whole answer had: "200", gRPC's "NOT_FOUND", or what a
// health check says, "NOT_SERVING".
func (a Attempt) Answer() string {
	if a.GRPC != nil {
		return cmp.Or(a.GRPC.Health, a.GRPC.Name)
	}
	return strconv.Itoa(a.Status)
}
