package report

import (
	"strconv"
	"time"
)

// latency says how long something took: 0.04 ms, 8.3 ms, 134 ms, 1.204 s.
func latency(d time.Duration) string {
	if d.Round(time.Millisecond) < time.Second {
		return millis(d)
	}
	return span60(d)
}

// age says how long a connection was idle. From a tenth of a second on it
// speaks of seconds, so that the rungs of a ladder are told in one unit:
// 0.5 s, 1.001 s, 61 s, 2 min.
func age(d time.Duration) string {
	if d < 100*time.Millisecond {
		return millis(d)
	}
	return span60(d)
}

// millis keeps two digits of what is short and whole milliseconds of the rest.
func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	digits := 0
	switch {
	case d > 0 && d < 10*time.Microsecond:
		return "< 0.01 ms" // 0 would say that it took no time
	case d < 100*time.Microsecond:
		digits = 2
	case d < 10*time.Millisecond:
		digits = 1
	}
	return decimal(ms, digits) + " ms"
}

// span60 tells whole minutes and hours as such, everything else in seconds to
// the millisecond: a measured 3600.004 s is not an hour.
func span60(d time.Duration) string {
	d = d.Round(time.Millisecond)
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	case d >= 2*time.Minute && d%time.Minute == 0:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	}
	return decimal(d.Seconds(), 3) + " s"
}

// decimal prints with at most that many digits behind the point.
func decimal(f float64, digits int) string {
	s := strconv.FormatFloat(f, 'f', digits, 64)
	if digits == 0 {
		return s
	}
	for s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	if s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}
