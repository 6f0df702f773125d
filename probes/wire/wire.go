// Package wire owns one connection at a time: it dials, sends, holds, watches
// and reuses, and keeps the evidence that the kernel gives, consuming nothing
// while it holds. It never redials and never pools.
package wire

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// DialFunc opens a connection; nil means the real network.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// ResolveFunc turns a name into addresses; nil means the system's resolver, and
// beside a DialFunc none: a network of one's own has names of its own.
type ResolveFunc func(ctx context.Context, host string) ([]netip.Addr, error)

// Options say how a connection is opened.
type Options struct {
	Host, Port string
	Protocol   Protocol
	Proxy      *Proxy     // nil: straight to the host
	Family     Family     // of the addresses that are dialled
	Source     netip.Addr // the local address; zero: the system's choice
	Socket     string     // path of a unix socket that is dialled in place of host and proxy; empty: none
	Dial       DialFunc
	Resolve    ResolveFunc
	// Allow is asked right before each address is dialled; an error means that it
	// is not. nil: all may be.
	Allow        func(netip.Addr) error
	TLS          *tls.Config   // nil: plain
	Chains       *Chains       // what handshakes showed, shared by connections; nil: each has its own
	TCPKeepAlive time.Duration // 0: off, so that nothing keeps the path awake
	DNS          time.Duration // longest resolution
	Connect      time.Duration // longest connect to one address
	Handshake    time.Duration // longest TLS handshake
	Ping         time.Duration // HTTP/2: how often a PING is sent while the connection is held; 0: never
}

// Protocol is what is spoken on a connection once it stands.
type Protocol string

// The protocols. The zero value is HTTP/1.1.
const (
	SpeakHTTP1 Protocol = ""
	SpeakH2    Protocol = "h2"   // HTTP/2: over TLS by ALPN, and opening fails (FailureTLS) where the peer does not agree; plain by prior knowledge
	SpeakALPN  Protocol = "alpn" // over TLS what the peer chooses of h2 and http/1.1; plain: HTTP/1.1
)

// Request is one exchange to be made on a connection.
type Request struct {
	HTTP    *http.Request
	MaxHead int64         // of the answer, bytes
	MaxBody int64         // of the answer, bytes, before and after decompression
	Timeout time.Duration // first request byte to the answer's last
	// Gate is called right before the first request byte, outside of every
	// timed section; an error means that nothing is sent. nil: no gate.
	Gate func(context.Context) error
}

// Response is a whole answer.
type Response struct {
	Status int
	Header http.Header
	// Trailer is what came after the body: gRPC's status stands there, or in Header
	// where the answer was nothing but trailers.
	Trailer http.Header
	Proto   string               // "HTTP/1.1", "HTTP/2.0"
	Body    []byte               // decompressed
	TLS     *tls.ConnectionState // nil: plain
	Close   bool                 // the answer ends the connection
}

// Close is what was first seen to end a held connection.
type Close struct {
	Age        time.Duration // since the last byte of the last answer
	At         time.Time
	State      string        // "fin", "rst", "bytes"; under TLS "bytes" is ciphertext until the reuse decrypts it. The evidence of the reuse also says "close_notify" and "goaway", and "silent" where TCP keep-alive gave up
	Resolution time.Duration // how exactly Age is known
}

// Held is how a hold went.
type Held struct {
	Late      time.Duration // how late the hold woke
	LateKnown bool
	Close     *Close // first event that may be a close; nil: none, or no kernel evidence
	Canceled  bool   // the context ended first
}
