package probes

import (
	"cmp"
	"slices"
	"time"
)

// BurstSum is one burst in numbers.
type BurstSum struct {
	Burst    int // from 1
	Calls    int
	Fresh    int           // on a connection of their own
	Reused   int           // on one of the pool's
	Dead     int           // of those, on one that had ended
	Failed   int           // for another cause
	First    int           // the number of the first call that drew a dead one; 0: none did
	Last     int           // of the last one
	Idle     time.Duration // the longest idle time of a connection that was reused
	DeadIdle time.Duration // the shortest idle time of one that was dead; 0: none was
	DeadMost time.Duration // the longest one
}

// Sums are the bursts in numbers, in their order. attempts are the observation's.
func (b BurstSeen) Sums(attempts []Attempt) []BurstSum {
	sums := map[int]*BurstSum{}
	for _, c := range b.Calls {
		if c.Attempt < 0 || c.Attempt >= len(attempts) {
			continue
		}
		s := sums[c.Burst]
		if s == nil {
			s = &BurstSum{Burst: c.Burst}
			sums[c.Burst] = s
		}
		s.add(c, attempts[c.Attempt])
	}
	var all []BurstSum
	for _, s := range sums {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(x, y BurstSum) int { return cmp.Compare(x.Burst, y.Burst) })
	return all
}

func (s *BurstSum) add(c BurstCall, a Attempt) {
	s.Calls++
	if a.Connection == ConnectionReused {
		s.Reused++
		s.Idle = max(s.Idle, a.IdleTime)
	} else {
		s.Fresh++
	}
	switch {
	case a.DrewDead():
		s.Dead++
		if s.First == 0 || c.Number < s.First {
			s.First = c.Number
		}
		s.Last = max(s.Last, c.Number)
		if s.DeadIdle == 0 || a.IdleTime < s.DeadIdle {
			s.DeadIdle = a.IdleTime
		}
		s.DeadMost = max(s.DeadMost, a.IdleTime)
	case !a.OK():
		s.Failed++
	}
}

// DrewDead reports whether the attempt ran on a reused connection that did not carry it.
func (a Attempt) DrewDead() bool {
	if a.Connection != ConnectionReused {
		return false
	}
	switch a.Reason {
	case ReasonBlackhole, ReasonNoResponse, ReasonPartialHead, ReasonPartialBody, ReasonBadResponse, ReasonGoawayProcessed, ReasonStreamReset:
		return true
	default:
		return a.Reason.Closed()
	}
}

// Total is several bursts as one: its Burst is 0, and its First and Last are the
// least and the greatest of any.
func Total(sums []BurstSum) BurstSum {
	var t BurstSum
	for _, s := range sums {
		t.Calls += s.Calls
		t.Fresh += s.Fresh
		t.Reused += s.Reused
		t.Dead += s.Dead
		t.Failed += s.Failed
		t.Last, t.Idle, t.DeadMost = max(t.Last, s.Last), max(t.Idle, s.Idle), max(t.DeadMost, s.DeadMost)
		if s.First > 0 && (t.First == 0 || s.First < t.First) {
			t.First = s.First
		}
		if s.DeadIdle > 0 && (t.DeadIdle == 0 || s.DeadIdle < t.DeadIdle) {
			t.DeadIdle = s.DeadIdle
		}
	}
	return t
}
