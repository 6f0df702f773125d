package probes

import (
	"net/netip"
	"time"
)

// Kind is a kind of probe.
type Kind string

// The kinds that can be configured today.
const (
	KindHTTP  Kind = "http"
	KindIdle  Kind = "idle"
	KindBurst Kind = "burst"
	KindGRPC  Kind = "grpc"
	KindTLS   Kind = "tls"
)

// Observation is one finished step: a single exchange (http), or one rung of a
// ladder (idle). Its attempts stand in the order in which they were made: an
// http step has a fresh attempt and, when perch tried again, a second fresh
// one; an idle rung has its fresh warm-up, the reused request and the control.
type Observation struct {
	Target, Probe string
	Kind          Kind
	Hold          time.Duration // idle: how long the connection was to be held
	Search        bool          // idle: the hold was to end at the first close (perch idle)
	Started       time.Time
	Ended         time.Time
	Attempts      []Attempt
	Unused        bool             // idle: the connection carried nothing before it was held
	Limit         *ConnectionLimit // how many requests the connection carried, where that was looked for or told; nil: it was not
	Burst         *BurstSeen       // burst: what its calls met; nil: another kind, or it did not get so far
	Close         *Close           // idle: the close that was seen while holding; nil: none
	Cut           Cut              // set when the step did not run whole
	CutDetail     string           // why, for people
	Path          Path
	Problem       string // what perch itself did wrong (a panic's text); empty: nothing

	Unprobed []netip.Addr // addresses: all: those of the host that the step did not get to
}

// Cut says why a step did not run whole.
type Cut string

// Why a step was cut. The zero value means that it ran whole.
const (
	CutCanceled Cut = "canceled" // deadline or signal
	CutSkipped  Cut = "skipped"  // budget, breaker, Retry-After, not due
	CutInternal Cut = "internal" // a bug in perch
	CutConfig   Cut = "config"   // what the config asks for cannot be done; found only at run time
)

// Attempt returns the last attempt on that kind of connection, or nil.
func (o Observation) Attempt(c Connection) *Attempt {
	for i := len(o.Attempts) - 1; i >= 0; i-- {
		if o.Attempts[i].Connection == c {
			return &o.Attempts[i]
		}
	}
	return nil
}

// Path is what is known of what stands between perch and the API.
type Path struct {
	TCPEnds TCPEnds
	Via     []string      // what stands on the way: "mesh sidecar", "envoy", "proxy"; declared or seen
	By      []string      // how each of Via is known, in its order, for people: "declared", "by the answer's headers"
	TCPRTT  time.Duration // over TLS: the smallest TCP round trip of the attempts; 0: unknown
	Hello   time.Duration // over TLS: the quickest that the TLS peer itself was heard, after a hello or a request; 0: unknown
}

// TCPEnds says whose kernel answers our packets.
type TCPEnds string

// Where the TCP connection ends.
const (
	TCPEndsPeer       TCPEnds = "peer"
	TCPEndsBeforePeer TCPEnds = "before_peer"
	TCPEndsUnknown    TCPEnds = "unknown"
)
