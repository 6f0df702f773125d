package lab

import "net/http"

func answerScenarios() []Scenario {
	return []Scenario{
		{Name: "rate_limited", Reason: "rate_limited", play: answering(http.StatusTooManyRequests, errorBody, "Retry-After: 1"),
			About: "Answers 429 with Retry-After: 1."},
		{Name: "unavailable", Reason: "unavailable", play: answering(http.StatusServiceUnavailable, errorBody),
			About: "Answers 503."},
		{Name: "status", Reason: "status", play: answering(http.StatusNotFound, errorBody),
			About: "Answers 404."},
		{Name: "status_500", Reason: "status", play: answering(http.StatusInternalServerError, errorBody),
			About: "Answers 500."},
		{Name: "slow", Reason: "slow", play: slow,
			About: "Answers well, 400 ms late."},
		{Name: "expectation", Reason: "expectation", play: answering(http.StatusOK, oneDay),
			About: "Answers 200 with one day where two were asked for."},
	}
}

const errorBody = `{"error":"the lab says so"}` + "\n"

// answering gives every request that answer, and keeps the connection.
func answering(status int, body string, headers ...string) func(*conn) {
	return func(c *conn) {
		afterGood(c, func(c *conn, q *http.Request) bool {
			return c.answer(q, status, body, headers...) && !q.Close
		})
	}
}

// slow is late and right.
func slow(c *conn) {
	afterGood(c, func(c *conn, q *http.Request) bool {
		return c.sleep(c.server.options.Delay) && c.good(q)
	})
}
