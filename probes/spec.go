package probes

import (
	"crypto/tls"
	"net/url"
	"time"

	"perch.example/probes/expect"
)

// Target is an API and what all its probes share.
type Target struct {
	Name           string
	URL            *url.URL
	Owner          string
	Severity       string // page, ticket, info; empty: not said
	Runbook        string
	Channel        string  // of Slack, with a bot token; empty: the default one
	RateLimit      Rate    // what the API allows the whole service
	Share          float64 // of RateLimit that perch may use, 0 < Share <= 1
	DailyLimit     int
	MaxConnections int
	Client         *Client // nil: not declared
	Via            Via
	Accepted       []Accepted // what is known and lived with
	Probes         []Spec
}

// Budget returns the rate that perch may use: RateLimit x Share, per second.
func (t Target) Budget() float64 { return float64(t.RateLimit) * t.Share }

// Rate is requests per second.
type Rate float64

// Via is what the config declares to end TCP on the way.
type Via string

// What may stand on the way.
const (
	ViaNone  Via = "none"
	ViaMesh  Via = "mesh"
	ViaProxy Via = "proxy"
)

// Spec is one configured probe with every default resolved: all that is needed
// to plan, run and judge it.
type Spec struct {
	Target, Probe string
	Kind          Kind
	Every         time.Duration // 0: each run
	Method        string        // GET, HEAD, OPTIONS; POST where ReadOnly says why it changes nothing
	ReadOnly      string        // why a POST, or a gRPC method, changes nothing; empty: it is neither
	Body          []byte        // of a POST; nil: none
	Protocol      Protocol      // empty: HTTP/1.1
	Way           Way
	OAuth         *OAuth   // nil: headers alone say who calls
	GRPC          *GRPC    // kind grpc, and idle over gRPC; nil: plain HTTP
	URL           *url.URL // path and literal query joined; no secret inside
	Headers       []Field
	Query         []Field
	TLS           TLS
	Timeouts      Timeouts
	Redirects     int // how many are followed; 0: none
	MaxBody       int64
	Expect        *expect.Set // never nil
	Retry         Retry

	KeepAlive time.Duration   // idle: what the path is expected to honour; 0: not said
	Holds     []time.Duration // idle: rungs; empty: the plan makes a ladder
	Rungs     []time.Duration // idle: of the plan's ladder, those that follow from the config alone; set by the plan, for metrics
	Search    bool            // idle: end each hold at its first close (perch idle)
	Unused    bool            // idle: also hold connections that never carried a request
	Requests  int             // http: how many on one connection, one after the other, to find its limits; 0 and 1: one
	Gap       time.Duration   // between those
	Burst     *Shape          // burst: never nil; else nil
	PoolOrder PoolOrder       // burst: of the declared client's pool; else empty
	Calls     string          // burst, idle: a file of the times of the application's calls, for the prediction; empty: the declared shape
	Pool      int             // idle, with Calls: how many connections the application's pool has; 0: as many as its calls need
	Client    *Client         // the target's; nil: not declared
	Via       Via
	Accepted  []Accepted // the target's: what is known and lived with
	Notice    NoticeInfo
}

// ID is "target/probe".
func (s Spec) ID() string { return s.Target + "/" + s.Probe }

// NoticeInfo is what a notice says of a target beside the finding.
type NoticeInfo struct {
	Owner, Severity, Runbook string
	Channel                  string   // of Slack, with a bot token; empty: the default one
	URL                      string   // what the probe calls, for "perch idle URL"; shown without user, query string and fragment; empty: that has no flags for the probe's way
	Query                    bool     // the URL of the probe has a query string, which URL lacks
	Idle                     []string // the flags of "perch idle" with which it measures what the probe does
}

// Field is a header or a query parameter: a literal Value, or one read From a
// source and put behind Prefix.
type Field struct {
	Name, Prefix, Value string
	From                Source
}

// TLS holds the client side of TLS. Zero: the system's roots, SNI from the URL.
type TLS struct {
	CAFile, CertFile, KeyFile, ServerName string
	MinVersion                            uint16 // tls.VersionTLS12 or 13
}

// Versions perch speaks; a document of this package's users, not a setting.
const (
	MinTLS = tls.VersionTLS12
	MaxTLS = tls.VersionTLS13
)

// Timeouts bound the phases of one attempt.
type Timeouts struct {
	DNS      time.Duration // resolving a name
	Connect  time.Duration // one address
	TLS      time.Duration
	Response time.Duration // first request byte to the answer's last
}

// Retry is perch's own second try, on a fresh connection, always recorded.
type Retry struct {
	Attempts int // all tries, the first included; 0 and 1: no second try
	Backoff  time.Duration
}
