package lab

import "net/http"

func racingScenarios() []Scenario {
	return []Scenario{
		{Name: "eof", Reason: "eof", play: onRequest(eof),
			About: "Reads the request, then closes with FIN and without an answer."},
		{Name: "eof_close_notify", Reason: "eof", play: onRequest(eofCloseNotify), TLS: true,
			About: "Reads the request, then sends TLS close_notify and FIN without an answer."},
		{Name: "reset", Reason: "reset", play: onRequest(reset),
			About: "Reads the request, then resets the connection."},
		{Name: "no_response", Reason: "no_response", play: onRequest(noResponse),
			About: "Reads and acknowledges the request, and never answers."},
	}
}

// eof closes with the request read: its FIN acknowledges the request.
func eof(c *conn, _ *http.Request) bool {
	c.fin()
	return false
}

// eofCloseNotify is eof from a server that closes TLS first.
func eofCloseNotify(c *conn, _ *http.Request) bool {
	c.notify()
	return false
}

// reset is what the client of a crashing or overloaded server meets.
func reset(c *conn, _ *http.Request) bool {
	c.rst()
	return false
}

// noResponse leaves the client waiting: the request may be running.
func noResponse(c *conn, _ *http.Request) bool {
	c.swallow(0)
	return false
}
