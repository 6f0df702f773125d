package k8s

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// cron is a schedule of cron's five fields, as far as a day of it goes: which days
// it means only makes runs rarer, if there are any.
type cron struct {
	minutes uint64 // bit n: minute n of an hour
	hours   uint64
	days    uint64 // of a month
	months  uint64
	weekly  bool // the day of the week is restricted: one of each week is meant
	daily   bool // every day is meant
}

// cronField is one of the five.
type cronField struct {
	name      string
	low, high int
	names     []string // of low, low+1, ...
}

func cronFields() []cronField {
	return []cronField{
		{"minute", 0, 59, nil}, {"hour", 0, 23, nil}, {"day of the month", 1, 31, nil},
		{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
		{"day of the week", 0, 6, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
	}
}

// parseCron reads five fields as Kubernetes does. What it has beside them is
// refused: @hourly starts every perch of a fleet at the same minute, TZ= is refused
// by the API server.
func parseCron(text string) (cron, error) {
	parts := strings.Fields(text)
	if len(parts) != len(cronFields()) {
		return cron{}, fmt.Errorf("want cron's five fields, such as \"7-59/15 * * * *\", or an interval such as 15m")
	}
	var c cron
	for i, f := range cronFields() {
		set, err := f.parse(parts[i])
		if err != nil {
			return cron{}, err
		}
		switch i {
		case 0:
			c.minutes = set
		case 1:
			c.hours = set
		case 2:
			c.days = set
		case 3:
			c.months = set
		default:
			c.weekly = !slices.ContainsFunc(strings.Split(parts[i], ","), anyDay)
			c.daily = bits.OnesCount64(c.days) == 31 && bits.OnesCount64(c.months) == 12 && bits.OnesCount64(set) == 7
		}
	}
	if c.never() {
		return cron{}, errors.New("no month of it has such a day: it would never run")
	}
	return c, nil
}

// anyDay reports whether a part of a field is every day of it.
func anyDay(part string) bool {
	span, every, stepped := strings.Cut(part, "/")
	n, _ := strconv.Atoi(every) // it was parsed
	return (span == "*" || span == "?") && (!stepped || n == 1)
}

// never reports whether no month has one of the days. Where the week restricts them
// as well, either is enough.
func (c cron) never() bool {
	for i, days := range [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31} {
		if c.months>>(i+1)&1 == 1 && c.days&(1<<(days+1)-1) != 0 {
			return false
		}
	}
	return !c.weekly
}

// parse reads a list of ranges and returns the numbers that it means, as bits.
func (f cronField) parse(text string) (uint64, error) {
	var set uint64
	for _, part := range strings.Split(text, ",") {
		span, every, stepped := strings.Cut(part, "/")
		low, high, ok := f.span(span, stepped)
		step := 1
		if stepped {
			n, err := strconv.ParseUint(every, 10, 8)
			step, ok = int(n), ok && err == nil && n > 0
		}
		if !ok {
			return 0, fmt.Errorf("the %s is %q: want numbers from %d to %d, *, a range such as %d-%d, or */2",
				f.name, text, f.low, f.high, f.low, f.low+3)
		}
		for n := low; n <= high; n += step {
			set |= 1 << n
		}
	}
	return set, nil
}

// span reads "*", "5" or "5-20". With a step behind it, 5 means from 5 on.
func (f cronField) span(text string, stepped bool) (low, high int, ok bool) {
	if text == "*" || text == "?" {
		return f.low, f.high, true
	}
	from, to, ranged := strings.Cut(text, "-")
	low, ok = f.number(from)
	switch {
	case ranged:
		var good bool
		high, good = f.number(to)
		ok = ok && good
	case stepped:
		high = f.high
	default:
		high = low
	}
	return low, high, ok && low <= high
}

func (f cronField) number(text string) (int, bool) {
	if i := slices.Index(f.names, strings.ToLower(text)); i >= 0 {
		return f.low + i, true
	}
	n, err := strconv.ParseUint(text, 10, 8)
	return int(n), err == nil && int(n) >= f.low && int(n) <= f.high
}

// runs is how often it starts something in a day.
func (c cron) runs() int { return bits.OnesCount64(c.minutes) * bits.OnesCount64(c.hours) }

// gap is the shortest time between two starts, if each day is meant.
func (c cron) gap() time.Duration {
	var first, last int
	shortest, seen := day, false
	for minute := range int(day / time.Minute) {
		if c.hours>>(minute/60)&1 == 0 || c.minutes>>(minute%60)&1 == 0 {
			continue
		}
		if seen {
			shortest = min(shortest, time.Duration(minute-last)*time.Minute)
		} else {
			first, seen = minute, true
		}
		last = minute
	}
	return min(shortest, day-time.Duration(last-first)*time.Minute)
}
