package probes

import (
	"fmt"
	"time"

	"perch.example/probes/wire"
)

// Explain returns one short sentence of what was seen, with measured values,
// for people. It quotes no byte that was sent or received.
func Explain(e wire.Evidence) string {
	switch r := Classify(e); r {
	case ReasonCanceled:
		return "cut short after " + round(e.Elapsed)
	case ReasonSkipped:
		return "not sent: " + e.Error
	case ReasonDNS, ReasonRefused, ReasonConnectTimeout, ReasonConnectFailed, ReasonProxy, ReasonCertificate:
		return fmt.Sprintf("%s (after %s)", e.Error, round(e.Elapsed))
	case ReasonTLS:
		if e.Failure == "" {
			return "a TLS alert came in place of an answer, as when a client certificate is refused"
		}
		return fmt.Sprintf("%s (after %s)", e.Error, round(e.Elapsed))
	case ReasonIdleGoaway, ReasonIdleCloseNotify, ReasonIdleBytes, ReasonIdleFIN, ReasonIdleRST:
		return explainIdle(e)
	case ReasonBlackhole:
		return explainBlackhole(e)
	case ReasonGoawayUnprocessed, ReasonRefusedStream, ReasonGoawayProcessed, ReasonStreamReset:
		return explainStream(r, e)
	case ReasonCrossedClose, ReasonEOF, ReasonReset, ReasonNoResponse:
		return explainSilent(r, e)
	case ReasonPartialHead, ReasonPartialBody:
		return fmt.Sprintf("%s within the answer's %s, %s after the request; %d bytes had come", ended(e), e.Stage, round(e.Elapsed), e.ResponseBytes)
	case ReasonBadResponse:
		return explainBad(e)
	case ReasonTooLarge:
		return fmt.Sprintf("the body is larger than allowed; %d bytes were read", e.ResponseBytes)
	case ReasonOK:
		return "a whole answer after " + round(e.Elapsed)
	default:
		return "nothing that perch knows: " + e.Error
	}
}

func explainIdle(e wire.Evidence) string {
	c := e.IdleClose
	switch {
	case e.LeftOver > 0:
		return fmt.Sprintf("%d bytes had followed the last answer", e.LeftOver) + pushed(e)
	case c == nil:
		return fmt.Sprintf("bytes came %s after the request and acknowledged none of it: they were on their way before", round(e.Phases.Wait)) + pushed(e)
	}
	return fmt.Sprintf("%s after %s idle, %s before the request", what(c.State), round(c.Age), round(e.Started.Sub(c.At))) + pushed(e) + goawayCode(e)
}

func pushed(e wire.Evidence) string {
	if e.PushedStatus == 0 {
		return ""
	}
	return fmt.Sprintf(" (a %d that nobody had asked for)", e.PushedStatus)
}

func explainBlackhole(e wire.Evidence) string {
	if gaveUpBefore(e) {
		return fmt.Sprintf("TCP keep-alive found nobody; known %s before the request", round(sinceClose(e)))
	}
	return fmt.Sprintf("no answer in %s: none of the request's %d bytes was acknowledged, %d times sent again%s",
		round(e.Elapsed), e.RequestSize, e.Last.TotalRetrans-e.Before.TotalRetrans, unansweredPings(e))
}

func sinceClose(e wire.Evidence) time.Duration {
	if e.IdleClose == nil {
		return 0
	}
	return e.Started.Sub(e.IdleClose.At)
}

func explainSilent(r Reason, e wire.Evidence) string {
	if r == ReasonNoResponse {
		return fmt.Sprintf("no answer in %s%s%s%s", round(e.Elapsed), acknowledged(e.Last, e), unansweredPings(e), noStreams(e))
	}
	if r == ReasonCrossedClose && (e.Alerted || finBefore(e)) {
		return "the connection was closed before " + firstSent(e)
	}
	if resetBefore(e) {
		return "the connection was reset before " + firstSent(e)
	}
	s := fmt.Sprintf("%s %s after the request%s%s", ended(e), round(e.Elapsed), rtt(e), acknowledged(e.First, e))
	if r == ReasonCrossedClose {
		s += ": the close was on its way when we wrote"
	}
	return s
}

// firstSent is what a connection had not carried when it ended: over HTTP/2 the
// preface leaves as soon as it is open.
func firstSent(e wire.Evidence) string {
	if e.H2 != nil {
		return "the request was sent on it, after HTTP/2's preface and SETTINGS had been"
	}
	return "anything was sent on it"
}

func explainBad(e wire.Evidence) string {
	switch {
	case noHTTP2(e):
		return fmt.Sprintf("%s (%s%d bytes): it does not take the preface that every HTTP/2 connection begins with", e.Error, textStatus(e), e.ResponseBytes)
	case noHTTP1(e):
		return fmt.Sprintf("it speaks HTTP/2: what came is a %s frame, %d bytes in all", e.Frame, e.ResponseBytes)
	case unasked(e):
		return "bytes came before the request was there" + pushed(e)
	case e.H2 != nil && e.Ending == wire.EndGarbage:
		return fmt.Sprintf("what came is no HTTP/2 answer (%d bytes, %s after the request): %s", e.ResponseBytes, round(e.Elapsed), e.Error)
	case e.Ending == wire.EndHeadLimit:
		return fmt.Sprintf("the answer's head is larger than allowed; %d bytes were read", e.ResponseBytes)
	case e.Ending == wire.EndConflict:
		return "the answer's head gives conflicting lengths"
	default:
		return fmt.Sprintf("what came is no HTTP answer (%d bytes, %s after the request)", e.ResponseBytes, round(e.Elapsed))
	}
}

// textStatus is the status of an HTTP/1 answer to HTTP/2's preface.
func textStatus(e wire.Evidence) string {
	if e.H2.TextStatus == 0 {
		return ""
	}
	return fmt.Sprintf("status %d, ", e.H2.TextStatus)
}

func rtt(e wire.Evidence) string {
	if e.RTT == 0 {
		return ""
	}
	return fmt.Sprintf(" (rtt %s)", round(e.RTT))
}

// acknowledged says how much of the request s had acknowledged; nothing without
// kernel evidence, and of a RST, which tells nothing.
func acknowledged(s *wire.Snapshot, e wire.Evidence) string {
	if s == nil || e.Ending == wire.EndReset {
		return ""
	}
	return fmt.Sprintf(", %d of its %d bytes acknowledged", s.Acked, e.RequestSize)
}

func ended(e wire.Evidence) string {
	switch e.Ending {
	case wire.EndEOF:
		return what("fin")
	case wire.EndCloseNotify:
		return what("close_notify")
	case wire.EndReset:
		return what("rst")
	case wire.EndAlert:
		return "a TLS alert"
	case wire.EndTimeout:
		return "timeout"
	default:
		return "an end"
	}
}

func what(state string) string {
	switch state {
	case "fin":
		return "FIN"
	case "rst":
		return "RST"
	case "close_notify":
		return "TLS close_notify"
	case "goaway":
		return "GOAWAY"
	case "bytes":
		return "bytes"
	default:
		return "silence"
	}
}

// round keeps three digits or so: nobody reads nanoseconds.
func round(d time.Duration) string {
	for unit := time.Second; unit >= time.Microsecond; unit /= 10 {
		if d >= 100*unit {
			return d.Round(unit).String()
		}
	}
	return d.Round(time.Microsecond).String()
}
