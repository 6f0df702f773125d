package calls

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// form is a way to write a call on a line.
type form interface {
	// read is the line's call; false: it says none.
	read(line string) (made, bool)
	// ends reports whether the time is that of the answer.
	ends() bool
}

// formOf is the form in which a line makes sense; nil: none.
func formOf(line string) form {
	for _, f := range []form{jsonForm{}, commonForm{}, timeForm{}} {
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

// timeForm is a time, and perhaps how long the call took.
type timeForm struct{}

func (timeForm) ends() bool { return false }

func (timeForm) read(line string) (made, bool) {
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == ';' })
	if len(fields) == 0 {
		return made{}, false
	}
	at, ok := timeOf(fields[0])
	if !ok {
		return made{}, false
	}
	m := made{at: at, took: -1}
	if len(fields) > 1 {
		if took, ok := tookOf(fields[1], time.Second); ok {
			m.took = took
		}
	}
	return m, true
}

// commonForm is an access log in common or combined format. What stands behind the combined
// format's fields as a number with a fraction is nginx's $request_time, in seconds; as a whole number it
// is Apache's %D, in microseconds.
type commonForm struct{}

func (commonForm) ends() bool { return true }

const commonTime = "02/Jan/2006:15:04:05 -0700"

func (commonForm) read(line string) (made, bool) {
	from := strings.IndexByte(line, '[')
	if from < 0 {
		return made{}, false
	}
	to := strings.IndexByte(line[from:], ']')
	if to < 0 {
		return made{}, false
	}
	at, err := time.Parse(commonTime, line[from+1:from+to])
	if err != nil {
		return made{}, false
	}
	ns, ok := nanos(at)
	return made{at: ns, took: requestTime(line[from+to+1:])}, ok
}

// requestTime is what stands behind the quoted fields of the line; negative: nothing.
func requestTime(rest string) time.Duration {
	last := strings.LastIndexByte(rest, '"')
	if last < 0 || strings.Count(rest, `"`) < 4 { // in the common format that is where status and bytes stand
		return -1
	}
	for _, field := range strings.Fields(rest[last+1:]) {
		field = strings.TrimPrefix(field, "rt=")
		unit := time.Second
		if !strings.ContainsRune(field, '.') {
			unit = time.Microsecond
		}
		if took, ok := tookOf(field, unit); ok {
			return took
		}
	}
	return -1
}

// jsonForm is an object a line.
type jsonForm struct{}

func (jsonForm) ends() bool { return true }

// jsonTimes are the usual names of a call's time, and jsonTooks those of how long it took, with
// their units.
func jsonTimes() []string {
	return []string{"time", "timestamp", "@timestamp", "ts", "time_iso8601", "msec", "start_time", "time_local", "date", "t"}
}

type namedUnit struct {
	name string
	unit time.Duration
}

func jsonTooks() []namedUnit {
	return []namedUnit{
		{"request_time", time.Second}, {"duration", time.Second}, {"duration_seconds", time.Second}, {"elapsed", time.Second}, {"latency", time.Second},
		{"took", time.Second}, {"duration_ms", time.Millisecond}, {"elapsed_ms", time.Millisecond}, {"latency_ms", time.Millisecond},
		{"response_time_ms", time.Millisecond}, {"took_ms", time.Millisecond}, {"duration_us", time.Microsecond}, {"duration_ns", time.Nanosecond},
	}
}

func (jsonForm) read(line string) (made, bool) {
	if !strings.HasPrefix(strings.TrimSpace(line), "{") {
		return made{}, false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &fields) != nil {
		return made{}, false
	}
	for _, name := range jsonTimes() {
		at, ok := timeOf(scalar(fields[name]))
		if !ok {
			continue
		}
		m := made{at: at, took: -1}
		for _, f := range jsonTooks() {
			if took, ok := tookOf(scalar(fields[f.name]), f.unit); ok {
				m.took = took
				break
			}
		}
		if name == "start_time" && m.took > 0 { // of the call, not of its answer
			m.at += int64(m.took)
		}
		return m, true
	}
	return made{}, false
}

// scalar is a JSON string's or number's text; empty: it is neither.
func scalar(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if n := string(raw); n != "" && (n[0] == '-' || n[0] >= '0' && n[0] <= '9') {
		return n
	}
	return ""
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
	if err != nil || n < 0 || strings.HasPrefix(whole, "+") {
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

// tookOf reads a duration: 120ms, or a number of units.
func tookOf(text string, unit time.Duration) (time.Duration, bool) {
	text = strings.Trim(text, `"`)
	if d, err := time.ParseDuration(text); err == nil && text != "0" {
		return d, d >= 0 && d <= longestCall
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || math.IsNaN(n) || n*float64(unit) > float64(longestCall) {
		return 0, false
	}
	return time.Duration(n * float64(unit)), true
}
