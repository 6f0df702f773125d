package config

import (
	"fmt"
	"regexp"
	"testing"
	"time"
)

// TestDurationsBetween: the pattern takes a whole number with one unit where the
// key does, and whatever else the key takes.
func TestDurationsBetween(t *testing.T) {
	for _, bounds := range [][2]time.Duration{
		{0, time.Minute}, {time.Millisecond, 24 * time.Hour}, {10 * time.Millisecond, 10 * time.Minute}, {100 * time.Millisecond, 5 * time.Minute},
		{time.Minute, 720 * time.Hour}, {time.Second, 168 * time.Hour}, {1234 * time.Millisecond, 98765 * time.Millisecond},
	} {
		pattern := regexp.MustCompile(durationsBetween(bounds[0], bounds[1]))
		key := duration(bounds[0], bounds[1])
		for unit, is := range map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour} {
			for _, n := range []int64{0, 1, 9, 10, 99, 100, int64(bounds[0] / is), int64(bounds[1] / is), int64(bounds[0]+bounds[1]) / 3 / int64(is)} {
				for n := max(0, n-2); n <= int64(bounds[1]/is)+2; n = n*7/2 + 1 {
					text := fmt.Sprint(n, unit)
					if _, refused := key.parse(text); pattern.MatchString(text) != (refused == nil) {
						t.Errorf("%v: the pattern takes %s: %v, the key says %v", bounds, text, refused != nil, refused)
					}
				}
			}
		}
	}
	for text, want := range map[string]bool{"1m30s": true, "0.5s": true, "1500us": true, "010s": true, "": false, "s": false, "10": false, "-1s": false, "1d": false, "1s ": false} {
		if got := regexp.MustCompile(durationsBetween(time.Millisecond, time.Hour)).MatchString(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
