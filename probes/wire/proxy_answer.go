package wire

import (
	"errors"
	"net/http"
	"strings"
)

// ProxyAnswer is what became of asking a proxy for a connection that it did not
// open. The zero value: it was asked, and said nothing that can be read.
type ProxyAnswer struct {
	Status int         // of its answer to CONNECT; 0: SOCKS, or none came
	Header http.Header // of that answer; nil: none came
	Final  bool        // it would answer the same again: it wants other credentials, or does not allow the host
}

// refusal is a proxy's answer as an error.
type refusal struct {
	answer ProxyAnswer
	why    string
}

// Error gives the why.
func (r *refusal) Error() string { return r.why }

// proxyAnswer is what err says of a proxy that was asked.
func proxyAnswer(err error) *ProxyAnswer {
	var r *refusal
	if errors.As(err, &r) {
		return &r.answer
	}
	return &ProxyAnswer{}
}

// finalStatus reports whether a proxy that answers CONNECT so would do it again:
// what another time may change is its own trouble, or that it is asked too often.
func finalStatus(status int) bool {
	return status < 500 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout
}

// finalSOCKS reports whether a SOCKS proxy that answers so would do it again. The
// words are those of the package that speaks to it.
func finalSOCKS(text string) bool {
	return text == "no acceptable authentication methods" || text == "username/password authentication failed" ||
		strings.HasSuffix(text, "connection not allowed by ruleset")
}
