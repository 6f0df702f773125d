package probes

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"perch.example/probes/expect"
	"perch.example/probes/wire"
)

// judgeAnswer decides what a whole answer says. The wire part (everything that
// is not a whole answer) is Classify's.
func judgeAnswer(s *Spec, r wire.Response, latency time.Duration) (Reason, string) {
	expected := s.Expect.Expects(r.Status)
	switch {
	case !expected && upstreamReset(r):
		return ReasonProxyUpstreamReset, "a proxy on the way answered " + strconv.Itoa(r.Status) + " about its own upstream connection"
	case !expected && r.Status == http.StatusTooManyRequests:
		return ReasonRateLimited, "status 429"
	case !expected && (r.Status == http.StatusBadGateway || r.Status == http.StatusServiceUnavailable || r.Status == http.StatusGatewayTimeout):
		return ReasonUnavailable, "status " + strconv.Itoa(r.Status)
	case !expected && (r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden):
		return ReasonUnauthorized, "status " + strconv.Itoa(r.Status)
	case !expected && r.Status >= 300 && r.Status < 400 && r.Header.Get("Location") != "":
		return ReasonRedirected, "status " + strconv.Itoa(r.Status) + ", a redirect that was not followed"
	}
	failures := s.Expect.Check(expect.Answer{
		Status: r.Status, Headers: r.Header, Body: r.Body, Latency: latency, Proto: r.Proto, TLS: tlsVersion(r),
		Certificate: certificateOf(s, r),
	})
	if len(failures) == 0 {
		return ReasonOK, ""
	}
	return worstFailure(failures)
}

// worstFailure picks the reason that stands first in the deciding order.
func worstFailure(failures []expect.Failure) (Reason, string) {
	for _, pick := range []struct {
		about  expect.About
		reason Reason
	}{{expect.AboutStatus, ReasonStatus}, {expect.AboutLatency, ReasonSlow}} {
		for _, f := range failures {
			if f.About == pick.about {
				return pick.reason, f.Detail
			}
		}
	}
	return ReasonExpectation, failures[0].Detail
}

// envoyReset begins what Envoy says of a stale connection of its own: as an
// answer's body, or as a gRPC status's message.
const envoyReset = "upstream connect error or disconnect/reset before headers"

// upstreamReset recognises Envoy's word for a stale connection of its own. The
// text is Envoy's documented answer body; its flags stand in a header where
// the operator shows them.
func upstreamReset(r wire.Response) bool {
	if r.Status != http.StatusBadGateway && r.Status != http.StatusServiceUnavailable {
		return false
	}
	if bytes.HasPrefix(bytes.TrimSpace(r.Body), []byte(envoyReset)) {
		return true
	}
	for _, flag := range strings.Split(r.Header.Get("X-Envoy-Response-Flags"), ",") {
		if f := strings.TrimSpace(flag); f == "UC" || f == "UF" {
			return true
		}
	}
	return false
}

func tlsVersion(r wire.Response) string {
	if r.TLS == nil {
		return ""
	}
	if r.TLS.Version == MaxTLS {
		return "1.3"
	}
	return "1.2"
}

// retryAfter reads Retry-After as seconds or as a date; 0: none, or nonsense.
// It is a week at most: no run is that long, and sums of times stay in range.
func retryAfter(h http.Header, now time.Time) time.Duration {
	const week = 7 * 24 * time.Hour
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && v[0] >= '0' && v[0] <= '9' {
		if s > week.Seconds() {
			return week
		}
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil && at.After(now) {
		return min(at.Sub(now), week)
	}
	return 0
}

// advertised reads the seconds of "Keep-Alive: timeout=N"; 0: none.
func advertised(h http.Header) time.Duration {
	for _, part := range strings.Split(h.Get("Keep-Alive"), ",") {
		name, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		if !strings.EqualFold(name, "timeout") {
			continue
		}
		if s, err := strconv.Atoi(strings.TrimSpace(v)); err == nil && s > 0 && s < 1<<20 {
			return time.Duration(s) * time.Second
		}
	}
	return 0
}

// via names the proxies that an answer's headers give away. Header values stay
// out of it: they are the peer's words.
func via(h http.Header) []string {
	var seen []string
	if h.Get("X-Envoy-Upstream-Service-Time") != "" || strings.EqualFold(h.Get("Server"), "envoy") || strings.EqualFold(h.Get("Server"), "istio-envoy") {
		seen = append(seen, "envoy")
	}
	if h.Get("Via") != "" {
		seen = append(seen, "proxy")
	}
	return seen
}
