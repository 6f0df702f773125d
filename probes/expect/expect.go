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
	GRPC    *GRPC         // nil: no gRPC, and then the variable grpc has no value
	// Certificate is what the server showed; nil: none, and then the variable
	// certificate is empty.
	Certificate *Certificate
}

// GRPC is what a gRPC answer ended with. Its Answer's Body is the message as JSON.
type GRPC struct {
	Code    int              // 0 is OK
	Status  string           // the code's name, such as "NOT_FOUND"
	Message string           // for people, as the server says it
	Details []map[string]any // each with its "@type"; nothing but that where the type is not known
}

// About says which variables an expectation refers to.
type About string

// What an expectation can be about.
const (
	AboutStatus  About = "status"  // only status, or only grpc.code and grpc.status
	AboutLatency About = "latency" // only latency
	AboutOther   About = "other"   // anything else, or an evaluation error
)

// Failure is an expectation that did not hold.
type Failure struct {
	About      About
	Expression string
	Detail     string // want and got, for people; never a body or a header value
}

// Error is an expression that does not compile.
type Error struct {
	Index      int    // in the list that was compiled
	Expression string // as it is written
	Problem    string // what is wrong, with its column
	Fix        string // what would be right; empty: nothing to add
}

// Error is one line.
func (e *Error) Error() string {
	if e.Fix == "" {
		return e.Problem
	}
	return e.Problem + "; " + e.Fix
}

// Set is a probe's compiled expectations. Compile makes one. The zero Set and a
// nil one expect a status of 200 to 299, and of a gRPC answer the code 0.
type Set struct{ expectations []*expectation }

// Compile checks and compiles expressions. Its error joins one *Error for each
// bad expression.
func Compile(expressions []string) (*Set, error) {
	var c Compiler
	return c.Compile(expressions)
}
