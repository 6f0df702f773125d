package main

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// The probes of a config are spread over their every: no tenth of it has many more or
// fewer than a tenth of them; and each has the same place in every process.
func TestTicksAreSpread(t *testing.T) {
	const probes = 2000
	for _, every := range []time.Duration{time.Second, time.Minute, 5 * time.Minute, 24 * time.Hour} {
		var tenths [10]int
		for n := range probes {
			k := ticksOf("shop", fmt.Sprintf("api-%d/get", n), every, 0)
			if k != ticksOf("shop", fmt.Sprintf("api-%d/get", n), every, 0) {
				t.Error("another place in the same process")
			}
			if k.phase < 0 || k.phase >= every {
				t.Fatalf("a phase of %s in %s", k.phase, every)
			}
			tenths[10*k.phase/every]++
		}
		chi := 0.0
		for _, n := range tenths {
			chi += math.Pow(float64(n)-probes/10, 2) / (probes / 10)
		}
		if chi > 27.9 { // one in a thousand, with nine degrees of freedom
			t.Errorf("every %s: %v", every, tenths)
		}
	}
	if a, b := ticksOf("shop", "api/get", time.Hour, 0), ticksOf("shop-2", "api/get", time.Hour, 0); a == b {
		t.Error("two perches call at one instant")
	}
}

// When a probe runs first follows from its place and from its last run.
func TestFirstTick(t *testing.T) {
	now := time.Unix(999_993_600, 0) // a whole multiple of each every below
	for _, c := range []struct {
		name         string
		every, phase time.Duration
		last         time.Duration // before now; 0: not known
		want         time.Duration // after now
	}{
		{"never ran", time.Hour, 50*time.Minute + 7*time.Second, 0, 7 * time.Second},
		{"never ran, and its place comes first", time.Hour, 3 * time.Second, 0, 3 * time.Second},
		{"at its place where its every is short", 10 * time.Second, 4 * time.Second, 0, 4 * time.Second},
		{"ran at its place", 10 * time.Minute, 4 * time.Minute, 6 * time.Minute, 4 * time.Minute},
		{"ran at its place, a moment ago", 10 * time.Minute, 0, time.Second, 10 * time.Minute},
		{"ran elsewhere: not before it is due", 10 * time.Minute, 4 * time.Minute, 2 * time.Minute, 14 * time.Minute},
		{"ran elsewhere: about when it is due", 10 * time.Minute, 4*time.Minute + 35*time.Second, 5 * time.Minute, 4*time.Minute + 35*time.Second},
		{"overdue", 10 * time.Minute, 5 * time.Minute, time.Hour, 0},
		{"a clock that was ahead", 10 * time.Minute, 5*time.Minute + time.Second, -time.Hour, time.Second},
	} {
		var last time.Time
		if c.last != 0 {
			last = now.Add(-c.last)
		}
		k := ticks{every: c.every, phase: c.phase}
		if got := k.first(now, last).Sub(now); got != c.want {
			t.Errorf("%s: %s later, want %s", c.name, got, c.want)
		}
	}
}

// Ticks come each every, at the probe's place; those that are over fall out.
func TestTickAfter(t *testing.T) {
	own := time.Unix(999_993_600, 0).Add(3 * time.Second)
	k := ticks{every: 10 * time.Second, phase: 3 * time.Second}
	for _, c := range []struct {
		tick, now time.Duration
		next      time.Duration
		missed    int
	}{
		{0, 0, 10 * time.Second, 0}, {0, 9 * time.Second, 10 * time.Second, 0}, {0, 10 * time.Second, 10 * time.Second, 0},
		{0, 10*time.Second + 1, 20 * time.Second, 1}, {0, 20 * time.Second, 20 * time.Second, 1}, {0, 45 * time.Second, 50 * time.Second, 4},
		{0, -time.Hour, 10 * time.Second, 0},       // the clock was set back
		{-4 * time.Second, 0, 10 * time.Second, 0}, // the first one lay beside its place
		{-6 * time.Second, -time.Second, 0, 0},     // likewise
		{-5 * time.Second, -4 * time.Second, 0, 0}, // half an every away is enough
		{-4 * time.Second, 11 * time.Second, 20 * time.Second, 1},
	} {
		if next, missed := k.after(own.Add(c.tick), own.Add(c.now)); next.Sub(own) != c.next || missed != c.missed {
			t.Errorf("%s after the tick at %s: the next one at %s, %d missed; want %s, %d", c.now, c.tick, next.Sub(own), missed, c.next, c.missed)
		}
	}
	k.atMost = 10 * time.Second // the policy's: a run may come 1 s early
	odd := ticks{every: 10 * time.Second, phase: 4 * time.Second}
	if got := odd.first(own, time.Time{}); got.Sub(own) != time.Second {
		t.Errorf("begun beside a whole multiple of its every it runs %s later, want it at its place", got.Sub(own))
	}
	if next, _ := k.after(own.Add(-5*time.Second), own); next.Sub(own) != 10*time.Second {
		t.Errorf("%s later, though the policy asks for 10 s", next.Sub(own))
	}
}
