package probes

import "time"

// Timing says when a connection was closed, seen from our request.
type Timing string

// The timings. The zero value: it was not closed, or nothing tells.
const (
	TimingQueued   Timing = "queued"    // the close was in our kernel before we wrote: looking first would have found it
	TimingInFlight Timing = "in_flight" // it was on its way when we wrote: looking first would have found nothing, and the request was not read
	TimingRead     Timing = "read"      // the other kernel had all of our request by then: it may have been executed
)

// Words says a timing as the part of a sentence that follows "the close was".
func (t Timing) Words() string {
	switch t {
	case TimingQueued:
		return "queued before we wrote"
	case TimingInFlight:
		return "on its way when we wrote"
	case TimingRead:
		return "sent after our request had been read"
	}
	return ""
}

// Timing tells a close that was queued from one that crossed our request and
// from one after reading it: by the state before the write, the acknowledgement
// that the first event carried, and the round trip. Where TCP ends before the
// peer it is what the proxy did.
func (a Attempt) Timing() Timing {
	switch {
	case !a.Reason.Closed():
		return ""
	case a.Queued:
		return TimingQueued
	case a.Reason == ReasonRefusedStream:
		return "" // the connection stays
	case a.Reason == ReasonIdleFIN, a.Reason == ReasonIdleRST, a.Reason == ReasonIdleCloseNotify, a.Reason == ReasonIdleGoaway:
		return TimingQueued
	case a.RequestBytes == 0:
		return ""
	case a.Reason == ReasonGoawayUnprocessed:
		return unprocessed(a)
	case a.AckedAtFirst != nil && *a.AckedAtFirst >= a.RequestBytes:
		return TimingRead
	case a.Reason == ReasonIdleBytes, a.Reason == ReasonCrossedClose, a.FasterThanRTT():
		return TimingInFlight
	}
	return ""
}

// unprocessed is when a GOAWAY was sent that leaves our request out. The other
// kernel may have had the request by then, but the peer says that it was not read:
// then nothing tells.
func unprocessed(a Attempt) Timing {
	if a.FasterThanRTT() || a.AckedAtFirst != nil && *a.AckedAtFirst == 0 {
		return TimingInFlight
	}
	return ""
}

// RoundTrip is the least round trip that the kernel measured on the connection, else
// its smoothed one, which acknowledgements that are held back make longer; 0: unknown.
func (a Attempt) RoundTrip() time.Duration {
	if a.MinRTT > 0 {
		return a.MinRTT
	}
	return a.RTT
}

// FasterThanRTT reports whether the attempt ended sooner than anything that the
// request caused could have come back.
func (a Attempt) FasterThanRTT() bool {
	return a.RequestBytes > 0 && a.Elapsed > 0 && a.Elapsed < a.MinRTT
}
