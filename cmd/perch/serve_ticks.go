package main

import (
	"hash/fnv"
	"time"
)

const (
	// firstWithin is within which time a probe runs that is due when perch starts:
	// who begins wants to see something, and not all of it at once.
	firstWithin = time.Minute
	// tickSlack is the share of its every by which a run may come early, at most
	// mostSlack: as with a CronJob, whose start jitters.
	tickSlack = 10
	mostSlack = 30 * time.Second
	// together is how far apart the places of probes are: those of one begin at once.
	// Where each woke the process by itself, which had gone cold meanwhile, 200 probes
	// a second took nearly twice the processor time.
	together = 100 * time.Millisecond
)

// ticks are the instants at which a probe runs: one in each every, at a place in it
// that is the probe's own, and the same in each process.
type ticks struct {
	every  time.Duration
	phase  time.Duration // since a whole multiple of every in Unix time
	atMost time.Duration // how close the policy lets two runs come; 0: as every says
}

// ticksOf spreads the probes of a config over their every.
func ticksOf(name, id string, every, least time.Duration) ticks {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name + "\x00" + id)) // a hash's never fails
	phase := time.Duration(mixed(h.Sum64()) % uint64(every))
	return ticks{every: every, phase: phase.Truncate(min(together, every/10)), atMost: least}
}

// mixed spreads what differs in the last letter alone over all bits (the end of
// murmur3's 64 bits).
func mixed(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// next is the first of the probe's own instants at or after t. It keeps t's
// monotonic clock: a wall clock that is set moves no tick.
func (k ticks) next(t time.Time) time.Time {
	since := (t.UnixNano() - int64(k.phase)) % int64(k.every)
	if since < 0 {
		since += int64(k.every)
	}
	if since == 0 {
		return t
	}
	return t.Add(k.every - time.Duration(since))
}

// first is when a probe runs first in a process that begins now. last is its last
// run as the state has it; zero: none is known. What is due runs within a minute. A last
// run that is still to come was reserved by a process that was killed: its ticks until
// now may have been played, the next one was not.
func (k ticks) first(now, last time.Time) time.Time {
	own := k.next(now)
	if ahead := last.Sub(now); ahead > 0 && ahead <= aheadFor {
		return now.Add((ahead-1)%k.every + 1)
	}
	if !last.IsZero() && !last.After(now) {
		if due := last.Add(k.every - k.slack()); due.After(now) {
			return k.next(now.Add(due.Sub(now)))
		}
	}
	if soon := now.Add(k.phase % firstWithin); k.every > firstWithin && soon.Before(own) {
		return soon
	}
	return own
}

// after is the tick that follows one, and how many fell out since: those that are
// over by now. The first tick of a process may lie beside the probe's own instants;
// the second is half an every away at least.
func (k ticks) after(tick, now time.Time) (next time.Time, missed int) {
	apart := max(k.every/2, k.atMost-k.slack())
	return tickAfter(k.next(tick.Add(max(apart, 1))), k.every, now)
}

func (k ticks) slack() time.Duration { return min(k.every/tickSlack, mostSlack) }

// tickAfter is a tick, or where that is over, the first at or after now, each every;
// and how many have passed.
func tickAfter(tick time.Time, every time.Duration, now time.Time) (next time.Time, missed int) {
	if late := now.Sub(tick); late > 0 {
		passed := (late + every - 1) / every
		return tick.Add(passed * every), int(passed)
	}
	return tick, 0
}
