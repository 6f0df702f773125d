package diagnose

import (
	"time"

	"perch.example/probes"
)

// earlyCase says what an early close of rung i looks like beside the others.
// The plan warms rungs apart so that the first two cases can be told.
func (l *ladder) earlyCase(i int) Early {
	switch {
	case l.outlived(i):
		return EarlyOutlived
	case l.massClosed(i):
		return EarlyMass
	case l.repeated(i) || l.earlyLastRun(i):
		return EarlyRepeated
	case len(l.rungs) == 1:
		return EarlyOnly
	}
	return EarlyFirst
}

// outlived reports whether another rung on the same remote address idled
// longer and worked: then it was not idleness.
func (l *ladder) outlived(i int) bool {
	this := l.rungs[i]
	for j, other := range l.rungs {
		if j == i || !other.worked() || this.reuse == nil || other.reuse.Remote != this.reuse.Remote {
			continue
		}
		if other.reuseAge() > this.age()+l.tol(this.age()) {
			return true
		}
	}
	return false
}

// massClosed reports whether other connections were closed at the same moment
// at other idle ages: a reload, a deploy, a drain.
func (l *ladder) massClosed(i int) bool {
	this := l.rungs[i].obs.Close
	if this == nil {
		return false
	}
	for j, other := range l.rungs {
		c := other.obs.Close
		if j == i || c == nil {
			continue
		}
		if c.At.Sub(this.At).Abs() <= oneMoment && (c.Age-this.Age).Abs() > l.tol(this.Age) {
			return true
		}
	}
	return false
}

// repeated reports whether another rung ended at the same idle age at another
// moment: then it is idleness.
func (l *ladder) repeated(i int) bool {
	this := l.rungs[i]
	for j, other := range l.rungs {
		if j == i || !other.ended() {
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

// earlyLastRun reports whether this rung, or any at this age, ended early in
// the last run as well.
func (l *ladder) earlyLastRun(i int) bool {
	this := l.rungs[i]
	if _, ok := l.in.Last.EarlyCloses[this.obs.Hold]; ok {
		return true
	}
	for _, age := range l.in.Last.EarlyCloses {
		if (age - this.age()).Abs() <= l.tol(this.age()) {
			return true
		}
	}
	return false
}

// EarlyCloses returns what the next run's Last should hold: each hold whose
// connection ended early, with the idle age of its end. A mass close is left
// out: it says nothing about idleness.
func EarlyCloses(in Input) map[time.Duration]time.Duration {
	l := newLadder(in)
	early := map[time.Duration]time.Duration{}
	for i, r := range l.rungs {
		if r.obs.Kind != probes.KindIdle || !r.ended() || l.ageOf(r) != AgeEarly {
			continue
		}
		if l.earlyCase(i) == EarlyMass {
			continue
		}
		if age, ok := early[r.obs.Hold]; !ok || r.age() < age {
			early[r.obs.Hold] = r.age()
		}
	}
	return early
}
