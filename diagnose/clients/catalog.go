package clients

import (
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
	Kind     string // the key in a config: client.kind; Lookup sets it
	Name     string // as people call it
	Verb     string // how its language says that an error comes out: "throws", "raises"
	Idle     IdleLimit
	Looks    Validation
	Facts    map[Event]Fact
	Errors   map[string][]string // an error's name -> what it also is; names as the application writes them
	Settings Settings
}

// IdleLimit is the age at which the client drops an idle connection by itself,
// when nothing else is declared.
type IdleLimit struct {
	Limit  probes.Limit  // LimitNone or LimitAfter
	Hint   bool          // it obeys the answer's Keep-Alive: timeout=N
	Margin time.Duration // what it takes off the hint
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

// Settings are templates in the client's own syntax. {ms}, {s}, {whole}
// and {go} stand for a duration; see Setting. Empty: there is no such setting.
type Settings struct {
	MaxIdle      string
	Validate     string
	TCPKeepAlive string
	Timeout      string   // of one response
	Caveats      []string // about MaxIdle and Validate
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
	Silence         Event = "no answer"
	NoAddress       Event = "no address"
	Refused         Event = "connection refused"
	ConnectTimeout  Event = "connect timeout"
	TLSFailure      Event = "TLS failure"
	Unavailable     Event = "503"
	RateLimited     Event = "429"
)

// Fact is what a client does when an event meets it.
type Fact struct {
	Safe   Effect  // GET, HEAD, OPTIONS, TRACE
	Other  Effect  // POST and the like
	Bare   *Effect // with automatic retries off; nil: as Other
	Looked *Effect // at an idle age at which it looks first; nil: looking changes nothing
	Source Source
}

// Effect is one cell of the table.
type Effect struct {
	Does  Does
	Error string // with Fails: the error's name, a key of Client.Errors
	Text  string // the error's text ("<host>" stands for the host), or what is returned
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

// entry names a client, so that only the one that is asked for is built.
type entry struct {
	kind  string
	build func() Client
}

// catalog lists the constructors, in the order in which clients are shown.
func catalog() []entry {
	return []entry{
		{"apache-httpclient-4.5", apache45},
		{"apache-httpclient-5.2", apache52},
		{"okhttp", okHTTP},
		{"jdk-httpclient", jdkHTTPClient},
		{"httpurlconnection", urlConnection},
		{"node-http", nodeHTTP},
		{"node-fetch", undici},
		{"requests", requests},
		{"urllib3", urllib3Pool},
		{"aiohttp", aiohttp},
		{"httpx", httpx},
		{"libcurl", libcurl},
		{"go-net-http", goNetHTTP},
	}
}

// Kinds returns the catalog's keys, in the order in which they are shown.
func Kinds() []string {
	var kinds []string
	for _, e := range catalog() {
		kinds = append(kinds, e.kind)
	}
	return kinds
}

// Lookup returns the client of that kind.
func Lookup(kind string) (Client, bool) {
	for _, e := range catalog() {
		if e.kind == kind {
			c := e.build()
			c.Kind = kind
			return c, true
		}
	}
	return Client{}, false
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
// holds nothing about it (HTTP/2, whole answers, failures of perch itself).
func eventOf(r probes.Reason) Event {
	switch r {
	case probes.ReasonIdleFIN, probes.ReasonIdleCloseNotify:
		return ClosedIdle
	case probes.ReasonIdleRST:
		return ResetIdle
	case probes.ReasonIdleBytes:
		return BytesIdle
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
	case probes.ReasonTLS, probes.ReasonCertificate:
		return TLSFailure
	case probes.ReasonUnavailable, probes.ReasonProxyUpstreamReset:
		return Unavailable
	case probes.ReasonRateLimited:
		return RateLimited
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

func fails(name, text string) Effect { return Effect{Does: Fails, Error: name, Text: text} }

// same is a fact that holds for every method and setting.
func same(e Effect, s Source) Fact { return Fact{Safe: e, Other: e, Source: s} }

// answered are the facts about whole answers: every client hands them over.
func answered(facts map[Event]Fact) map[Event]Fact {
	facts[Unavailable] = same(Effect{Does: Returns, Text: "the answer 503"}, Documented)
	facts[RateLimited] = same(Effect{Does: Returns, Text: "the answer 429"}, Documented)
	return facts
}
