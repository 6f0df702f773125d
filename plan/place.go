package plan

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"perch.example/probes"
)

const (
	spreadEach  = 50 * time.Millisecond
	widestRange = 10 * time.Second
)

// desk is where one target's steps are placed: its calendar, and how many of
// its connections are open when.
type desk struct {
	target  *probes.Target
	sent    []Sent
	cal     *Calendar
	open    *Open
	jobs    []*job
	steps   []Step
	endless bool // requests of one connection are refused already: what a day would take follows from them
}

// clear empties the desk but for what earlier runs sent, before this one's start.
func (d *desk) clear() {
	d.cal, d.open, d.steps = NewCalendar(d.target.Budget()), NewOpen(d.target.MaxConnections), nil
	for _, sent := range d.sent {
		for range min(sent.Requests, d.cal.Allowed()) {
			d.cal.Force(0, At(-sent.Ago))
		}
	}
}

// place gives every due step its start: rungs longest first (the shorter ones
// then end under the longest), each at the earliest start at which its bookings
// and its connections fit, a probe's own rungs apart; single exchanges go into
// the gaps.
func (d *desk) place() {
	for _, r := range d.rungsLongestFirst() {
		for _, s := range r.steps() {
			if d.put(&s, r.job.next) {
				r.job.next = s.Start + apart(s.Spec, r.job.rungs)
			}
		}
	}
	for _, j := range d.jobs {
		if j.due && j.spec.Kind != probes.KindIdle {
			d.put(&Step{Spec: j.spec}, j.next)
		}
	}
}

type dueRung struct {
	job *job
	rung
}

func (d *desk) rungsLongestFirst() []dueRung {
	var all []dueRung
	for _, j := range d.jobs {
		for _, r := range j.rungs {
			if j.due {
				all = append(all, dueRung{j, r})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b dueRung) int { return cmp.Compare(b.hold, a.hold) })
	return all
}

// put books a step at its earliest start. A step that can never fit is left
// out: check has said so.
func (d *desk) put(s *Step, after time.Duration) bool {
	if !d.cal.Place(s, after, d.open) {
		return false
	}
	d.steps = append(d.steps, *s)
	return true
}

// spread gives each due probe its first start: the ladder with the longest hold
// first, single exchanges last, equals in an order drawn from the seed, each at
// a random point of its own share of the range. A probe that is alone starts at
// once.
func spread(desks []*desk, every time.Duration, seed uint64) {
	var jobs []*job
	for _, d := range desks {
		for _, j := range d.jobs {
			if j.due {
				jobs = append(jobs, j)
			}
		}
	}
	if len(jobs) < 2 {
		return
	}
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(jobs), func(i, k int) { jobs[i], jobs[k] = jobs[k], jobs[i] })
	slices.SortStableFunc(jobs, func(a, b *job) int { return cmp.Compare(b.longest(), a.longest()) })

	share := min(spreadEach, widestRange/time.Duration(len(jobs)))
	if every > 0 {
		share = min(share, every/10/time.Duration(len(jobs)))
	}
	for i, j := range jobs[1:] {
		at := time.Duration(i)*share + time.Duration(r.Float64()*float64(share))
		j.next = at.Truncate(time.Millisecond)
	}
}

// longest returns the job's longest hold; 0 for a single exchange.
func (j *job) longest() time.Duration {
	if len(j.rungs) == 0 {
		return 0
	}
	return j.rungs[0].hold
}
