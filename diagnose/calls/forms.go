package calls

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// form is a way to write a call on a line.
type form interface {
	// read is the line's call; false: it says none.
	read(line string) (made, bool)
	// says is what a line is, for errors.
	says() string
}

// formOf is the form in which a line makes sense; nil: none.
func formOf(line string) form {
	for _, f := range []form{newJSONForm(), haproxyForm{}, envoyForm{}, commonForm{}, elbForm{}, timeForm{}} {
		if _, ok := f.read(line); ok {
			return f
		}
	}
	return nil
}

func blank(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "#")
}

// timeForm is a time, and perhaps how long the call took, and that it failed.
type timeForm struct{}

func (timeForm) says() string { return "a time, RFC 3339 or seconds since 1970" }

func (timeForm) read(line string) (made, bool) {
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == ';' })
	if len(fields) == 0 {
		return made{}, false
	}
	for i := range fields {
		fields[i] = strings.Trim(fields[i], `"`)
	}
	at, ok := timeOf(fields[0])
	if !ok {
		return made{}, false
	}
	m := made{at: at, took: -1, failed: slices.ContainsFunc(fields[1:min(3, len(fields))], saysFailed)}
	if len(fields) > 1 {
		if took, ok := tookOf(fields[1], time.Second); ok {
			m.took = took
		}
	}
	return m, true
}

// timeOf reads RFC 3339, an access log's time, or seconds, milliseconds, microseconds or nanoseconds since
// 1970, by their size.
func timeOf(text string) (int64, bool) {
	text = strings.Trim(text, `"'[]`)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", commonTime} {
		if at, err := time.Parse(layout, text); err == nil {
			return nanos(at)
		}
	}
	return epoch(text)
}

// epoch reads a number without rounding it as a float would.
func epoch(text string) (int64, bool) {
	whole, part, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n < 0 || strings.HasPrefix(whole, "+") || part == "" && isDate(whole) {
		return 0, false
	}
	if len(part) > 9 {
		part = part[:9]
	}
	f := int64(0)
	if part != "" {
		u, err := strconv.ParseUint(part+strings.Repeat("0", 9-len(part)), 10, 32)
		if err != nil {
			return 0, false
		}
		f = int64(u)
	}
	unit := int64(time.Second)
	switch { // as seconds each of these is after the year 5000
	case n >= 1e17:
		unit = 1
	case n >= 1e14:
		unit = int64(time.Microsecond)
	case n >= 1e11:
		unit = int64(time.Millisecond)
	}
	if n >= latest/unit {
		return 0, false
	}
	return n*unit + f/(int64(time.Second)/unit), true
}

// isDate reports whether digits are a date such as 20261101: as seconds it were in 1970.
func isDate(digits string) bool {
	at, err := time.Parse("20060102", digits)
	return err == nil && at.Year() >= 1970
}

// latest is in the year 2116, ns since 1970: two of them can be subtracted.
const latest = int64(math.MaxInt64 / 2)

// nanos is a moment since 1970; false: it is too far away.
func nanos(at time.Time) (int64, bool) {
	if s := at.Unix(); s < 0 || s >= latest/int64(time.Second) {
		return 0, false
	}
	return at.UnixNano(), true
}

// longestCall is longer than any call takes: what is longer is something else.
const longestCall = 24 * time.Hour

// tookOf reads a duration: 120ms, or a number of units. Without a unit a number says none.
func tookOf(text string, unit time.Duration) (time.Duration, bool) {
	text = strings.Trim(text, `"`)
	if d, err := time.ParseDuration(text); err == nil && text != "0" {
		return d, d >= 0 && d <= longestCall
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || unit == 0 || n < 0 || math.IsNaN(n) || n*float64(unit) > float64(longestCall) {
		return 0, false
	}
	return time.Duration(n * float64(unit)), true
}
