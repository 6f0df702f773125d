package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// longestSilence is the longest time ahead that somebody still thinks of.
const longestSilence = 366 * 24 * time.Hour

// silenceWhen are the flags that say when a silence is in force.
type silenceWhen struct{ during, from, until string }

// times returns when a silence begins and ends. --for counts from its begin.
func (w silenceWhen) times(now time.Time) (from, until time.Time, err error) {
	from = now
	if w.from != "" {
		if from, err = instant(w.from, 0); err != nil {
			return from, until, fmt.Errorf("--from %w", err)
		}
	}
	switch {
	case (w.during == "") == (w.until == ""):
		return from, until, errors.New("want --for DURATION or --until TIME, one of them: a silence without an end is forgotten")
	case w.during != "":
		d, err := longDuration(w.during)
		if err != nil {
			return from, until, fmt.Errorf("--for %w", err)
		}
		until = from.Add(d)
	default:
		if until, err = instant(w.until, 24*time.Hour); err != nil {
			return from, until, fmt.Errorf("--until %w", err)
		}
	}
	switch {
	case !until.After(from):
		return from, until, fmt.Errorf("--until %s is not after %s, when the silence would begin", w.until, stamp(from))
	case !until.After(now):
		return from, until, fmt.Errorf("the silence would end at %s, which is over", stamp(until))
	case until.Sub(now) > longestSilence:
		return from, until, fmt.Errorf("the silence would end at %s; want an end within a year: what is muted longer is better accepted in the config, with a reason", stamp(until))
	}
	return from.UTC().Truncate(time.Second), until.UTC().Truncate(time.Second), nil
}

// instant reads a time with its zone, or a day in UTC, to which its edge is
// added: a silence from a day begins with it, one until a day ends after it.
func instant(text string, edge time.Duration) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.Add(edge), nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(form, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q: want a time with its zone such as 2026-12-31T15:00Z or 2027-01-01T00:00+09:00, or a day such as 2026-12-31 (in UTC)", text)
}

// longDuration reads a duration that may begin with days: 90m, 2h, 3d, 1d12h.
func longDuration(text string) (time.Duration, error) {
	wrong := fmt.Errorf("%q: want a duration such as 90m, 2h or 3d", text)
	days, rest, dated := strings.Cut(text, "d")
	if !dated {
		days, rest = "0", text
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, wrong
	}
	d := time.Duration(n) * 24 * time.Hour
	if rest != "" {
		more, err := time.ParseDuration(rest)
		if err != nil || more < 0 || more > longestSilence {
			return 0, wrong
		}
		d += more
	}
	if d < time.Second {
		return 0, wrong
	}
	return d, nil
}

// stamp writes a time for people.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
