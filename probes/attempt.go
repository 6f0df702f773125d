package probes

import (
	"net/netip"
	"time"
)

// Connection says what kind of connection an attempt used.
type Connection string

// The connections. An idle rung is a fresh warm-up, a reused request and, when
// that failed, a control on a new connection.
const (
	ConnectionFresh   Connection = "fresh"
	ConnectionReused  Connection = "reused"
	ConnectionControl Connection = "control"
)

// Attempt is one request on the wire and what it showed.
type Attempt struct {
	Number     int // 1-based within the observation
	Connection Connection
	Reason     Reason
	Detail     string // for people: the error or the expectation that failed; never decides

	NoToken bool // there was none to send: nothing was sent to the target, and nothing is said of it
	Renewed bool // its token was refused, and there was another one: the next attempt on a fresh connection, if there is one, counts in its place

	ProxyAsked  bool // a proxy was asked for the connection and did not open it: a request that the proxy saw
	ProxyStatus int  // with which it answered that; 0: no answer that has one
	ProxyFinal  bool // what the proxy answered it would answer again

	Method      string
	Status      int         // HTTP status of the whole answer; 0: none came
	GRPC        *GRPCStatus // what a gRPC answer ended with; nil: no gRPC, or no whole answer
	StreamReset *uint32     // HTTP/2: the code with which the peer reset the request's stream; nil: it did not
	NoHTTP2     bool        // the peer answered in HTTP/1 where HTTP/2 was spoken
	TextStatus  int         // with that status; 0: it was not seen
	NoHTTP1     bool        // the peer sent frames of HTTP/2 where HTTP/1.1 was spoken
	NoALPN      bool        // TLS: the peer takes none of the protocols that it was offered
	Goaway      *Goaway     // HTTP/2: the last GOAWAY that came; nil: none
	Proto       string
	Began       time.Time     // when its connection was to be opened, or the one it had held was due; zero: nothing was tried
	Started     time.Time     // when the first request byte was about to leave; zero when nothing left
	Elapsed     time.Duration // first request byte to the end of the attempt (the opening, when that failed)
	Phases      Phases
	RTT         time.Duration // the kernel's smoothed round trip; 0: unknown
	MinRTT      time.Duration // the smallest round trip that the kernel measured on the connection; 0: unknown
	Hello       time.Duration // ClientHello to the first byte back, which the TLS peer itself sends; 0: plain, or unknown

	ConnectionAge time.Duration // since the connection was open, when the request left
	Served        int           // requests that the connection carried before this one
	IdleTime      time.Duration // real idle time before this request; 0: not held

	RequestBytes      int64  // wire bytes of the request that were written
	RequestBytesAcked *int64 // of them acknowledged by the next kernel on the path at the attempt's end; nil: unknown
	// AckedAtFirst is how many of them had been acknowledged when the first thing
	// came after our write (bytes, FIN or RST); nil: nothing came, or unknown. A
	// RST carries no acknowledgement: 0 says nothing there, and is left out.
	AckedAtFirst  *int64
	ResponseBytes int64 // wire bytes that came back
	PushedStatus  int   // HTTP status of an answer that nobody had asked for; 0: none came

	Local, Remote netip.AddrPort // zero: no connection
	Address       netip.Addr     // addresses: all: the one of the host's that it was for; zero: as the resolver said
	PinnedIP      *PinnedIP      // reused: the host's name no longer gives Remote; nil: it does, or nobody looked
	TraceID       string
	SpanID        string
	Hops          []Hop // the requests before this one that were redirected, in their order; nil: none

	Queued     bool          // the close was already queued in our kernel before we wrote: validation would have seen it
	Delay      time.Duration // perch's own scheduling delay during the attempt: how late it woke, or looked
	DelayKnown bool          // whether Delay could be measured
	WokeLate   time.Duration // of Delay: how late the hold woke; 0: in time, or not held
	Waited     time.Duration // of Delay: how long what decided had waited for perch to look; 0: not, or unknown
	Own        *OwnPod       // failed attempts: perch's own pod meanwhile; nil: not measured
	RetryAfter time.Duration // what a 429 or 503 asked for; 0: nothing
	CloseAfter bool          // the answer ends the connection (Connection: close, or HTTP/1.0 without keep-alive)
	Advertised time.Duration // Keep-Alive: timeout=N of the answer; 0: none
	TLS        *TLSFacts     // of the connection's handshake, shared by its attempts; nil: no TLS
	TLSExpiry  time.Time     // NotAfter of the leaf certificate; zero: no TLS
	Via        []string      // proxies and meshes seen in the answer's headers
}

// Hop is a request that was answered with a redirect, which perch followed. Its
// span id went out with it.
type Hop struct {
	SpanID  string
	Status  int
	Started time.Time
	Elapsed time.Duration
}

// OK reports whether the attempt ended in a whole answer, as expected.
func (a Attempt) OK() bool { return a.Reason == ReasonOK }

// Unopened reports whether not even the first hop could be connected to, as in a
// pod whose network is not up yet. A proxy that was asked is a network that works.
func (a Attempt) Unopened() bool { return a.Reason.Unopened() && !a.ProxyAsked }

// Phases are an attempt's parts. Zero means that the phase did not run.
type Phases struct {
	DNS, Connect, TLS, Wait, Transfer time.Duration
}

// HowClosed says by what a close (or what looked like one) was seen.
type HowClosed string

// How a connection ended while it was held, or at its reuse.
const (
	HowFIN         HowClosed = "fin"
	HowRST         HowClosed = "rst"
	HowBytes       HowClosed = "bytes"
	HowCloseNotify HowClosed = "close_notify"
	HowGoaway      HowClosed = "goaway"
	HowSilent      HowClosed = "silent"
)

// Close is a close that was seen on a held connection.
type Close struct {
	Age        time.Duration // idle age at that moment
	At         time.Time
	How        HowClosed
	Resolution time.Duration // how exactly Age is known
	AfterReply time.Duration // since the last answer's last byte; equals Age for a used connection
}
