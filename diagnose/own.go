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
	if a == nil || !a.DelayKnown || answered(a) {
		return false
	}
	if j.lateBefore() {
		return true
	}
	if a.Delay < ownDelay {
		return false
	}
	c := j.rung.obs.Close
	if j.reused() && c != nil && queued(*a) {
		after := c.Age - j.rung.obs.Hold
		return after > 0 && a.Delay >= after
	}
	if probes.Stallable(a.Reason) {
		return 2*a.Delay >= a.Elapsed // an opening's time has the stall within it
	}
	return a.Delay >= a.Elapsed
}

// lateBefore reports whether perch read the warm-up's answer so late that the
// connection may have idled for as long as the close took: then its age is not
// known, and the close is none that follows the answer at once.
func (j *judgement) lateBefore() bool {
	c, w := j.rung.obs.Close, j.rung.warm
	return j.reused() && c != nil && w != nil && w.DelayKnown && w.Delay >= ownDelay && c.Age <= w.Delay
}

// delay is how long perch itself was delayed, as far as it matters.
func (j *judgement) delay() time.Duration {
	if j.lateBefore() {
		return max(j.at.Delay, j.rung.warm.Delay)
	}
	return j.at.Delay
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
