package clients

import (
	"slices"
	"time"

	"perch.example/probes"
)

// Source says where a fact comes from.
type Source string

// The sources.
const (
	Measured   Source = "M" // measured for this project against real clients
	Documented Source = "D" // the vendor's documentation or source
)

// Client is what the catalog knows of one HTTP client.
type Client struct {
	Kind     string // the key in a config: client.kind
	Name     string // as people call it
	Language string
	Verb     string // how its language says that an error comes out: "throws", "raises"
	Versions string // what the documented facts hold for
	Measured string // the version that the measured facts hold for; empty: none are
	Idle     IdleLimit
	Looks    Validation
	Pool     Pooling
	Retries  Retrying
	Facts    map[Event]Fact
	HTTP2    map[Event]Fact      // what differs, or is known, over HTTP/2
	Errors   map[string][]string // an error's name -> what it also is; names as the application writes them
	Aliases  map[string][]string // a name in Errors -> other names by which a retry list means the same
	Settings Settings
}

// IdleLimit is the age at which the client drops an idle connection by itself,
// when nothing else is declared.
type IdleLimit struct {
	Limit  probes.Limit  // LimitNone or LimitAfter
	Hint   bool          // it obeys the answer's Keep-Alive: timeout=N
	Margin time.Duration // what it takes off the hint
	Sweeps int           // it looks for old ones only so many times per limit; 0: it drops them on time
	Source Source
}

// Validation is the idle age from which the client looks at a connection
// before it uses it.
type Validation struct {
	Limit  probes.Limit // LimitNone (never looks), LimitAlways or LimitAfter
	Fixed  bool         // no setting changes it
	How    string
	Source Source
}

// Pooling is which of several idle connections the client uses.
type Pooling struct {
	Order  probes.PoolOrder
	How    string // what else is to be known of it, such as the setting that changes it; empty: nothing
	Source Source
}

// PoolOrder returns which of several idle connections that kind of client uses;
// empty: the catalog does not know the client.
func PoolOrder(kind string) probes.PoolOrder {
	client, _ := Lookup(kind)
	return client.Pool.Order
}

// Retrying is the client's own second try.
type Retrying struct {
	Does    string   // in words
	Methods []string // those that it sends again where the fact's Safe cell says so; nil: GET, HEAD, OPTIONS, TRACE
	Off     string   // the setting that turns it off; empty: there is none
	Times   int      // how often, each on what the pool hands out next; 0: until it has opened a new connection
	Renews  bool     // on a new connection at once, whatever the pool holds
	Source  Source
}

// Settings are templates in the client's own syntax: one expression, or where
// there is only a setter, statements that end with a semicolon. {ms}, {s},
// {whole} and {go} stand for a duration; see Setting. Empty: there is no such
// setting.
type Settings struct {
	MaxIdle      string
	Validate     string
	TCPKeepAlive string
	Timeout      string            // of one response
	Retry        string            // its own or its ecosystem's retry, for idempotent methods; empty: none built in
	SpringBoot   map[string]string // a wrapper's kind -> the bean that sets MaxIdle below it
	Caveats      []string          // about MaxIdle and Validate
}

// Event is one thing that can happen to a request, as a client can tell it.
type Event string

// The events. Several reasons look alike to a client; see eventOf.
const (
	ClosedIdle      Event = "closed while idle"
	ResetIdle       Event = "reset while idle"
	BytesIdle       Event = "bytes pushed while idle"
	ClosesOnRequest Event = "closes on the request"
	ResetsOnRequest Event = "resets on the request"
	PartialHead     Event = "ends inside the head"
	PartialBody     Event = "ends inside the body"
	NotHTTP         Event = "answers no HTTP"
	Silence         Event = "no answer"
	NoAddress       Event = "no address"
	Refused         Event = "connection refused"
	ConnectTimeout  Event = "connect timeout"
	Unreachable     Event = "no route to the host"
	ProxyFailure    Event = "the proxy makes no tunnel"
	TLSFailure      Event = "TLS failure"
	BadCertificate  Event = "certificate not accepted"
	Unavailable     Event = "503"
	RateLimited     Event = "429"
	Unauthorized    Event = "401"

	GoawayIdle        Event = "GOAWAY while idle"
	GoawayUnprocessed Event = "GOAWAY that leaves the request out"
	GoawayProcessed   Event = "GOAWAY, the request unanswered"
	StreamRefused     Event = "stream refused"
	StreamReset       Event = "stream reset"
)

// Events returns the closed set, in the order in which they are shown.
func Events() []Event {
	return []Event{
		ClosedIdle, ResetIdle, BytesIdle, ClosesOnRequest, ResetsOnRequest, PartialHead, PartialBody, NotHTTP, Silence,
		NoAddress, Refused, ConnectTimeout, Unreachable, ProxyFailure, TLSFailure, BadCertificate,
		Unavailable, RateLimited, Unauthorized,
	}
}

// H2Events returns what is asked of a client over HTTP/2: its own events, and
// those for which the facts of HTTP/1.1 do not hold.
func H2Events() []Event {
	return []Event{
		GoawayIdle, ClosedIdle, ResetIdle, GoawayUnprocessed, GoawayProcessed, StreamRefused, StreamReset,
		ClosesOnRequest, ResetsOnRequest, BytesIdle, PartialHead, PartialBody, NotHTTP, Silence,
	}
}

// fact is what is known of an event over the declared protocol.
func (c Client) fact(e Event, http2 bool) (Fact, bool) {
	if http2 && slices.Contains(H2Events(), e) {
		f, ok := c.HTTP2[e]
		return f, ok
	}
	f, ok := c.Facts[e]
	return f, ok
}

// Fact is what a client does when an event meets it.
type Fact struct {
	Safe      Effect  // GET, and the other methods of Retrying.Methods
	Other     Effect  // POST and the rest
	Bare      *Effect // with automatic retries off; nil: as Other
	BareOther *Effect // the same for what Other is about; nil: as Bare
	Looked    *Effect // at an idle age at which it looks first; nil: looking changes nothing
	Source    Source
}

// Effect is one cell of the table.
type Effect struct {
	Does  Does
	Error string // with Fails: the error's name, a key of Client.Errors
	Text  string // the error's text ("<host>", "<status>" of a proxy's answer, and "..." stand for what differs), or what is returned
	Note  string // what else is to be known of it
}

// Does is what a client does.
type Does string

// What a client can do.
const (
	Notices Does = "notices" // opens a new connection before anything is sent
	Retries Does = "retries" // writes to the dead one, then silently sends again
	Fails   Does = "fails"   // the application gets an error
	Returns Does = "returns" // the application gets something that looks like an answer
)

// Kinds returns the catalog's keys, in the order in which they are shown.
func Kinds() []string { return slices.Clone(catalog().kinds) }

// Lookup returns the client of that kind. Its maps are the catalog's own: read
// them only.
func Lookup(kind string) (Client, bool) {
	read, ok := catalog().clients[kind]
	if !ok {
		return Client{}, false
	}
	return read(), true
}

// Common returns every known client with all its defaults, for reports where
// none is declared.
func Common() []probes.Client {
	var common []probes.Client
	for _, kind := range Kinds() {
		common = append(common, probes.Client{Kind: kind})
	}
	return common
}

// eventOf turns a reason into what a client sees of it; empty when the catalog
// holds nothing about it (whole answers, failures of perch itself).
func eventOf(r probes.Reason) Event {
	switch r {
	case probes.ReasonIdleFIN, probes.ReasonIdleCloseNotify:
		return ClosedIdle
	case probes.ReasonIdleRST:
		return ResetIdle
	case probes.ReasonIdleBytes:
		return BytesIdle
	case probes.ReasonIdleGoaway:
		return GoawayIdle
	case probes.ReasonGoawayUnprocessed:
		return GoawayUnprocessed
	case probes.ReasonGoawayProcessed:
		return GoawayProcessed
	case probes.ReasonRefusedStream:
		return StreamRefused
	case probes.ReasonStreamReset:
		return StreamReset
	case probes.ReasonCrossedClose, probes.ReasonEOF:
		return ClosesOnRequest
	case probes.ReasonReset:
		return ResetsOnRequest
	case probes.ReasonPartialHead:
		return PartialHead
	case probes.ReasonBlackhole, probes.ReasonNoResponse:
		return Silence
	case probes.ReasonDNS:
		return NoAddress
	case probes.ReasonRefused:
		return Refused
	case probes.ReasonConnectTimeout:
		return ConnectTimeout
	case probes.ReasonConnectFailed:
		return Unreachable
	case probes.ReasonProxy:
		return ProxyFailure
	case probes.ReasonTLS:
		return TLSFailure
	case probes.ReasonCertificate:
		return BadCertificate
	case probes.ReasonPartialBody:
		return PartialBody
	case probes.ReasonBadResponse:
		return NotHTTP
	case probes.ReasonUnavailable, probes.ReasonProxyUpstreamReset:
		return Unavailable
	case probes.ReasonRateLimited:
		return RateLimited
	case probes.ReasonUnauthorized:
		return Unauthorized
	default:
		return ""
	}
}

// status is the HTTP status of the events that are answers; 0: no answer.
func (e Event) status() int {
	switch e {
	case Unavailable:
		return 503
	case RateLimited:
		return 429
	case Unauthorized:
		return 401
	case BytesIdle:
		return 408
	default:
		return 0
	}
}

func none() probes.Limit   { return probes.Limit{Mode: probes.LimitNone} }
func always() probes.Limit { return probes.Limit{Mode: probes.LimitAlways} }
func after(d time.Duration) probes.Limit {
	return probes.Limit{Mode: probes.LimitAfter, After: d}
}
