package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"perch.example/probes"
)

// byAddress cuts an observation of each of a host's addresses into one of each; nil
// where there are not at least two.
func byAddress(o probes.Observation) []probes.Observation {
	if o.Kind == probes.KindIdle || o.Cut != "" || len(o.Attempts) < 2 {
		return nil
	}
	var parts []probes.Observation
	for _, a := range o.Attempts {
		at := len(parts) - 1
		if at < 0 || parts[at].Attempts[0].Address != a.Address {
			part := o
			part.Attempts = nil
			parts, at = append(parts, part), at+1
		}
		parts[at].Attempts = append(parts[at].Attempts, a)
	}
	if len(parts) < 2 {
		return nil
	}
	return parts
}

// worstAddress judges each address by itself and lets the worst speak for the
// host; of equals, the first.
func worstAddress(in Input, whole probes.Observation, parts []probes.Observation) probes.Outcome {
	var worst probes.Outcome
	var at netip.Addr
	bad := map[netip.Addr]bool{}
	for i, part := range parts {
		in.Observations = []probes.Observation{part}
		o := judgeLadder(in)[0]
		address := part.Attempts[0].Address
		bad[address] = o.Verdict != probes.VerdictPass
		if i == 0 || badness(o.Verdict) > badness(worst.Verdict) {
			worst, at = o, address
		}
	}
	worst.Attempts = whole.Attempts
	worst.Message = addressed(worst, at, parts, bad)
	if more := len(whole.Unprobed); more > 0 {
		worst.Message += fmt.Sprintf("; %d more of its addresses were not probed", more)
	}
	return worst
}

// addressed says of a message which addresses it is about.
func addressed(o probes.Outcome, at netip.Addr, parts []probes.Observation, bad map[netip.Addr]bool) string {
	if o.Verdict == probes.VerdictPass {
		return fmt.Sprintf("each of %d addresses answered; %s: %s", len(parts), at, o.Message)
	}
	var failed []string
	for _, part := range parts {
		if a := part.Attempts[0].Address; bad[a] {
			failed = append(failed, a.String())
		}
	}
	which := fmt.Sprintf("%d of %d addresses (%s)", len(failed), len(parts), strings.Join(failed, ", "))
	if len(failed) == len(parts) {
		which = fmt.Sprintf("each of %d addresses", len(parts))
	}
	return fmt.Sprintf("%s; %s: %s", which, at, o.Message)
}

func badness(v probes.Verdict) int {
	return slices.Index([]probes.Verdict{probes.VerdictSkipped, probes.VerdictPass, probes.VerdictDegraded, probes.VerdictIncomplete, probes.VerdictFail}, v)
}

// pinned is what a rung tells of an address that its connection stayed on; nil:
// nothing.
func (j *judgement) pinned() *probes.PinnedIP {
	if j.rung.reuse == nil {
		return nil
	}
	return j.rung.reuse.PinnedIP
}

// pinnedText is that as a part of the message.
func (j *judgement) pinnedText() string {
	pin := j.pinned()
	if pin == nil {
		return ""
	}
	return fmt.Sprintf("; it stayed on %s, and DNS names %s now: a pool stays there, too", pin.Address, listed(pin.Now))
}

// pinnedAdvice is for whoever has a pool of such connections.
func (j *judgement) pinnedAdvice() []step {
	pin := j.pinned()
	if pin == nil {
		return nil
	}
	return []step{next(fmt.Sprintf("limit the age of connections, not only their idle time: the pool would stay on %s, which DNS no longer names. In a JVM, see that networkaddress.cache.ttl is short, too.", pin.Address))}
}

func listed(all []netip.Addr) string {
	const most = 3
	var some []string
	for _, a := range all[:min(most, len(all))] {
		some = append(some, a.String())
	}
	text := strings.Join(some, ", ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
