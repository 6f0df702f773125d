// Package expect judges answers by expectations written in CEL. It is the only
// importer of cel-go.
package expect

import (
	"net/http"
	"time"
)

// Answer is what expectations can look at.
type Answer struct {
	Status  int
	Headers http.Header
	Body    []byte        // after decompression
	Latency time.Duration // first request byte to the answer's last
	Proto   string        // "HTTP/1.1"
	TLS     string        // "1.2", "1.3"; empty: plain
}

// About says which variables an expectation refers to.
type About string

// What an expectation can be about.
const (
	AboutStatus  About = "status"  // only status
	AboutLatency About = "latency" // only latency
	AboutOther   About = "other"   // anything else, or an evaluation error
)

// Failure is an expectation that did not hold.
type Failure struct {
	About      About
	Expression string
	Detail     string // want and got, for people; never a body or a header value
}

// Set is a probe's compiled expectations. Compile makes one.
type Set struct{}

// Compile checks and compiles expressions. Its error joins one *Error for each
// bad expression.
func Compile(expressions []string) (*Set, error) { return &Set{}, nil }

// Check returns the expectations that a does not meet, in order. Unless an
// expression refers to status, a status of 200 to 299 is expected as well.
func (s *Set) Check(a Answer) []Failure { return nil }

// Expects reports whether status is one that the expressions about the status
// alone name as right (so that a 401 can be the expected answer).
func (s *Set) Expects(status int) bool { return status >= 200 && status < 300 }
