package diagnose

import (
	"slices"
	"time"

	"perch.example/probes"
)

// earlyCase says what an early close of rung i looks like beside the others.
// The plan warms rungs apart so that a and b can be told from idleness. What
// comes again at about the same age is idleness before it is a or b: a server
// that closes at its ticks what is idle ends such rungs together, and lets one
// live up to a tick longer than another. A lone rung cannot tell a reload from
// idleness by itself: once earlier runs are known, they decide.
func (l *ladder) earlyCase(i int) Early {
	switch {
	case l.again(i):
		return EarlyRepeated
	case l.outlived(i):
		return EarlyOutlived
	case l.massClosed(i):
		return EarlyMass
	case l.repeated(i) || l.sameAgeLastRun(i):
		return EarlyRepeated
	case len(l.rungs) == 1 && !l.in.Last.Seen:
		return EarlyOnly
	}
	return EarlyFirst
}

// outlived reports whether another rung on the same remote address idled
// longer and worked: then it was not idleness.
func (l *ladder) outlived(i int) bool {
	age := l.rungs[i].age()
	return l.otherLived(i, age+l.tol(age))
}

// otherLived reports whether another rung on rung i's remote address idled
// longer than that and worked.
func (l *ladder) otherLived(i int, age time.Duration) bool {
	this := &l.rungs[i]
	return this.reuse != nil && l.lived[this.reuse.Remote] > age
}

// massClosed reports whether other connections were closed at the same moment
// at other idle ages: a reload, a deploy, a drain.
func (l *ladder) massClosed(i int) bool {
	this := l.rungs[i].obs.Close
	return this != nil && slices.ContainsFunc(l.sameInstant(i), func(c *probes.Close) bool {
		return (c.Age - this.Age).Abs() > l.tol(this.Age)
	})
}

// sameInstant returns the closes of other rungs at the moment of rung i's.
func (l *ladder) sameInstant(i int) []*probes.Close {
	this := l.rungs[i].obs.Close
	if this == nil {
		return nil
	}
	var all []*probes.Close
	for _, j := range l.closed {
		if c := l.rungs[j].obs.Close; j != i && c.At.Sub(this.At).Abs() <= oneMoment {
			all = append(all, c)
		}
	}
	return all
}

// longestTick is how far apart a server may look for idle connections: what it
// closes then is older than its timeout by up to as much.
const longestTick = 10 * time.Second

// tick is how far apart the ages may lie at which one idle timeout ends
// connections.
func (l *ladder) tick() time.Duration {
	return max(min(longestTick, l.in.Spec.KeepAlive/2), tolerance(l.in.Spec.KeepAlive))
}

// again reports whether this rung ended early in the last run as well, at about
// the same age, and nothing beside it shows another cause. A reload may come in
// two runs, but at ages as they happen to be.
func (l *ladder) again(i int) bool {
	this, tick := l.rungs[i], l.tick()
	for _, last := range []map[time.Duration]time.Duration{l.in.Last.EarlyCloses, l.in.Last.MassCloses} {
		if age, ok := last[this.obs.Hold]; ok && (age-this.age()).Abs() <= tick {
			return !l.otherCause(i, min(age, this.age()), max(age, this.age()))
		}
	}
	return false
}

// otherCause reports whether no idle timeout explains that rung i ended at ages
// from least to most, at whatever ticks it is looked after: what ended with it
// was younger or older by more than a tick, or another rung lived longer by more.
func (l *ladder) otherCause(i int, least, most time.Duration) bool {
	tick := l.tick()
	return l.otherLived(i, least+tick) || slices.ContainsFunc(l.sameInstant(i), func(c *probes.Close) bool {
		return c.Age > least+tick || c.Age < most-tick
	})
}

// repeated reports whether another rung ended at the same idle age at another
// moment: then it is idleness.
func (l *ladder) repeated(i int) bool {
	this := &l.rungs[i]
	for _, j := range l.died {
		other := &l.rungs[j]
		if j == i {
			continue
		}
		apart := other.endedAt().Sub(this.endedAt()).Abs()
		if apart > l.sameMoment() && (other.age()-this.age()).Abs() <= l.tol(this.age()) {
			return true
		}
	}
	return false
}

// sameMoment is how near in time two ends of one idle age count as one
// sighting. The plan warms rungs min(5 s, keep_alive/10) apart, and equal idle
// ages keep that distance: half of it is clearly below, and leaves the other
// half to what warm answers and the sight of a close may vary. Without a
// keep_alive nothing is early and nobody asks.
func (l *ladder) sameMoment() time.Duration {
	return min(l.in.Spec.KeepAlive/20, oneMoment)
}

// endedAt is when the connection was seen to end.
func (r rungView) endedAt() time.Time {
	if r.obs.Close != nil {
		return r.obs.Close.At
	}
	if r.reuse != nil {
		return endOf(r.obs, *r.reuse)
	}
	return r.obs.Ended
}

// sameAgeLastRun reports whether a rung of any hold ended early at this age in
// the last run.
func (l *ladder) sameAgeLastRun(i int) bool {
	this := l.rungs[i]
	for _, age := range l.in.Last.EarlyCloses {
		if (age - this.age()).Abs() <= l.tol(this.age()) {
			return true
		}
	}
	return false
}

// EarlyCloses returns what the next run's Last should hold: each hold whose
// connection ended early, with the idle age of its end; and apart from them
// those of a mass close, which alone say nothing about idleness. What no idle
// timeout explains is left out.
func EarlyCloses(in Input) (early, mass map[time.Duration]time.Duration) {
	early, mass = map[time.Duration]time.Duration{}, map[time.Duration]time.Duration{}
	if !slices.ContainsFunc(in.Observations, func(o probes.Observation) bool { return held(o.Kind) }) {
		return early, mass
	}
	for _, one := range ladders(in.perCall()) {
		newLadder(one).earlyCloses(early, mass)
	}
	return early, mass
}

func (l *ladder) earlyCloses(early, mass map[time.Duration]time.Duration) {
	for _, i := range l.died {
		r := &l.rungs[i]
		if l.ageOf(*r) != AgeEarly || l.toldLimit(i) || l.otherCause(i, r.age(), r.age()) {
			continue
		}
		closes := early
		if l.massClosed(i) {
			closes = mass
		}
		if age, ok := closes[r.obs.Hold]; !ok || r.age() < age {
			closes[r.obs.Hold] = r.age()
		}
	}
}
