package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// climb gives an idle probe its rungs: the config's own holds, or a ladder. Of a
// ladder, what is too long for the next run to come, or too short for the
// target's budget, is left out and said, unless it is the point of the ladder:
// then the plan is refused.
func (d *desk) climb(j *job, o Options, policy *probes.Policy) {
	end := o.Ends[j.spec.ID()]
	longest, bound := longestHold(j.spec, o.Deadline)
	longest, bound = capped(longest, bound, policy)
	if len(j.spec.Holds) > 0 {
		for _, hold := range j.spec.Holds {
			j.rungs = append(j.rungs, rung{hold, rankHolds, "holds"})
		}
		if text := unseen(*j.spec, end, longest); text != "" {
			j.notes = append(j.notes, text)
		}
	} else {
		l := &ladder{spec: *j.spec, end: end, longest: longest, known: o.Brackets[j.spec.ID()], atOnce: d.target.MaxConnections}
		kept, long := l.build()
		j.without(long, fmt.Sprintf("%s leaves room for %s", bound, short(longest)))
		var brief []rung
		for i, r := range kept {
			last := i == len(kept)-1 && len(j.rungs) == 0
			if r.needed() || last || d.cal.Earliest(0, Shape(j.spec, r.hold)...) != Never {
				j.rungs = append(j.rungs, r)
			} else {
				brief = append(brief, r)
			}
		}
		j.without(brief, fmt.Sprintf("the budget of %s/s is too small for so short a hold: %s", number(d.target.Budget()), wouldFit(budgetOf(3, d.target))))
	}
	slices.SortStableFunc(j.rungs, func(a, b rung) int { return byHold(b, a) })
}

// without notes which rungs a ladder does not have, and why.
func (j *job) without(rungs []rung, why string) {
	if len(rungs) == 0 {
		return
	}
	words := make([]string, len(rungs))
	for i, r := range rungs {
		words[i] = fmt.Sprintf("%s (%s)", short(r.hold), r.from)
	}
	j.notes = append(j.notes, fmt.Sprintf("%s: no rung of %s: %s", j.spec.ID(), strings.Join(words, ", "), why))
}

// longestHold returns the longest hold of a made ladder, and what bounds it: a
// tenth of `every` stays free for what comes before and after it, and it ends by
// the deadline. 0: any.
func longestHold(s *probes.Spec, deadline time.Duration) (time.Duration, string) {
	longest, bound := s.Every-s.Every/10, "every "+short(s.Every)
	if deadline > 0 {
		alone := Step{Spec: s}
		left := max(1, deadline-alone.end()) // 0 would be any
		if longest == 0 || left < longest {
			longest, bound = left, "the deadline of "+short(deadline)
		}
	}
	return longest, bound
}

// fitDay leaves out spare rungs, the least important first, until the probes
// keep the day's limits. A ladder that grows with what was measured must not
// make a plan impossible that was possible before.
func (d *desk) fitDay() {
	limit := min(d.target.DailyLimit, int(d.target.Budget()*day.Seconds()))
	daily := d.daily()
	if daily <= limit {
		return
	}
	room := wouldFit(d.rarer(daily, limit), fmt.Sprintf("a daily_limit of %d", daily))
	if daily <= d.target.DailyLimit {
		room = wouldFit(d.rarer(daily, limit), budgetOf(float64(daily)/day.Seconds(), d.target))
	}
	for d.daily() > limit {
		if !d.drop(func(j *job) bool { return j.spec.Every > 0 }) {
			break
		}
	}
	d.sayLeft(fmt.Sprintf("%s would send %d requests a day with all of them, %d are allowed: %s", d.target.Name, daily, limit, room))
}

// daily returns how many requests the probes with an `every` send a day at most.
func (d *desk) daily() int {
	daily := 0
	for _, j := range d.jobs {
		if j.spec.Every > 0 {
			daily += j.daily()
		}
	}
	return daily
}

// settle places everything, and leaves out spare rungs, the least important
// first, while what is due takes longer than its `every` or the deadline.
func (d *desk) settle(deadline time.Duration) {
	first := make([]time.Duration, len(d.jobs))
	for i, j := range d.jobs {
		first[i] = j.next
	}
	for {
		d.place()
		if !d.drop(func(j *job) bool { return j.due && d.late(j, deadline) }) {
			break
		}
		d.clear()
		for i, j := range d.jobs {
			j.next = first[i]
		}
	}
	d.sayLeft("the ladder would not be over in time: a longer every or deadline, or more max_connections, would fit")
}

// late reports whether a placed ladder is not over when it is due again, or by
// the deadline.
func (d *desk) late(j *job, deadline time.Duration) bool {
	if j.spec.Every > 0 && d.takes(j) > j.spec.Every {
		return true
	}
	return deadline > 0 && slices.ContainsFunc(stepsOf(d.steps, j.spec), func(s Step) bool { return s.end() > deadline })
}

// drop leaves out the least important spare rung of the jobs in question, the
// longest of equals, and reports whether there was one.
func (d *desk) drop(of func(*job) bool) bool {
	var from *job
	at := 0
	for _, j := range d.jobs {
		if len(j.rungs) == 1 || !of(j) {
			continue // a ladder has one rung at least
		}
		for i, r := range j.rungs {
			if r.spare() && (from == nil || r.rank > from.rungs[at].rank) {
				from, at = j, i
			}
		}
	}
	if from == nil {
		return false
	}
	from.left = append(from.left, from.rungs[at])
	from.rungs = slices.Delete(from.rungs, at, at+1)
	return true
}

// sayLeft notes what was left out, shortest first, and why.
func (d *desk) sayLeft(why string) {
	for _, j := range d.jobs {
		slices.SortFunc(j.left, byHold)
		j.without(j.left, why)
		j.left = nil
	}
}
