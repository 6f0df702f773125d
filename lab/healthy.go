package lab

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func healthyScenarios() []Scenario {
	return []Scenario{
		{Name: "healthy", Reason: "ok", play: onRequest(nil),
			About: "Answers every request at once and never closes."},
		{Name: "incident", Reason: "idle_fin", play: incident, Held: true, timed: true,
			About: "A calendar API that answers two days in about 20 ms and closes with FIN after 1 s of idleness: the server of the demo."},
	}
}

// twoDays is the answer of a good server: two days of stock, as the calendar
// API of the incident gives.
const twoDays = `{"days":[{"date":"2026-03-02","stock":[{"item":"A-100","left":12},{"item":"B-200","left":0}]},` +
	`{"date":"2026-03-03","stock":[{"item":"A-100","left":9},{"item":"B-200","left":4}]}]}` + "\n"

// oneDay is what the expectation scenario gives.
const oneDay = `{"days":[{"date":"2026-03-02","stock":[{"item":"A-100","left":12},{"item":"B-200","left":0}]}]}` + "\n"

// incidentLatency is how long the demo's API works on an answer.
const incidentLatency = 20 * time.Millisecond

// incident is the server of the demo: slow enough to be real, and gone after
// the idle timeout.
func incident(c *conn) {
	for {
		q, err := c.next(c.server.options.IdleTimeout)
		if err != nil {
			if errors.Is(err, errIdle) {
				c.fin()
			}
			return
		}
		if !c.sleep(incidentLatency) || !c.good(q) {
			return
		}
	}
}

// onRequest answers the first Options.Healthy requests of a connection well and
// hands every later one to misbehave, which says whether the connection goes
// on. With nil all answers are good.
func onRequest(misbehave func(*conn, *http.Request) bool) func(*conn) {
	return func(c *conn) {
		for {
			q, err := c.next(0)
			if err != nil {
				return
			}
			answer := misbehave
			if answer == nil || c.served <= c.server.options.Healthy {
				answer = (*conn).good
			}
			if !answer(c, q) {
				return
			}
		}
	}
}

// good writes a whole, expected answer; false when the connection is over.
func (c *conn) good(q *http.Request) bool {
	return c.answer(q, http.StatusOK, twoDays)
}

// answer writes a whole answer; false when the connection is over: the client
// is gone, or had asked for it to be closed. Each header is "Name: value".
func (c *conn) answer(q *http.Request, status int, body string, headers ...string) bool {
	headers = append(slices.Clip(headers), "Content-Length: "+strconv.Itoa(len(body)))
	if q.Close {
		headers = append(headers, "Connection: close")
	}
	text := head(status, headers...)
	if q.Method != http.MethodHead {
		text += body
	}
	return c.send(text) && !q.Close
}

// head is an answer's head, up to and with the empty line.
func head(status int, headers ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	fmt.Fprintf(&b, "Date: %s\r\n", time.Now().UTC().Format(http.TimeFormat))
	if !hasType(headers) {
		b.WriteString("Content-Type: application/json\r\n")
	}
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("\r\n")
	return b.String()
}

func hasType(headers []string) bool {
	for _, h := range headers {
		if strings.HasPrefix(h, "Content-Type:") {
			return true
		}
	}
	return false
}
