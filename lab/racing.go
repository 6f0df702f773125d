package lab

import "net/http"

func racingScenarios() []Scenario {
	return []Scenario{
		{Name: "eof", Reason: "eof", play: eof,
			About: "Reads the request, then closes with FIN without an answer."},
		{Name: "reset", Reason: "reset", play: reset,
			About: "Reads the request, then resets the connection."},
		{Name: "no_response", Reason: "no_response", play: noResponse,
			About: "Reads and acknowledges the request, and never answers."},
	}
}

// eof closes with the request read: its FIN acknowledges the request.
func eof(c *conn) {
	afterGood(c, func(c *conn, _ *http.Request) bool {
		c.fin()
		return false
	})
}

// reset is what the client of a crashing or overloaded server meets.
func reset(c *conn) {
	afterGood(c, func(c *conn, _ *http.Request) bool {
		c.rst()
		return false
	})
}

// noResponse leaves the client waiting: the request may be running.
func noResponse(c *conn) {
	afterGood(c, func(c *conn, _ *http.Request) bool {
		c.swallow(0)
		return false
	})
}
