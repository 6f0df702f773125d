package lab

import "net/http"

func answerScenarios() []Scenario {
	return []Scenario{
		{Name: "proxy_upstream_reset", Reason: "proxy_upstream_reset", play: onRequest(proxyUpstreamReset),
			About: "Answers 503 in Envoy's words for an upstream connection that had died."},
		{Name: "rate_limited", Reason: "rate_limited", play: answering(http.StatusTooManyRequests, "Retry-After: 1"),
			About: "Answers 429 with Retry-After: 1."},
		{Name: "unavailable", Reason: "unavailable", play: answering(http.StatusServiceUnavailable),
			About: "Answers 503 without Retry-After."},
		{Name: "unavailable_retry_after", Reason: "unavailable", play: answering(http.StatusServiceUnavailable, "Retry-After: 1"),
			About: "Answers 503 with Retry-After: 1."},
		{Name: "unavailable_502", Reason: "unavailable", play: answering(http.StatusBadGateway),
			About: "Answers 502."},
		{Name: "unavailable_504", Reason: "unavailable", play: answering(http.StatusGatewayTimeout),
			About: "Answers 504."},
		{Name: "unauthorized", Reason: "unauthorized", play: answering(http.StatusUnauthorized, `WWW-Authenticate: Bearer realm="lab"`),
			About: "Answers 401."},
		{Name: "unauthorized_403", Reason: "unauthorized", play: answering(http.StatusForbidden),
			About: "Answers 403."},
		{Name: "redirected", Reason: "redirected", play: answering(http.StatusFound, "Location: https://elsewhere.invalid/"),
			About: "Answers 302 to another host."},
		{Name: "status", Reason: "status", play: answering(http.StatusNotFound),
			About: "Answers 404."},
		{Name: "status_500", Reason: "status", play: answering(http.StatusInternalServerError),
			About: "Answers 500."},
		{Name: "slow", Reason: "slow", play: onRequest(slow),
			About: "Answers well and 400 ms late."},
		{Name: "expectation", Reason: "expectation", play: onRequest(expectation),
			About: "Answers 200 with one day where two were asked for."},
		{Name: "no_keep_alive", Reason: "no_keep_alive", play: noKeepAlive, Held: true,
			About: "Answers well with Connection: close, and closes."},
		{Name: "no_keep_alive_http10", Reason: "no_keep_alive", play: noKeepAliveHTTP10, Held: true,
			About: "Answers well in HTTP/1.0, and closes."},
	}
}

// answering gives every request an answer with that status, and keeps the
// connection.
func answering(status int, headers ...string) func(*conn) {
	body := `{"error":"the lab says ` + http.StatusText(status) + `"}` + "\n"
	return onRequest(func(c *conn, q *http.Request) bool {
		return c.answer(q, status, body, headers...)
	})
}

// proxyUpstreamReset is what Envoy, and with it Istio, says when the
// connection that it had kept to the service turned out dead.
func proxyUpstreamReset(c *conn, q *http.Request) bool {
	return c.answer(q, http.StatusServiceUnavailable,
		"upstream connect error or disconnect/reset before headers. reset reason: connection termination",
		"Content-Type: text/plain", "Server: envoy")
}

// slow is late and right.
func slow(c *conn, q *http.Request) bool {
	return c.sleep(c.server.options.Delay) && c.good(q)
}

// expectation is quick, well-formed and wrong.
func expectation(c *conn, q *http.Request) bool {
	return c.answer(q, http.StatusOK, oneDay)
}

// noKeepAlive announces that it closes.
func noKeepAlive(c *conn) {
	if q, err := c.next(0); err == nil && c.answer(q, http.StatusOK, twoDays, "Connection: close") {
		c.fin()
	}
}

// noKeepAliveHTTP10 closes because its protocol says so: the body ends where
// the connection does.
func noKeepAliveHTTP10(c *conn) {
	if _, err := c.next(0); err != nil {
		return
	}
	if c.send("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + twoDays) {
		c.fin()
	}
}
