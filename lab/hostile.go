package lab

import (
	"net/http"
	"strconv"
	"strings"
)

func hostileScenarios() []Scenario {
	return []Scenario{
		{Name: "bad_response", Reason: "bad_response", play: onRequest(badResponse),
			About: "Answers with lines that are not HTTP."},
		{Name: "bad_response_ssh", Reason: "bad_response", play: badResponseSSH,
			About: "Speaks first, with the banner of an SSH server."},
		{Name: "bad_response_tls", Reason: "bad_response", play: onRequest(badResponseTLS),
			About: "Answers with a TLS alert, as a TLS server does on a plain request."},
		{Name: "bad_response_lengths", Reason: "bad_response", play: onRequest(badResponseLengths),
			About: "Answers with two Content-Lengths that differ."},
		{Name: "bad_response_chunk", Reason: "bad_response", play: onRequest(badResponseChunk),
			About: "Answers with a chunk whose length is not a number."},
		{Name: "bad_response_endless_head", Reason: "bad_response", play: onRequest(endlessHead),
			About: "Sends headers without end."},
		{Name: "too_large", Reason: "too_large", play: onRequest(tooLarge),
			About: "Sends a body without end."},
		{Name: "too_large_gzip", Reason: "too_large", play: onRequest(tooLargeGzip),
			About: "Answers with 330 KiB of gzip that unpack to 256 MiB."},
	}
}

// badResponse goes on living after its nonsense: the end of the connection is
// no hint.
func badResponse(c *conn, _ *http.Request) bool {
	if c.send("\x01\x02\x03 what is HTTP\r\n220 lab.invalid ESMTP\r\n\r\n") {
		c.swallow(0)
	}
	return false
}

// badResponseSSH is a port number mixed up: the banner comes before the
// request, and the request is not understood.
func badResponseSSH(c *conn) {
	if !c.send("SSH-2.0-OpenSSH_9.2p1 Lab\r\n") {
		return
	}
	if _, err := c.next(0); err == nil {
		c.send("Invalid SSH identification string.\r\n")
	}
}

// badResponseTLS is the alert unexpected_message of TLS 1.2, then FIN. There is
// no line end in it, so only the first byte tells it from half a head.
func badResponseTLS(c *conn, _ *http.Request) bool {
	c.send("\x15\x03\x03\x00\x02\x02\x0a")
	return false
}

// badResponseLengths is what request smuggling looks like from the other side.
func badResponseLengths(c *conn, _ *http.Request) bool {
	text := head(http.StatusOK, "Content-Length: "+strconv.Itoa(len(twoDays)), "Content-Length: 5")
	if c.send(text + twoDays) {
		c.swallow(0)
	}
	return false
}

func badResponseChunk(c *conn, _ *http.Request) bool {
	if c.send(head(http.StatusOK, "Transfer-Encoding: chunked") + "zz\r\n" + twoDays) {
		c.swallow(0)
	}
	return false
}

// endlessHead sends headers until the client has had enough.
func endlessHead(c *conn, _ *http.Request) bool {
	lines := strings.Repeat("X-Lab: "+strings.Repeat("a", 1000)+"\r\n", 16)
	ok := c.send("HTTP/1.1 200 OK\r\n")
	for ok {
		ok = c.send(lines)
	}
	return false
}

// tooLarge sends chunks until the client has had enough.
func tooLarge(c *conn, _ *http.Request) bool {
	chunk := "4000\r\n" + strings.Repeat("0123456789abcdef", 0x400) + "\r\n"
	ok := c.send(head(http.StatusOK, "Transfer-Encoding: chunked"))
	for ok {
		ok = c.send(chunk)
	}
	return false
}
