package plan

import (
	"sort"
	"time"
)

// profile is a step function of time: how many things lie on each instant. Two
// neighbours never have the same depth, and the last level's depth is 0. Times
// are whole nanoseconds, so a half-open stretch says exactly what is meant.
type profile []level

// level holds from its instant until that of the next one.
type level struct {
	from  time.Duration
	depth int
}

// add lays n more things on [from, until); a negative n takes them away.
func (p *profile) add(from, until time.Duration, n int) {
	if from >= until || n == 0 {
		return
	}
	i := p.split(from)
	j := p.split(until)
	for k := i; k < j; k++ {
		(*p)[k].depth += n
	}
	// Inside, all levels moved alike: only the two borders can have become
	// needless. The later one first, so that the earlier index stays right.
	p.join(j)
	p.join(i)
}

// lay adds a whole profile, moved by t.
func (p *profile) lay(shape profile, t time.Duration) {
	for i, l := range shape {
		if l.depth != 0 { // so it is not the last
			p.add(l.from+t, shape[i+1].from+t, l.depth)
		}
	}
}

// split makes sure that a level begins at the instant, and returns its index.
func (p *profile) split(at time.Duration) int {
	i := sort.Search(len(*p), func(i int) bool { return (*p)[i].from >= at })
	if i < len(*p) && (*p)[i].from == at {
		return i
	}
	before := 0
	if i > 0 {
		before = (*p)[i-1].depth
	}
	*p = append(*p, level{})
	copy((*p)[i+1:], (*p)[i:])
	(*p)[i] = level{at, before}
	return i
}

// join drops level i when it says the same as the one before it.
func (p *profile) join(i int) {
	before := 0
	if i > 0 {
		before = (*p)[i-1].depth
	}
	if (*p)[i].depth == before {
		*p = append((*p)[:i], (*p)[i+1:]...)
	}
}

// clear returns the smallest from' >= from such that no instant of
// [from', from'+length) is deeper than room (>= 0).
func (p profile) clear(from, length time.Duration, room int) time.Duration {
	i := sort.Search(len(p), func(i int) bool { return p[i].from > from })
	if i > 0 {
		i--
	}
	for ; i < len(p) && p[i].from < from+length; i++ {
		// The last level has depth 0, so a level that is too deep has a next one.
		if p[i].depth > room {
			from = p[i+1].from
		}
	}
	return from
}

// earliest returns the smallest t >= after such that shape, moved by t, can be
// laid on p without any instant getting deeper than limit; Never when shape
// alone is too deep, or after is Never. Every jump goes to the end of a level that forbids all
// starts before it, so nothing that fits is passed over.
func (p profile) earliest(after time.Duration, shape profile, limit int) time.Duration {
	if shape.max() > limit || after == Never {
		return Never
	}
	t := after
	for moved := true; moved; {
		moved = false
		for i, s := range shape {
			if s.depth == 0 {
				continue
			}
			length := shape[i+1].from - s.from
			if next := p.clear(s.from+t, length, limit-s.depth); next > s.from+t {
				t, moved = next-s.from, true
			}
		}
	}
	return t
}

// max returns the greatest depth.
func (p profile) max() int {
	deepest := 0
	for _, l := range p {
		deepest = max(deepest, l.depth)
	}
	return deepest
}
