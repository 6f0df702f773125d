package diagnose

import (
	"time"

	"perch.example/probes"
)

// ownDelay is the least delay of perch that can explain a failure. The hold's
// tolerance absorbs what is smaller.
const ownDelay = 50 * time.Millisecond

// late reports whether perch itself was delayed for as long as the failure
// took. A close that was there before we wrote is no child of our delay, unless
// it came only after the instant at which the reuse had been planned.
func (j *judgement) late() bool {
	a := j.at
	if a == nil || !a.DelayKnown || answered(a) || a.Delay < ownDelay {
		return false
	}
	c := j.rung.obs.Close
	if j.reused() && c != nil && queued(*a) {
		after := c.Age - j.rung.obs.Hold
		return after > 0 && a.Delay >= after
	}
	return a.Delay >= a.Elapsed
}

// queued reports whether the close was in our kernel before we wrote.
func queued(a probes.Attempt) bool {
	switch a.Reason {
	case probes.ReasonIdleFIN, probes.ReasonIdleRST, probes.ReasonIdleBytes,
		probes.ReasonIdleCloseNotify, probes.ReasonIdleGoaway:
		return true
	default:
		return a.Queued
	}
}
