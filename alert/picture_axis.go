package alert

import (
	"math"
	"slices"
	"time"
)

// axis maps durations to places between left and right, in points.
type axis struct {
	from, to    float64 // nanoseconds; with log both above 0
	log         bool
	left, right float64
}

// newAxis spans what it must show from left to right: from 0, or by powers where
// the largest is more than thirty times the smallest. What is not above 0 has
// no place of its own.
func newAxis(show []time.Duration, left, right float64) axis {
	const far = 30
	show = slices.DeleteFunc(slices.Clone(show), func(d time.Duration) bool { return d <= 0 })
	if len(show) == 0 {
		show = []time.Duration{time.Second}
	}
	least, most := float64(slices.Min(show)), float64(slices.Max(show))
	a := axis{to: most * 1.05, left: left, right: right}
	if most > far*least {
		a.log, a.from, a.to = true, least/2, most*1.3
	}
	return a
}

// at is a duration's place; what lies outside stands at the end.
func (a axis) at(d time.Duration) float64 {
	part := (float64(d) - a.from) / (a.to - a.from)
	if a.log {
		part = math.Log(math.Max(float64(d), 1)/a.from) / math.Log(a.to/a.from)
	}
	return a.left + (a.right-a.left)*math.Min(1, math.Max(0, part))
}

// ticks are round durations on the axis, at least so many points apart.
func (a axis) ticks(apart float64) []time.Duration {
	if !a.log {
		return a.evenTicks(apart)
	}
	var kept []time.Duration
	for _, d := range slices.Concat(powers(), roundDurations()) {
		if float64(d) < a.from || float64(d) > a.to {
			continue
		}
		near := func(other time.Duration) bool { return math.Abs(a.at(d)-a.at(other)) < apart }
		if !slices.ContainsFunc(kept, near) {
			kept = append(kept, d)
		}
	}
	slices.Sort(kept)
	return kept
}

func (a axis) evenTicks(apart float64) []time.Duration {
	most := (a.right - a.left) / apart
	kept := []time.Duration{0}
	for _, step := range roundDurations() {
		if a.to/float64(step) > most {
			continue
		}
		for n := 1; float64(step)*float64(n) <= a.to; n++ {
			kept = append(kept, time.Duration(n)*step)
		}
		break
	}
	return kept
}

// powers are the ticks that an axis by powers has first.
func powers() []time.Duration {
	const day = 24 * time.Hour
	return []time.Duration{
		time.Microsecond, 10 * time.Microsecond, 100 * time.Microsecond, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond,
		time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 10 * time.Hour, 10 * day, 100 * day, 1000 * day, 10000 * day,
	}
}

// roundDurations are those that people read without reckoning, in order.
func roundDurations() []time.Duration {
	const day = 24 * time.Hour
	all := []time.Duration{1, 10, 100}
	for unit := time.Microsecond; unit < time.Second; unit *= 10 {
		all = append(all, unit, 2*unit, 5*unit)
	}
	for _, unit := range []time.Duration{time.Second, time.Minute} {
		all = append(all, unit, 2*unit, 5*unit, 10*unit, 20*unit, 30*unit)
	}
	all = append(all, time.Hour, 2*time.Hour, 5*time.Hour, 10*time.Hour)
	for unit := day; unit < 100000*day; unit *= 10 {
		all = append(all, unit, 2*unit, 5*unit)
	}
	return all
}
