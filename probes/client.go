package probes

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// Client is the application's HTTP client, as its owner declared it. The
// catalog (diagnose/clients) says what it does.
type Client struct {
	Kind             string // a key of the catalog
	WrappedBy        string // optional: a layer that wraps its errors
	MaxIdle          Limit
	ValidateAfter    Limit
	TCPKeepAlive     time.Duration // 0: none
	HTTP2            bool          // it speaks HTTP/2 on the connection that is spoken of
	HTTP2Ping        time.Duration // how often it sends HTTP/2 PING while a connection idles; 0: never
	AutomaticRetries Switch        // by the client itself
	Retry            *RetryPolicy  // the application's own layer; nil: none declared
}

// Limit is a duration, or a word. The zero value is the client's own default.
type Limit struct {
	Mode  LimitMode
	After time.Duration // with LimitAfter
}

// LimitMode says how a Limit is to be read.
type LimitMode string

// The modes of a Limit.
const (
	LimitDefault LimitMode = ""
	LimitNone    LimitMode = "none"   // max_idle: no limit; validate_after: never
	LimitAlways  LimitMode = "always" // validate_after: before each use
	LimitAfter   LimitMode = "after"
)

// Switch is a setting that may be left at the client's default.
type Switch string

// The positions of a Switch.
const (
	SwitchDefault Switch = ""
	SwitchNone    Switch = "none"
)

// RetryPolicy is the application's retry layer.
type RetryPolicy struct {
	Layer    RetryLayer
	Attempts int      // all tries, the first included
	Methods  []string // HTTP methods that it sends again, in capitals; nil: every method
	Errors   []string // class names, codes, or statuses such as 503 and 5xx, as the application writes them
}

// Repeats reports whether the layer sends a request of that method again at
// all; an empty one is a GET.
func (p RetryPolicy) Repeats(method string) bool {
	return len(p.Methods) == 0 || slices.Contains(p.Methods, cmp.Or(method, http.MethodGet))
}

// RetryLayer says which errors the retry layer sees.
type RetryLayer string

// The retry layers.
const (
	LayerInside RetryLayer = "inside" // it sees the client's own errors
	LayerAround RetryLayer = "around" // it sees the wrapped ones
)
