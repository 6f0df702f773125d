package diagnose

import (
	"slices"
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
	if a == nil || answered(a) || j.toldSo() {
		return false
	}
	held, known := heldUp(*a)
	if !known {
		return false
	}
	if j.lateBefore() {
		return true
	}
	if held < ownDelay {
		return false
	}
	c := j.rung.obs.Close
	if j.reused() && c != nil && queued(*a) {
		after := c.Age - j.rung.obs.Hold
		return after > 0 && a.DelayKnown && a.Delay >= after
	}
	if probes.Stallable(a.Reason) || a.Reason == probes.ReasonSlow {
		return 2*held >= a.Elapsed // the time of an opening, or of an answer, has the stall within it
	}
	return held >= a.Elapsed
}

// toldSo reports whether the API's own answer is the failure: it says the same
// to whoever reads it late. A held connection was idle for longer than planned
// when perch was late, and may owe its answer to that.
func (j *judgement) toldSo() bool {
	if j.reused() {
		return false
	}
	switch j.at.Reason {
	case probes.ReasonRateLimited, probes.ReasonUnavailable, probes.ReasonUnauthorized, probes.ReasonRedirected,
		probes.ReasonStatus, probes.ReasonTooLarge, probes.ReasonProxyUpstreamReset:
		return true
	default:
		return false
	}
}

// closedBefore is how long before the reuse was due the close lay in our kernel:
// no delay of ours can be why. 0: it did not.
func (j *judgement) closedBefore() time.Duration {
	c := j.rung.obs.Close
	if !j.reused() || c == nil || !queued(*j.at) {
		return 0
	}
	return max(0, j.rung.obs.Hold-c.Age)
}

// heldUp is the longest for which perch itself was held up during an attempt,
// and whether that was measured. How late it woke and looked is the measure. A
// stall of the process counts only where time itself decided: a refusal comes to
// who stands still as to anybody else. The time for which a CPU quota held the
// cgroup back is summed over CPUs: it says how long only where a delay was seen.
func heldUp(a probes.Attempt) (time.Duration, bool) {
	var held time.Duration
	if a.DelayKnown {
		held = a.Delay
	}
	if a.Own == nil {
		return held, a.DelayKnown
	}
	if timed(a.Reason) {
		held = max(held, a.Own.Stalled)
	}
	if a.Own.ThrottledKnown && held >= ownDelay {
		held = max(held, a.Own.Throttled)
	}
	return held, true
}

// timed reports whether a reason is about time alone: what came in time, and
// what did not.
func timed(r probes.Reason) bool {
	return probes.Stallable(r) || r == probes.ReasonNoResponse || r == probes.ReasonSlow
}

// spent reports whether the system refused the attempt something for want of
// more: descriptors or local ports of perch's own pod.
func (j *judgement) spent() bool {
	return j.at != nil && j.at.Own != nil && j.at.Own.Exhausted != "" && slices.Contains(failures(), j.facts.Reason)
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
	held, _ := heldUp(*j.at)
	if j.lateBefore() {
		return max(held, j.rung.warm.Delay)
	}
	return held
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
