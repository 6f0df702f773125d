package lab

import (
	"net/http"
	"time"
)

func blackholeScenarios() []Scenario {
	return []Scenario{
		{Name: "blackhole", Reason: "blackhole", play: blackhole, Held: true, Linux: true, Root: true,
			About: "Answers the first request and loses every segment afterwards, as a NAT does that forgot the connection."},
		{Name: "crossed_close", Reason: "crossed_close", play: crossedClose, Held: true, Linux: true, Root: true,
			About: "Closes with FIN while the next request is on its way: the FIN does not acknowledge it."},
	}
}

// lookEvery is how often the kernel is asked about what it tells nobody by
// itself.
const lookEvery = time.Millisecond

// blackhole loses everything behind the last good answer.
func blackhole(c *conn) {
	if q, ok := c.lastGood(); ok {
		c.vanish(func() bool { return c.good(q) })
	}
}

// vanish loses the client's data already before the last good answer leaves, so
// that a request that follows at once is lost too. Acknowledgements pass until
// that answer has been acknowledged: only then does everything stop.
func (c *conn) vanish(answer func() bool) {
	if c.losesData() != nil || !answer() || !c.acknowledged() || c.losesAll() != nil {
		return
	}
	c.leaving()
	<-c.server.done
	_ = c.tcp.SetLinger(0)
}

// acknowledged waits until the client's kernel has all that was written; false
// when the server was closed meanwhile.
func (c *conn) acknowledged() bool {
	for c.unacknowledged() > 0 {
		if !c.sleep(lookEvery) {
			return false
		}
	}
	return true
}

// crossedClose closes while the next request is on its way.
func crossedClose(c *conn) {
	if q, ok := c.lastGood(); ok {
		c.cross(func() bool { return c.good(q) })
	}
}

// cross makes certain what is a race elsewhere. From before the last good
// answer on, a socket filter loses what the client sends, so that our kernel
// never takes the next request. That the filter lost a segment says that the
// request was written; the FIN that leaves then carries the old
// acknowledgement, as one does that passed the request on its way. The socket
// stays half-closed for a while, for a FIN and an RST one round trip apart are
// what a client at some distance sees.
//
// A TCP keep-alive packet of the client counts as lost as well, and so does a
// frame of HTTP/2 that is no request: hold without.
func (c *conn) cross(answer func() bool) {
	if c.losesData() != nil {
		return
	}
	before := c.dropped()
	if !answer() {
		return
	}
	for c.dropped() == before {
		if !c.open() || !c.sleep(lookEvery) {
			return
		}
	}
	c.leaving()
	_ = c.tcp.CloseWrite()
	c.sleep(crossedFor)
}

// crossedFor is how long the client may look at the FIN before its repeated
// request is met by an RST.
const crossedFor = 500 * time.Millisecond

// lastGood answers all good requests but the last, which it returns unanswered.
func (c *conn) lastGood() (*http.Request, bool) {
	for {
		q, err := c.next(0)
		if err != nil {
			return nil, false
		}
		if c.served >= c.server.options.Healthy {
			return q, true
		}
		if !c.good(q) {
			return nil, false
		}
	}
}
