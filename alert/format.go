package alert

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"perch.example/probes"
)

// latency says how long something took: 0.3 ms, 134 ms, 1.204 s.
func latency(d time.Duration) string {
	switch {
	case d > 0 && d < 10*time.Microsecond:
		return "< 0.01 ms" // 0 would say that it took no time
	case d < 100*time.Microsecond:
		return decimal(d, time.Millisecond, 2) + " ms"
	case d < 10*time.Millisecond:
		return decimal(d, time.Millisecond, 1) + " ms"
	case d < time.Second:
		return decimal(d, time.Millisecond, 0) + " ms"
	}
	return span(d)
}

// age says how long a connection was idle, in one unit for a whole ladder:
// 0.5 s, 1.001 s, 61 s, 2 min.
func age(d time.Duration) string {
	if d < 100*time.Millisecond {
		return latency(d)
	}
	return span(d)
}

// span says whole days, hours and minutes as such, everything else in seconds.
func span(d time.Duration) string {
	d = d.Round(time.Millisecond)
	for _, unit := range []struct {
		size time.Duration
		name string
		from int
	}{{24 * time.Hour, "d", 2}, {time.Hour, "h", 1}, {time.Minute, "min", 2}} {
		if d%unit.size == 0 && d >= time.Duration(unit.from)*unit.size {
			return strconv.Itoa(int(d/unit.size)) + " " + unit.name
		}
	}
	return decimal(d, time.Second, 3) + " s"
}

// lasted says how long an incident lasted: 3 s, 12 min, 3 h 5 min, 2 d 4 h, 2 d.
func lasted(d time.Duration) string {
	if d = max(time.Second, d.Round(time.Second)); d < time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	d = d.Round(time.Minute)
	days, hours, minutes := int(d/(24*time.Hour)), int(d%(24*time.Hour)/time.Hour), int(d%time.Hour/time.Minute)
	switch {
	case days > 0 && hours > 0:
		return fmt.Sprintf("%d d %d h", days, hours)
	case days > 0:
		return fmt.Sprintf("%d d", days)
	case hours > 0 && minutes > 0:
		return fmt.Sprintf("%d h %d min", hours, minutes)
	case hours > 0:
		return fmt.Sprintf("%d h", hours)
	}
	return fmt.Sprintf("%d min", minutes)
}

func decimal(d, unit time.Duration, digits int) string {
	s := strconv.FormatFloat(float64(d)/float64(unit), 'f', digits, 64)
	if digits > 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// clock says a moment, to the minute, in UTC.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// bandWords says a danger band.
func bandWords(b *probes.Band) string {
	if b.Open {
		return "more than " + age(b.From)
	}
	return age(b.From) + " to " + age(b.To)
}

// capital begins a sentence; perch's own name stays small.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 || strings.HasPrefix(text, "perch ") {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}
