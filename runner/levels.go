package runner

import "time"

// mostLevels bounds what is kept: with a quota that is always used up, the last
// minute and a half. Attempts are shorter.
const mostLevels = 1024

// levels is the course of a total that only grows, by samples of it: one level
// for as long as it stays the same. The zero value knows nothing.
type levels struct{ kept []level }

// level is a total that was the same from the first to the last sample.
type level struct {
	first, last time.Time
	total       time.Duration
}

func (l *levels) add(now time.Time, total time.Duration) {
	if n := len(l.kept); n > 0 && l.kept[n-1].total == total {
		l.kept[n-1].last = now
		return
	}
	if len(l.kept) == mostLevels {
		l.kept = append(l.kept[:0], l.kept[1:]...)
	}
	l.kept = append(l.kept, level{now, now, total})
}

// since returns by how much the total grew from then to now, at least: what may
// have been before from is taken off. It is never longer than that time, though
// the kernel adds up what each CPU was throttled. False: nothing is known.
func (l *levels) since(from, now time.Time) (time.Duration, bool) {
	if len(l.kept) == 0 {
		return 0, false
	}
	var grown time.Duration
	for i := len(l.kept) - 1; i >= 0 && l.kept[i].last.After(from); i-- {
		if i == 0 || !l.kept[i].first.After(from) {
			break // the first of all, or one that was so at from already
		}
		before := l.kept[i-1]
		step := l.kept[i].total - before.total
		if before.last.Before(from) {
			step = max(0, step-from.Sub(before.last))
		}
		grown += step
	}
	return min(max(grown, 0), max(now.Sub(from), 0)), true
}
