// Package stood tells tests when the machine stood still: how late it let a process wake
// that had nothing else to do. What a test measured meanwhile, in real time, is then no
// word about perch, and may be measured anew.
package stood

import (
	"sync"
	"testing"
	"time"
)

// wakeEvery is how often the process wakes.
const wakeEvery = 5 * time.Millisecond

// Watch calls still with each time at whose end this process woke later than it had
// asked to, by least or more, until the test ends.
func Watch(t testing.TB, least time.Duration, still func(from, to time.Time)) {
	ended, before := t.Context().Done(), time.Now()
	go func() {
		for {
			time.Sleep(wakeEvery)
			now := time.Now()
			if now.Sub(before)-wakeEvery >= least {
				still(before, now)
			}
			before = now
			select {
			case <-ended:
				return
			default:
			}
		}
	}()
}

// Record is when the machine stood still during a test. Safe for concurrent use.
type Record struct {
	mu    sync.Mutex
	spans []span
}

type span struct{ from, to time.Time }

// Recorded watches until the test ends for times of least or more.
func Recorded(t testing.TB, least time.Duration) *Record {
	r := &Record{}
	Watch(t, least, r.add)
	return r
}

func (r *Record) add(from, to time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spans = append(r.spans, span{from, to})
}

// Since is for how long the machine stood still since then, at the longest; 0: it did
// not. What it stands in at this very moment counts once it is over: since a test's
// process stands still, too, it asks no sooner.
func (r *Record) Since(at time.Time) (longest time.Duration) {
	time.Sleep(2 * wakeEvery) // the watcher wakes, too
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.spans {
		if s.to.After(at) {
			longest = max(longest, s.to.Sub(s.from)-wakeEvery)
		}
	}
	return longest
}

// During is for how long the machine stood still between the two, in all.
func (r *Record) During(from, to time.Time) (all time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.spans {
		if s.to.After(from) && s.from.Before(to) {
			all += s.to.Sub(s.from) - wakeEvery
		}
	}
	return all
}

// Moment is the least that disturbs a test that measures real servers: perch itself takes a
// delay of its own that is half of 50 ms for one that may explain a failure.
const Moment = 15 * time.Millisecond

// plays is how often Again plays at most.
const plays = 10

// Again plays, and fails the test with what was wrong; but where the machine stood still
// meanwhile, for from or longer, it plays anew, 10 times at most.
func Again(t testing.TB, from time.Duration, play func() (wrong []string)) {
	t.Helper()
	machine := Recorded(t, from)
	for n := 1; ; n++ {
		began := time.Now()
		wrong := play()
		if len(wrong) == 0 {
			return
		}
		still := machine.Since(began)
		if still == 0 || n == plays || t.Failed() {
			for _, w := range wrong {
				t.Error(w)
			}
			t.Logf("played %d times; the machine stood still for %s at last", n, still)
			return
		}
		t.Logf("the machine stood still for %s meanwhile; once more, after %.1000q", still.Round(time.Millisecond), wrong)
	}
}
