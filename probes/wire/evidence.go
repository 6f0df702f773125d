package wire

import (
	"net/netip"
	"time"
)

// Evidence is all that one opening, or one exchange, showed: facts only, no
// judgement. It is a plain value; what is unknown is zero, nil or false, and
// what needs the kernel says so in Kernel.
type Evidence struct {
	Failure  Failure // how opening failed; empty: a connection stood
	DialErr  Errno   // what the system said when a socket was to be opened and connected, also the resolver's; empty: it did not fail there
	Canceled bool    // the context ended, or the connection was closed here
	Refused  bool    // the gate did not let the request out
	Error    string  // what the system said, for people; never decides

	ProxyAnswer *ProxyAnswer // of a proxy that was asked and did not open the connection; nil: it did, or none was asked

	Phases  Phases
	Started time.Time     // when the first request byte was about to leave; zero: nothing left
	Elapsed time.Duration // first request byte to the end; of an opening that failed, to its failure
	RTT     time.Duration // smoothed round trip; 0: unknown
	MinRTT  time.Duration // smallest round trip that the kernel measured on the connection; 0: unknown
	Hello   time.Duration // ClientHello to the first byte back, which the TLS peer itself sends; 0: unknown

	Local, Remote netip.AddrPort
	Tried         []netip.Addr // addresses that were tried, in order
	TLS           bool
	Chain         *TLSFacts // of the handshake and the peer's certificates, shared by all of a connection's exchanges; nil: plain, or it never came to a handshake

	Held      bool          // the connection was held, or had carried a request, before this one
	Served    int           // requests that it carried before this one
	Age       time.Duration // since it was open
	Idle      time.Duration // since the last answer's last byte, or since it was open
	Events    []Snapshot    // what changed while idle, at most 16
	IdleClose *Close        // what ended it while idle, as far as reading could tell; nil: nothing
	LeftOver  int           // bytes beyond the last answer's end that were read with it

	Kernel  bool      // whether the kernel was asked: without it, the snapshots are nil
	Before  *Snapshot // just before the write
	After   *Snapshot // just after it, before anything was read
	First   *Snapshot // at the event that brought the answer's first byte, the alert or the end
	Last    *Snapshot // at the end
	Pushed  bool      // application bytes had come before our write
	Alerted bool      // TLS: close_notify, or another alert, had come before our write

	WriteErr          Errno
	RequestSize       int64  // wire bytes of the request
	RequestBytes      int64  // of them written
	RequestBytesAcked *int64 // of them acknowledged by the next kernel on the path, at the end; nil: unknown
	ResponseBytes     int64  // wire bytes that came since the write
	PushedStatus      int    // status of an answer that came unasked; 0: none
	LeftAfter         int    // bytes beyond this answer's end

	Stage  Stage
	Ending Ending

	Proto string // "HTTP/1.1" or "HTTP/2.0": what the connection spoke; empty: none stood
	H2    *H2    // what HTTP/2's own frames said; nil: HTTP/1.1
	Frame string // HTTP/1.1 was spoken, and the first that came on the connection is this frame of HTTP/2's ("SETTINGS", "GOAWAY"); empty: it is none

	Unagreed bool // TLS: the peer takes none of the protocols that we offered by ALPN, or not the one that we need

	HoldLate  time.Duration // how late the hold woke
	HoldKnown bool
	Wait      time.Duration // how long, at most, the deciding event had waited for perch to look, or this machine held up our write
	WaitKnown bool          // false for a RST, which leaves no time, and without the kernel
}

// Delay returns perch's own delay during the attempt: how late the hold woke or
// how long the deciding event waited for us, whichever is longer; false when
// neither could be measured.
func (e Evidence) Delay() (time.Duration, bool) {
	return max(e.HoldLate, e.Wait), e.HoldKnown || e.WaitKnown
}

// Phases are the parts of an attempt. Zero: the phase did not run. A
// connection's first exchange repeats those of its opening.
type Phases struct {
	DNS, Connect, TLS time.Duration
	Wait              time.Duration // first request byte to the answer's first
	Transfer          time.Duration // the answer's first byte to its last
}

// H2 is what HTTP/2's own frames said of a connection and of our stream.
type H2 struct {
	Stream uint32  // ours; 0: none was opened
	Goaway *Goaway // the last one that came; nil: none
	Reset  *uint32 // error code of a RST_STREAM on our stream; nil: none came
	Pings  int     // PINGs that the peer sent since the last exchange

	Text       bool // what came is text, in answer to the preface or before it
	HTTP1      bool // of it: it begins as an HTTP/1 answer does
	TextStatus int  // with that status; 0: it did not come
	NoStreams  bool // the peer's SETTINGS allow no stream (MAX_CONCURRENT_STREAMS 0): clients wait until they do

	PingsSent       int // PINGs that we sent while it was held
	PingsUnanswered int // of them
}

// Goaway is a GOAWAY frame of the peer's.
type Goaway struct {
	LastStream uint32        // the highest of our streams that it may have processed
	Code       uint32        // of RFC 9113, 7; 0 is NO_ERROR, 11 ENHANCE_YOUR_CALM
	Debug      string        // its first bytes, printable, for people ("too_many_pings"); gRPC servers say why there
	Age        time.Duration // since the last answer's last byte; 0 where it came after our write
	Idle       bool          // it had come before our write
}

// Snapshot is the state of a TCP connection at one moment, as the kernel tells
// it, taken without consuming anything.
type Snapshot struct {
	At           time.Time // when we looked
	Came         time.Time // while idle: when what it shows came, which may be earlier; zero otherwise
	State        State
	Queued       int           // bytes that wait to be read
	Received     int64         // stream offset up to which bytes have come
	Acked        int64         // of this request's wire bytes, those acknowledged; 0 while idle
	RTT          time.Duration // smoothed
	MinRTT       time.Duration // smallest of the last minutes; 0: not measured
	RTO          time.Duration // until the next retransmission
	BytesAcked   uint64        // since the connection was made
	Unacked      uint32        // segments in flight
	Retransmits  uint8         // of the segment in flight now; misses the first (tail loss probe)
	TotalRetrans uint32        // segments sent again since the connection was made
	LastAckRecv  time.Duration // since an acknowledgement came (jiffies: 4 ms steps)
	LastDataRecv time.Duration // since data came (jiffies)
}

// State is a TCP state, in the kernel's numbers.
type State uint8

// The states a client can see. Zero: unknown.
const (
	StateEstablished State = 1
	StateClose       State = 7 // RST, or the kernel gave up
	StateCloseWait   State = 8 // FIN
)

// Failure says in which phase and how an opening failed.
type Failure string

// How opening fails. The empty value means that it did not.
const (
	FailureDNS            Failure = "dns"
	FailureRefused        Failure = "refused"
	FailureConnectTimeout Failure = "connect_timeout"
	FailureConnect        Failure = "connect_failed"
	FailureProxy          Failure = "proxy"       // the proxy could not be reached, or did not open the connection
	FailureCertificate    Failure = "certificate" // the peer's certificate was not accepted here
	FailureTLS            Failure = "tls"
)

// Errno is the class of a system error.
type Errno string

// The classes that mean something to perch. The empty value: no error.
const (
	ErrnoReset   Errno = "reset"   // ECONNRESET: a RST, and no FIN before it
	ErrnoPipe    Errno = "pipe"    // EPIPE: a FIN had come before the RST
	ErrnoTimeout Errno = "timeout" // ETIMEDOUT, or unreachable: the kernel gave up
	ErrnoRefused Errno = "refused"
	ErrnoOther   Errno = "other"

	// Of this machine, when a socket is opened.
	ErrnoDescriptors Errno = "descriptors" // EMFILE, ENFILE: no file descriptor is left
	ErrnoNoAddress   Errno = "no_address"  // EADDRNOTAVAIL: no local port is left, or no local address of that family
)

// Stage is how far the answer was read.
type Stage string

// The stages. The zero value: no byte of an answer came.
const (
	StageNone Stage = ""
	StageHead Stage = "head"
	StageBody Stage = "body"
	StageDone Stage = "done"
)

// Ending is how reading ended.
type Ending string

// How reading ends. The zero value: nothing was read.
const (
	EndWhole       Ending = "whole"
	EndEOF         Ending = "eof" // FIN; under TLS without close_notify
	EndCloseNotify Ending = "close_notify"
	EndAlert       Ending = "alert" // another TLS alert
	EndReset       Ending = "reset"
	EndTimeout     Ending = "timeout"
	EndGarbage     Ending = "garbage"        // not HTTP; under TLS not TLS
	EndHeadLimit   Ending = "head_too_large" // beyond MaxHead
	EndConflict    Ending = "conflicting_lengths"
	EndBodyLimit   Ending = "body_too_large" // beyond MaxBody, as sent or decompressed
	EndStreamReset Ending = "stream_reset"   // HTTP/2: RST_STREAM
	EndGoaway      Ending = "goaway"         // HTTP/2: a GOAWAY that leaves our stream out: no answer will come
)
