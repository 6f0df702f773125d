package alert

import (
	"cmp"
	"slices"
	"time"

	"perch.example/probes"
)

// What is drawn must wait in the outbox, and be read at a glance.
const (
	maxRungs    = 16
	maxAttempts = 60
)

// charts picks the numbers behind a notice's pictures out of the outcomes that
// contributed to it: the ladder of one probe, the one that fares worst, in the
// order of its holds, and the attempts of all, in theirs. Where there are too
// many, those that failed stay, and the others are thinned evenly.
func charts(outcomes []probes.Outcome) Charts {
	var c Charts
	worst := worstLadder(outcomes)
	for _, o := range outcomes {
		for _, a := range o.Attempts {
			if a.Elapsed > 0 {
				c.Latency = append(c.Latency, ChartAttempt{Connection: a.Connection, Elapsed: a.Elapsed, RTT: max(0, a.RoundTrip()), OK: a.OK()})
			}
		}
		if o.Kind != probes.KindIdle || o.ID() != worst {
			continue
		}
		c.Ladder = append(c.Ladder, chartRung(o))
		c.Expected = max(c.Expected, o.KeepAlive)
		if o.Client != nil && o.Client.Band != nil && c.Band == nil {
			band := *o.Client.Band
			c.Band = &band
		}
	}
	return c.bounded()
}

// chartRung is one outcome of a ladder. An end that nobody saw has no idle age.
func chartRung(o probes.Outcome) ChartRung {
	r := ChartRung{Hold: o.Hold, Verdict: o.Verdict, Reason: o.Reason}
	if o.Close != nil && o.Close.How != probes.HowSilent {
		r.Closed = o.Close.Age
	}
	return r
}

// worstLadder names the probe whose ladder is drawn; empty: no outcome is a rung.
func worstLadder(outcomes []probes.Outcome) string {
	worst, id := -1, ""
	for _, o := range outcomes {
		if o.Kind == probes.KindIdle && severity(o.Verdict) > worst {
			worst, id = severity(o.Verdict), o.ID()
		}
	}
	return id
}

// severity orders verdicts by how much they tell of a trouble.
func severity(v probes.Verdict) int {
	switch v {
	case probes.VerdictFail:
		return 3
	case probes.VerdictDegraded:
		return 2
	case probes.VerdictPass:
		return 1
	case probes.VerdictSkipped, probes.VerdictIncomplete:
		return 0
	}
	return 0
}

// bounded is c with no more than is drawn, its rungs in the order of holds.
func (c Charts) bounded() Charts {
	c.Ladder = slices.SortedStableFunc(slices.Values(c.Ladder), func(a, b ChartRung) int { return cmp.Compare(a.Hold, b.Hold) })
	c.Ladder = thin(c.Ladder, maxRungs, func(r ChartRung) bool { return severity(r.Verdict) > severity(probes.VerdictPass) })
	c.Latency = thin(slices.Clone(c.Latency), maxAttempts, func(a ChartAttempt) bool { return !a.OK })
	return c
}

// thin keeps at most so many of all, in their order: those that matter first,
// and of each sort the first, the last, and what lies evenly between them.
func thin[T any](all []T, most int, matters func(T) bool) []T {
	if len(all) <= most {
		return all
	}
	var first, rest []int
	for i, one := range all {
		if matters(one) {
			first = append(first, i)
		} else {
			rest = append(rest, i)
		}
	}
	kept := evenly(first, most)
	kept = append(kept, evenly(rest, most-len(kept))...)
	slices.Sort(kept)
	out := make([]T, 0, len(kept))
	for _, i := range kept {
		out = append(out, all[i])
	}
	return out
}

// evenly picks at most so many of some indices, its ends among them.
func evenly(all []int, most int) []int {
	switch {
	case len(all) <= most:
		return slices.Clone(all)
	case most <= 0:
		return nil
	case most == 1:
		return []int{all[len(all)-1]}
	}
	var kept []int
	for i := range most {
		kept = append(kept, all[i*(len(all)-1)/(most-1)])
	}
	return kept
}

// roundTrip is the middle of the attempts' round trips; 0: none is known.
func (c Charts) roundTrip() time.Duration {
	var all []time.Duration
	for _, a := range c.Latency {
		if a.RTT > 0 {
			all = append(all, a.RTT)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
