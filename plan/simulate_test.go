package plan

import (
	"container/heap"
	"math/rand/v2"
	"time"

	"perch.example/probes"
)

// simulation carries out one target's steps as the runner does, in simulated
// time, and records when each request left.
type simulation struct {
	r      *rand.Rand
	cal    *Calendar
	slow   float64 // share of dials and answers that may outlast their booking
	events events
	now    time.Duration

	left         []Booking       // the instants at which requests left
	off          []time.Duration // how far each reuse was from its instant
	late         int             // rungs whose dial or answer was slower than booked
	warmWaits    int             // warm-ups that could not leave at once
	uncontrolled int             // rungs that lost their control's booking
	skipped      int             // rungs whose reuse found no room
	end          time.Duration
}

type event struct {
	at time.Duration
	do func()
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

func (s *simulation) after(d time.Duration, do func()) {
	heap.Push(&s.events, event{s.now + d, do})
}

func (s *simulation) run(steps []Step) {
	for _, step := range steps {
		s.after(step.Start, func() { s.after(s.dial(), func() { s.warm(step) }) })
	}
	for len(s.events) > 0 {
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		e.do()
	}
}

// dial takes between 1 and 200 ms, mostly little.
func (s *simulation) dial() time.Duration {
	if s.r.Float64() < s.slow {
		return time.Duration(s.r.IntN(2000)) * time.Millisecond
	}
	f := s.r.Float64()
	return time.Millisecond + time.Duration(f*f*f*199)*time.Millisecond
}

// answer takes up to 300 ms; a slow one up to 3 s.
func (s *simulation) answer() time.Duration {
	if s.r.Float64() < s.slow {
		return 500*time.Millisecond + time.Duration(s.r.IntN(2500))*time.Millisecond
	}
	return time.Duration(1+s.r.IntN(300)) * time.Millisecond
}

// warm is the last gate of a step's first request. A dial that outlasted its
// booking takes the reuse and the control along to where all of them fit.
func (s *simulation) warm(step Step) {
	shape := Shape(step.Spec, step.Hold)
	slots := []Slot{step.Warm, step.Reuse, step.Control}[:len(shape)]
	at := s.now
	if !s.cal.Move(step.Warm, At(at)) {
		shape[0] = At(0)
		at = s.cal.Rebook(at, slots, shape)
		s.warmWaits++
	}
	s.after(at-s.now, s.leaves)
	if step.Spec.Kind != probes.KindIdle {
		return
	}
	ends := at - s.now + s.answer()
	if s.now+ends > step.Start+Reach(step.Spec) {
		s.late++
	}
	s.after(ends, func() { s.hold(step) })
}

// hold begins when the warm-up's answer has ended. If that was late, the
// control gives way first.
func (s *simulation) hold(step Step) {
	reuse := s.now + step.Hold
	if !s.cal.Move(step.Reuse, At(reuse)) || !s.cal.Move(step.Control, At(reuse+ControlDelay)) {
		s.uncontrolled++
		s.cal.Release(step.Control)
		if !s.cal.Move(step.Reuse, At(reuse)) {
			s.skipped++
			s.cal.Release(step.Reuse)
			return
		}
	}
	woken := step.Hold + time.Duration(s.r.IntN(8000))*time.Microsecond
	s.after(woken, func() { s.reuse(step, reuse) })
}

// reuse leaves a little late, as timers do. One in three needs its control.
func (s *simulation) reuse(step Step, planned time.Duration) {
	s.off = append(s.off, s.now-planned)
	s.cal.Force(step.Reuse, At(s.now))
	s.leaves()
	if s.r.IntN(3) > 0 {
		s.cal.Release(step.Control)
		return
	}
	s.after(s.dial(), func() { s.control(step) })
}

// control leaves at once where it can, else in the next gap.
func (s *simulation) control(step Step) {
	at := s.cal.Rebook(s.now, []Slot{step.Control}, []Booking{At(0)})
	s.after(at-s.now, s.leaves)
}

func (s *simulation) leaves() {
	s.left = append(s.left, At(s.now))
	s.end = max(s.end, s.now)
	if s.r.IntN(10) == 0 { // a long run's calendar must stay small
		s.cal.Forget(s.now)
	}
}
