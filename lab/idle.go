package lab

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

func idleScenarios() []Scenario {
	return []Scenario{
		{Name: "idle_close_notify", Reason: "idle_close_notify", play: idleCloseNotify, TLS: true, Held: true, timed: true,
			About: "Ends an idle connection with TLS close_notify and FIN, as most servers do."},
		{Name: "idle_close_notify_only", Reason: "idle_close_notify", play: idleCloseNotifyOnly, TLS: true, Held: true, timed: true,
			About: "Ends an idle connection with TLS close_notify and keeps TCP open, as lighttpd does for a while."},
		{Name: "idle_bytes", Reason: "idle_bytes", play: idleBytes, Held: true, timed: true,
			About: "Pushes a 408 that nobody asked for onto an idle connection, then closes with FIN."},
		{Name: "idle_bytes_leftover", Reason: "idle_bytes", play: idleLeftover, Held: true,
			About: "Sends more body than its Content-Length says, so that bytes of the last answer lie before the next."},
		{Name: "idle_fin", Reason: "idle_fin", play: idleFIN, Held: true, timed: true,
			About: "Closes an idle connection with FIN; over TLS without close_notify, as Node does."},
		{Name: "idle_fin_half", Reason: "idle_fin", play: idleFINHalf, Held: true, timed: true,
			About: "Half-closes an idle connection with FIN and goes on taking what the client writes, unanswered, as apache does."},
		{Name: "idle_fin_unannounced", Reason: "idle_fin", play: idleFINUnannounced, Held: true, IdleFor: 4 * leaveAfter,
			About: "Closes with FIN 20 ms after each answer, which did not say Connection: close."},
		{Name: "idle_rst", Reason: "idle_rst", play: idleRST, Held: true, timed: true,
			About: "Resets an idle connection."},
	}
}

// untilIdle answers well until the connection has been idle for the idle
// timeout, used or not, and then lets end close it.
func untilIdle(c *conn, end func(*conn)) {
	for {
		q, err := c.next(c.server.options.IdleTimeout)
		if errors.Is(err, errIdle) {
			end(c)
			return
		}
		if err != nil || !c.good(q) {
			return
		}
	}
}

// idleFIN closes an idle connection as nearly every server does. A request
// written into it afterwards is answered by our kernel with an RST, which
// arrives after the FIN.
func idleFIN(c *conn) { untilIdle(c, (*conn).fin) }

// idleFINHalf ends only its own direction: the client's next request is even
// acknowledged, and never answered.
func idleFINHalf(c *conn) { untilIdle(c, (*conn).half) }

// idleRST resets an idle connection, as a load balancer does that forgot it.
func idleRST(c *conn) { untilIdle(c, (*conn).rst) }

// idleBytes does what HAProxy and Node do with a connection that waits for
// its first request, here on used ones too.
func idleBytes(c *conn) {
	untilIdle(c, func(c *conn) {
		c.leaving()
		c.send(head(http.StatusRequestTimeout, "Connection: close", "Content-Length: 0"))
		c.notify()
		c.drain()
		_ = c.tcp.Close()
	})
}

// idleCloseNotify sends the alert, then the FIN.
func idleCloseNotify(c *conn) {
	untilIdle(c, func(c *conn) {
		c.notify()
		c.drain()
		_ = c.tcp.Close()
	})
}

// idleCloseNotifyOnly sends the alert and leaves TCP open: only a client that
// decrypts what came sees that the connection is over.
func idleCloseNotifyOnly(c *conn) {
	untilIdle(c, func(c *conn) {
		c.notify()
		c.swallow(lingerFor)
	})
}

// leaveAfter is how soon idleFINUnannounced closes: the answer must have been
// read by then, and a client that reuses at once meets a live connection.
const leaveAfter = 20 * time.Millisecond

// idleFINUnannounced closes after each answer as a server does that limits the
// requests of a connection and does not say so.
func idleFINUnannounced(c *conn) {
	q, err := c.next(0)
	if err != nil || !c.good(q) || !c.sleep(leaveAfter) {
		return
	}
	c.fin()
}

// idleLeftover answers with trailing bytes that belong to no answer: a client
// that does not look takes them for the beginning of the next one.
func idleLeftover(c *conn) {
	for {
		q, err := c.next(0)
		if err != nil {
			return
		}
		// In one write, so that they never come after the next request.
		length := "Content-Length: " + strconv.Itoa(len(twoDays))
		body := twoDays + leftover
		if q.Method == http.MethodHead {
			body = leftover
		}
		if !c.send(head(http.StatusOK, length) + body) {
			return
		}
	}
}

// leftover is what idleLeftover sends behind each answer.
const leftover = "\r\n<!-- end of page -->\r\n"
