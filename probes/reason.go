package probes

// Reason is what one attempt showed on the wire: a closed set, used as a
// metric label, a JSON value and a key of the client catalog. What several
// attempts mean together is a Diagnosis. Source: docs/reasons.md.
type Reason string

// The reasons, in the order in which they are decided (first match wins).
const (
	ReasonCanceled           Reason = "canceled"
	ReasonSkipped            Reason = "skipped"
	ReasonInternal           Reason = "internal"
	ReasonDNS                Reason = "dns"
	ReasonRefused            Reason = "refused"
	ReasonConnectTimeout     Reason = "connect_timeout"
	ReasonConnectFailed      Reason = "connect_failed"
	ReasonProxy              Reason = "proxy"
	ReasonCertificate        Reason = "certificate"
	ReasonTLS                Reason = "tls"
	ReasonIdleGoaway         Reason = "idle_goaway"
	ReasonIdleCloseNotify    Reason = "idle_close_notify"
	ReasonIdleBytes          Reason = "idle_bytes"
	ReasonIdleFIN            Reason = "idle_fin"
	ReasonBlackhole          Reason = "blackhole"
	ReasonIdleRST            Reason = "idle_rst"
	ReasonGoawayUnprocessed  Reason = "goaway_unprocessed"
	ReasonRefusedStream      Reason = "refused_stream"
	ReasonGoawayProcessed    Reason = "goaway_processed"
	ReasonStreamReset        Reason = "stream_reset"
	ReasonCrossedClose       Reason = "crossed_close"
	ReasonEOF                Reason = "eof"
	ReasonReset              Reason = "reset"
	ReasonNoResponse         Reason = "no_response"
	ReasonPartialHead        Reason = "partial_head"
	ReasonPartialBody        Reason = "partial_body"
	ReasonBadResponse        Reason = "bad_response"
	ReasonTooLarge           Reason = "too_large"
	ReasonProxyUpstreamReset Reason = "proxy_upstream_reset"
	ReasonRateLimited        Reason = "rate_limited"
	ReasonUnavailable        Reason = "unavailable"
	ReasonUnauthorized       Reason = "unauthorized"
	ReasonRedirected         Reason = "redirected"
	ReasonStatus             Reason = "status"
	ReasonSlow               Reason = "slow"
	ReasonExpectation        Reason = "expectation"
	ReasonNoKeepAlive        Reason = "no_keep_alive"
	ReasonOK                 Reason = "ok"
)

// Reasons returns the closed set, in deciding order.
func Reasons() []Reason {
	return []Reason{
		ReasonCanceled, ReasonSkipped, ReasonInternal,
		ReasonDNS, ReasonRefused, ReasonConnectTimeout, ReasonConnectFailed, ReasonProxy,
		ReasonCertificate, ReasonTLS,
		ReasonIdleGoaway, ReasonIdleCloseNotify, ReasonIdleBytes, ReasonIdleFIN,
		ReasonBlackhole, ReasonIdleRST,
		ReasonGoawayUnprocessed, ReasonRefusedStream, ReasonGoawayProcessed, ReasonStreamReset,
		ReasonCrossedClose, ReasonEOF, ReasonReset, ReasonNoResponse,
		ReasonPartialHead, ReasonPartialBody, ReasonBadResponse, ReasonTooLarge,
		ReasonProxyUpstreamReset,
		ReasonRateLimited, ReasonUnavailable, ReasonUnauthorized, ReasonRedirected,
		ReasonStatus, ReasonSlow, ReasonExpectation, ReasonNoKeepAlive, ReasonOK,
	}
}

// Resend says whether a request that ended in a reason may be sent again on
// another connection.
type Resend string

// How safe sending again is. The empty value means that the question does not
// arise (nothing was sent, or a whole answer came).
const (
	ResendSafe       Resend = "yes"                     // never accepted by the peer: any method
	ResendIdempotent Resend = "idempotent methods only" // it may have been executed
	ResendAsTold     Resend = "as Retry-After says"     // the answer says when
	ResendNo         Resend = "no"                      // the same answer would come again
)

// Resend returns how safe it is to send the request again after r.
func (r Reason) Resend() Resend {
	switch r {
	case ReasonDNS, ReasonRefused, ReasonConnectTimeout, ReasonConnectFailed, ReasonProxy,
		ReasonCertificate, ReasonTLS,
		ReasonIdleGoaway, ReasonIdleCloseNotify, ReasonIdleBytes, ReasonIdleFIN, ReasonIdleRST,
		ReasonGoawayUnprocessed, ReasonRefusedStream, ReasonCrossedClose:
		return ResendSafe
	case ReasonBlackhole, ReasonGoawayProcessed, ReasonStreamReset, ReasonEOF, ReasonReset,
		ReasonNoResponse, ReasonPartialHead, ReasonPartialBody, ReasonBadResponse, ReasonTooLarge,
		ReasonProxyUpstreamReset:
		return ResendIdempotent
	case ReasonRateLimited, ReasonUnavailable:
		return ResendAsTold
	case ReasonUnauthorized, ReasonRedirected, ReasonStatus, ReasonSlow, ReasonExpectation:
		return ResendNo
	case ReasonCanceled, ReasonSkipped, ReasonInternal, ReasonNoKeepAlive, ReasonOK:
		return ""
	}
	return ""
}

// Unopened reports whether no connection could be made, so that neither a
// handshake nor a request began.
func (r Reason) Unopened() bool {
	switch r {
	case ReasonDNS, ReasonRefused, ReasonConnectTimeout, ReasonConnectFailed, ReasonProxy:
		return true
	default:
		return false
	}
}

// Unwell reports whether a fresh exchange that ended so means that the service (or
// the way to it) is not well, rather than that its answer is not as expected.
func (r Reason) Unwell() bool {
	switch r {
	case ReasonStatus, ReasonSlow, ReasonExpectation, ReasonRedirected, ReasonTooLarge, ReasonNoKeepAlive,
		ReasonOK, ReasonCanceled, ReasonSkipped, ReasonInternal:
		return false
	default:
		return true
	}
}

// Closed reports whether r means that the peer (or something on the path)
// ended the connection before an answer began, while idle or as we wrote.
func (r Reason) Closed() bool {
	switch r {
	case ReasonIdleGoaway, ReasonIdleCloseNotify, ReasonIdleBytes, ReasonIdleFIN, ReasonIdleRST,
		ReasonGoawayUnprocessed, ReasonRefusedStream, ReasonCrossedClose, ReasonEOF, ReasonReset:
		return true
	default:
		return false
	}
}
