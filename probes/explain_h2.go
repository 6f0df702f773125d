package probes

import (
	"fmt"

	"perch.example/probes/wire"
)

// explainStream says what became of a request by HTTP/2's own frames.
func explainStream(r Reason, e wire.Evidence) string {
	after := round(e.Elapsed) + " after the request" + rtt(e)
	switch {
	case r == ReasonGoawayUnprocessed && goneBefore(e):
		return "GOAWAY before " + firstSent(e) + goawayCode(e)
	case r == ReasonGoawayUnprocessed:
		return fmt.Sprintf("GOAWAY %s%s: it was not processed (the last stream that was is %d, ours %d)%s",
			after, acknowledged(e.First, e), e.H2.Goaway.LastStream, e.H2.Stream, goawayCode(e))
	case r == ReasonRefusedStream:
		return "RST_STREAM " + after + ": it was refused, and not processed; that ends the stream, not the connection" + noStreams(e)
	case r == ReasonGoawayProcessed && streamReset(e):
		return fmt.Sprintf("GOAWAY, and RST_STREAM with %s %s: it may have been processed%s", wire.CodeName(*e.H2.Reset), after, goawayCode(e))
	case r == ReasonGoawayProcessed:
		return fmt.Sprintf("GOAWAY, and no whole answer: %s %s; it may have been processed%s", ended(e), after, goawayCode(e))
	default:
		return fmt.Sprintf("RST_STREAM with %s %s; that ends the stream, not the connection%s", wire.CodeName(*e.H2.Reset), after, wantsHTTP1(e))
	}
}

// http11Required is HTTP/2's HTTP_1_1_REQUIRED.
const http11Required = 13

func wantsHTTP1(e wire.Evidence) string {
	if *e.H2.Reset != http11Required {
		return ""
	}
	return ": it wants this request in HTTP/1.1 (protocol: http/1.1)"
}

// noStreams says that the peer allows no request at all on this connection.
func noStreams(e wire.Evidence) string {
	if e.H2 == nil || !e.H2.NoStreams {
		return ""
	}
	return "; its SETTINGS allow none (MAX_CONCURRENT_STREAMS 0): clients wait until they do"
}

// unansweredPings says how many of the application's own PINGs met silence while
// the connection was held.
func unansweredPings(e wire.Evidence) string {
	if e.H2 == nil || e.H2.PingsUnanswered == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %d PINGs had no answer either", e.H2.PingsUnanswered, e.H2.PingsSent)
}

// goawayCode says why a GOAWAY came, where it says more than that the connection
// ends. Of its text only words that servers are known to use are repeated.
func goawayCode(e wire.Evidence) string {
	if !gone(e) {
		return ""
	}
	g := e.H2.Goaway
	told := knownDebug(g.Debug)
	switch {
	case g.Code == 0 && told == "":
		return ""
	case g.Code == 0:
		return fmt.Sprintf(" (the GOAWAY says %s)", told)
	case told == "":
		return fmt.Sprintf(" (the GOAWAY's code is %s)", wire.CodeName(g.Code))
	default:
		return fmt.Sprintf(" (the GOAWAY's code is %s, it says %s)", wire.CodeName(g.Code), told)
	}
}

// knownDebug is a GOAWAY's text where servers are known to use it; else empty.
func knownDebug(text string) string {
	switch text {
	case "too_many_pings", "max_idle", "max_age", "graceful_stop":
		return text
	}
	return ""
}
