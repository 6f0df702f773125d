package diagnose

import (
	"fmt"
	"strings"

	"perch.example/probes"
)

// ownPod is ruled by what was measured of perch's own pod meanwhile: how late
// it woke or looked, its stalls, its CPU quota, and what it had run out of.
func (j *judgement) ownPod() (probes.Ruling, string) {
	a := *j.at
	held, known := heldUp(a)
	switch {
	case j.facts.Exhausted:
		return probes.RuledIn, exhausted(a)
	case j.facts.Delayed:
		return probes.RuledIn, fmt.Sprintf("perch itself was delayed by %s, and the failure took %s%s", human(j.delay()), human(a.Elapsed), bracketed(delayParts(a)))
	case !known:
		return probes.RuledOpen, fmt.Sprintf("perch's own delay could not be measured here; the attempt took %s", human(a.Elapsed))
	case j.toldSo() && 2*held > max(a.Elapsed, ownDelay):
		return probes.RuledOut, fmt.Sprintf("perch itself was delayed by %s, and the answer%s would have been the same", human(held), status(a)) + wellBelow(a.Own)
	case 2*held > max(a.Elapsed, ownDelay) && j.closedBefore() > 0:
		return probes.RuledOut, fmt.Sprintf("perch itself was delayed by at most %s, and the %s had come %s before the reuse was due",
			human(held), j.rung.obs.Close.How.Words(), human(j.closedBefore())) + wellBelow(a.Own)
	case 2*held > max(a.Elapsed, ownDelay):
		return probes.RuledOpen, fmt.Sprintf("perch itself was delayed by %s, and the attempt took %s: too near to tell%s", human(held), human(a.Elapsed), bracketed(delayParts(a)))
	case a.Own != nil && 2*a.Own.Throttled > max(a.Elapsed, ownDelay) && !a.DelayKnown:
		return probes.RuledOpen, fmt.Sprintf("perch was throttled for %s by its CPU quota, and the attempt took %s: too near to tell", human(a.Own.Throttled), human(a.Elapsed))
	case a.Reason == probes.ReasonConnectFailed && a.Own == nil:
		return probes.RuledOpen, fmt.Sprintf("perch itself was delayed by at most %s; whether ports or descriptors ran out is not measured", human(held))
	case j.opening() && nearFull(a.Own):
		return probes.RuledOpen, strings.Join(usage(a.Own), ", ") + " in use: near the end, though the system named another error"
	}
	if !a.DelayKnown && !timed(a.Reason) {
		return probes.RuledOut, fmt.Sprintf("no stall makes this failure; perch itself stood still for at most %s", human(a.Own.Stalled)) + wellBelow(a.Own)
	}
	return probes.RuledOut, fmt.Sprintf("it happens without a busy pod too: perch was delayed by at most %s", human(held)) + wellBelow(a.Own)
}

// status continues "the answer" with its status; empty: it did not come whole.
func status(a probes.Attempt) string {
	if a.Status == 0 {
		return ""
	}
	return " " + a.Answer()
}

// wellBelow lists what else was measured and is no cause.
func wellBelow(own *probes.OwnPod) string {
	if own == nil {
		return ""
	}
	var text string
	if own.ThrottledKnown {
		text = ", throttled for " + human(own.Throttled)
	}
	if list := usage(own); len(list) > 0 {
		text += "; perch's own: " + strings.Join(list, ", ") + " in use"
	}
	return text
}

// delayParts are what a delay was made of.
func delayParts(a probes.Attempt) []string {
	var parts []string
	if a.WokeLate > 0 {
		parts = append(parts, "woke "+human(a.WokeLate)+" late")
	}
	if a.Waited > 0 {
		parts = append(parts, "what came had waited for "+human(a.Waited))
	}
	if a.Own != nil && a.Own.Stalled > 0 {
		parts = append(parts, "stood still for "+human(a.Own.Stalled))
	}
	if a.Own != nil && a.Own.Throttled > 0 {
		parts = append(parts, "throttled for "+human(a.Own.Throttled)+" by its CPU quota")
	}
	return parts
}

func bracketed(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// usage words what is in use of what can run out.
func usage(own *probes.OwnPod) []string {
	if own == nil {
		return nil
	}
	var list []string
	if u := own.Descriptors; u.Limit > 0 {
		list = append(list, fmt.Sprintf("%d of %d file descriptors", u.Used, u.Limit))
	}
	if u := own.Ports; u.Limit > 0 {
		list = append(list, fmt.Sprintf("%d of %d local ports", u.Used, u.Limit))
	}
	return list
}

// nearFull reports whether more than four fifths of something are in use.
func nearFull(own *probes.OwnPod) bool {
	full := func(u probes.Usage) bool { return u.Limit > 0 && 5*u.Used > 4*u.Limit }
	return own != nil && (full(own.Descriptors) || full(own.Ports))
}

// exhausted names what the pod had run out of: "file descriptors: 1024 of 1024
// in use".
func exhausted(a probes.Attempt) string {
	used := map[probes.Resource]probes.Usage{
		probes.ResourceDescriptors: a.Own.Descriptors, probes.ResourcePorts: a.Own.Ports,
	}[a.Own.Exhausted]
	if used.Limit <= 0 {
		return string(a.Own.Exhausted) + ": the system refused one more"
	}
	return fmt.Sprintf("%s: %d of %d in use", a.Own.Exhausted, used.Used, used.Limit)
}
