package diagnose

import (
	"net/http"
	"strconv"
	"strings"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// knows reports whether the catalog can hold anything of what a client makes of
// the attempt that decides. Its clients are HTTP's, not gRPC's; some speak no HTTP/2; what they make of having no token is the application's;
// and of a proxy it knows what follows an answer to CONNECT that does not ask for
// credentials.
func (j *judgement) knows(kind string) bool {
	switch speaks, known := clients.SpeaksHTTP2(kind); {
	case !known, j.tokenless(), j.l.in.Spec.GRPC != nil, j.at.Proto == overH2 && !speaks.HTTP2:
		return false
	case j.at.Reason == probes.ReasonProxy:
		return j.at.ProxyStatus > 0 && j.at.ProxyStatus != http.StatusProxyAuthRequired
	}
	return true
}

// named puts this attempt's host and the status of its proxy's answer into a client's words.
func (j *judgement) named(text string) string {
	return strings.NewReplacer("<host>", j.host(), "<status>", strconv.Itoa(j.at.ProxyStatus)).Replace(text)
}

// notConnected is about a forward proxy that opened no connection.
func (j *judgement) notConnected() string {
	const unasked = ", and nothing was asked of the API."
	a := j.at
	switch {
	case a.ProxyStatus == http.StatusProxyAuthRequired:
		return "renew the credentials for the forward proxy (proxy_credentials, or those in the environment's variable), and see whether the application's have expired too: it does not accept them" + unasked
	case a.ProxyFinal && a.ProxyStatus == 0:
		return "check the credentials for the forward proxy (proxy_credentials), and whether it allows this host and port: it refused" + unasked
	case !a.ProxyAsked:
		return "check that the forward proxy is there and that its address is right (proxy, or the environment's variable): it could not be asked" + unasked
	case a.ProxyStatus >= http.StatusInternalServerError:
		return "ask whoever runs the forward proxy: it could not reach the API, or says so, and answers " + strconv.Itoa(a.ProxyStatus) + " itself."
	}
	return "check the forward proxy and what it allows: it did not connect" + unasked
}
