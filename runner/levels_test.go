package runner

import (
	"testing"
	"time"
)

func TestLevels(t *testing.T) {
	const ms = time.Millisecond
	zero := time.Unix(1000, 0)
	at := func(d time.Duration) time.Time { return zero.Add(d) }
	var l levels
	if _, known := l.since(zero, at(ms)); known {
		t.Error("nothing was sampled, and something is known")
	}
	// 0 until 200 ms, 60 ms by 300, 150 ms by 400 and from then on.
	for _, s := range []struct{ at, total time.Duration }{
		{0, 0}, {100 * ms, 0}, {200 * ms, 0}, {300 * ms, 60 * ms}, {400 * ms, 150 * ms}, {500 * ms, 150 * ms},
	} {
		l.add(at(s.at), s.total)
	}
	for _, tt := range []struct{ from, now, want time.Duration }{
		{-time.Second, 500 * ms, 150 * ms},
		{0, 500 * ms, 150 * ms},
		{150 * ms, 500 * ms, 150 * ms},
		{200 * ms, 500 * ms, 150 * ms},
		{230 * ms, 500 * ms, 120 * ms}, // 30 ms of the first 60 may have been before
		{290 * ms, 500 * ms, 90 * ms},  // all of the first 60 may have been
		{300 * ms, 500 * ms, 90 * ms},
		{310 * ms, 500 * ms, 80 * ms},
		{400 * ms, 500 * ms, 0},
		{450 * ms, 500 * ms, 0},
		{500 * ms, 500 * ms, 0},
		{time.Second, 500 * ms, 0}, // a clock that was set
	} {
		if got, known := l.since(at(tt.from), at(tt.now)); got != tt.want || !known {
			t.Errorf("from %s to %s: %s, known %v; want %s", tt.from, tt.now, got, known, tt.want)
		}
	}
	// Four CPUs, throttled for the same 100 ms: no more than that time.
	l.add(at(600*ms), 550*ms)
	if got, _ := l.since(at(500*ms), at(600*ms)); got != 100*ms {
		t.Errorf("throttled for %s of 100 ms", got)
	}
	l.add(at(700*ms), 0) // counted anew: another cgroup
	if got, _ := l.since(at(650*ms), at(800*ms)); got != 0 {
		t.Errorf("throttled for %s by a total that fell", got)
	}
}

func TestLevelsAreBounded(t *testing.T) {
	var l levels
	start := time.Unix(1000, 0)
	for i := range 3 * mostLevels {
		l.add(start.Add(time.Duration(i)*lateEvery), time.Duration(i)*time.Millisecond)
		l.add(start.Add(time.Duration(i)*lateEvery+lateEvery/2), time.Duration(i)*time.Millisecond)
	}
	if len(l.kept) != mostLevels || cap(l.kept) > 2*mostLevels {
		t.Errorf("%d levels, room for %d", len(l.kept), cap(l.kept))
	}
	now := start.Add(3 * mostLevels * lateEvery)
	if got, known := l.since(start, now); got != (mostLevels-1)*time.Millisecond || !known {
		t.Errorf("%s since before what is kept, known %v", got, known)
	}
}
