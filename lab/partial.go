package lab

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

func partialScenarios() []Scenario {
	return []Scenario{
		{Name: "partial_head", Reason: "partial_head", play: onRequest(partial(halfHead, (*conn).fin)),
			About: "Sends half of the answer's head, then FIN."},
		{Name: "partial_head_reset", Reason: "partial_head", play: onRequest(partial(halfHead, (*conn).rst)),
			About: "Sends half of the answer's head, then resets the connection."},
		{Name: "partial_head_stall", Reason: "partial_head", play: onRequest(partial(halfHead, stall)),
			About: "Sends half of the answer's head, then nothing more."},
		{Name: "partial_head_drip", Reason: "partial_head", play: onRequest(dripHead),
			About: "Sends the answer's head at ten bytes a second."},
		{Name: "partial_body", Reason: "partial_body", play: onRequest(partial(halfBody, (*conn).fin)),
			About: "Sends half of the body that Content-Length promised, then FIN."},
		{Name: "partial_body_reset", Reason: "partial_body", play: onRequest(partial(halfBody, (*conn).rst)),
			About: "Sends half of the body, then resets the connection."},
		{Name: "partial_body_stall", Reason: "partial_body", play: onRequest(partial(halfBody, stall)),
			About: "Sends half of the body, then nothing more."},
		{Name: "partial_body_chunked", Reason: "partial_body", play: onRequest(partial(halfChunks, (*conn).fin)),
			About: "Sends a chunked body without its last chunk, then FIN."},
		{Name: "partial_body_drip", Reason: "partial_body", play: onRequest(dripBody),
			About: "Sends the body at ten bytes a second."},
	}
}

// partial sends what begin returns, waits until the client's kernel has it (an
// RST would take what is still queued along), and lets end finish.
func partial(begin func() string, end func(*conn)) func(*conn, *http.Request) bool {
	return func(c *conn, _ *http.Request) bool {
		if c.send(begin()) && c.acknowledged() {
			end(c)
		}
		return false
	}
}

// wholeHead is the head of a good answer.
func wholeHead() string {
	return head(http.StatusOK, "Content-Length: "+strconv.Itoa(len(twoDays)))
}

// halfHead ends within a header's name: at a line's end many clients take the
// lines that came for the whole head.
func halfHead() string {
	half, _, _ := strings.Cut(wholeHead(), "-Type")
	return half
}

// halfBody ends within the JSON.
func halfBody() string {
	return wholeHead() + twoDays[:len(twoDays)/2]
}

// halfChunks ends where the next chunk's length should stand.
func halfChunks() string {
	half := twoDays[:len(twoDays)/2]
	return head(http.StatusOK, "Transfer-Encoding: chunked") +
		strconv.FormatInt(int64(len(half)), 16) + "\r\n" + half + "\r\n"
}

// stall keeps the connection and says nothing more.
func stall(c *conn) { c.swallow(0) }

// dripEvery is the pause between two bytes of a drip: each byte is in time,
// the whole never is.
const dripEvery = 100 * time.Millisecond

func dripHead(c *conn, _ *http.Request) bool {
	return c.drip(wholeHead() + twoDays)
}

func dripBody(c *conn, _ *http.Request) bool {
	return c.send(wholeHead()) && c.drip(twoDays)
}

// drip sends text byte by byte; false when the client is gone.
func (c *conn) drip(text string) bool {
	for i := range len(text) {
		if !c.send(text[i:i+1]) || !c.sleep(dripEvery) {
			return false
		}
	}
	return true
}
