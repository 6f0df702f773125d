package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"perch.example/probes"
)

const (
	tagText  = "!!str"
	tagInt   = "!!int"
	tagFloat = "!!float"
	tagBool  = "!!bool"
	tagNull  = "!!null"
)

// maxText is far above any sensible value and far below a mistake that hurts.
const maxText = 8 << 10

// text is any text of one line.
func text(want string) value {
	return value{
		want: want, tags: []string{tagText}, parse: parseText,
		schema: map[string]any{"type": "string"},
	}
}

func parseText(s string) (any, *trouble) {
	if len(s) > maxText {
		return nil, &trouble{fmt.Sprintf("is %d bytes long", len(s)), "want at most 8192"}
	}
	if i := strings.IndexFunc(s, isControl); i >= 0 {
		return nil, &trouble{fmt.Sprintf("holds a control character at byte %d", i+1), "want one line of text"}
	}
	return s, nil
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }

// word is one of a few words.
func word(words ...string) value {
	return value{
		want: oneOf(words), tags: []string{tagText}, words: words,
		schema: map[string]any{"enum": words},
		parse: func(s string) (any, *trouble) {
			if slices.Contains(words, s) {
				return s, nil
			}
			return nil, &trouble{"", oneOf(words) + didYouMean(s, words)}
		},
	}
}

func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// count is a whole number.
func count(least, most int) value {
	want := fmt.Sprintf("a whole number from %d to %d", least, most)
	return value{
		want: want, tags: []string{tagInt},
		schema: map[string]any{"type": "integer", "minimum": least, "maximum": most},
		parse: func(s string) (any, *trouble) {
			n, err := strconv.Atoi(s)
			if err != nil || n < least || n > most {
				return nil, &trouble{"", want}
			}
			return n, nil
		},
	}
}

// boolean is true or false.
func boolean() value {
	return value{
		want: "true or false", tags: []string{tagBool},
		schema: map[string]any{"type": "boolean"},
		parse: func(s string) (any, *trouble) {
			b, err := strconv.ParseBool(s)
			if err != nil {
				return nil, &trouble{"", "true or false"}
			}
			return b, nil
		},
	}
}

// duration is a length of time with its unit.
func duration(least, most time.Duration) value {
	want := fmt.Sprintf("a duration from %s to %s", probes.Spoken(least), probes.Spoken(most))
	return value{
		want: want, tags: []string{tagText},
		schema: map[string]any{"type": "string", "pattern": durationsBetween(least, most)},
		parse: func(s string) (any, *trouble) {
			d, t := parseDuration(s)
			if t != nil {
				if t.problem == "is negative" {
					t.fix = "want " + want
				}
				return nil, t
			}
			if d < least || d > most {
				return nil, &trouble{"", want}
			}
			return d, nil
		},
	}.numbered(durationUnits)
}

// durationUnits: most clients count in milliseconds, most proxies in seconds,
// and a large number is likelier to be the former.
func durationUnits(bare string) []string {
	if n, ok := number(bare); ok && n >= 100 {
		return []string{bare + "ms", bare + "s"}
	}
	return []string{bare + "s", bare + "ms"}
}

func parseDuration(s string) (time.Duration, *trouble) {
	d, err := time.ParseDuration(s)
	switch {
	case strings.HasPrefix(s, "-"):
		return 0, &trouble{"is negative", ""}
	case err != nil && strings.HasSuffix(s, "d") && plain(strings.TrimSuffix(s, "d")):
		return 0, &trouble{"has no unit that perch knows", "write days in hours: 24h"}
	case err != nil, s == "0", s[0] < '0', s[0] > '9': // ParseDuration takes "0", "+1s" and ".5s"
		return 0, &trouble{"", "a duration such as 300ms, 30s, 5m or 1h30m"}
	}
	return d, nil
}

// durationOr is a duration, or one of a few words that stand for a value.
func durationOr(least, most time.Duration, words map[string]any, wrap func(time.Duration) any) value {
	names := slices.Sorted(maps.Keys(words))
	base := duration(least, most)
	v := base
	v.words = names
	v.want = oneOf(names) + ", or " + base.want
	v.schema = map[string]any{"anyOf": []any{map[string]any{"enum": names}, base.schema}}
	v.parse = func(s string) (any, *trouble) {
		if known, ok := words[s]; ok {
			return known, nil
		}
		d, t := base.parse(s)
		if t != nil {
			if t.problem == "" || t.problem == "is negative" {
				t.problem, t.fix = "", v.want+didYouMean(s, names)
			}
			return nil, t
		}
		return wrap(d.(time.Duration)), nil
	}
	return v
}

// plain reports whether s is an unsigned decimal number: neither hexadecimal,
// nor an exponent, nor NaN, all of which strconv would take.
func plain(s string) bool {
	digits := strings.Count(s, ".") <= 1 && strings.Trim(s, ".") != ""
	return digits && strings.Trim(s, "0123456789.") == ""
}

func number(s string) (float64, bool) {
	if !plain(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && !math.IsInf(f, 0)
}

const maxRate = 10_000 // a second: far above what a canary may need

// rate is requests in a time; its value is requests per second.
func rate() value {
	const want = "a rate such as 20/s, 100/m or 1000/h, above 0 and at most 10000/s"
	return value{
		want: want, tags: []string{tagText},
		schema: map[string]any{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)?/(s|m|h)$`},
		parse: func(s string) (any, *trouble) {
			amount, unit, _ := strings.Cut(s, "/")
			n, ok := number(amount)
			per := map[string]float64{"s": 1, "m": 60, "h": 3600}[unit]
			switch {
			case !ok || per == 0 || n <= 0 || n/per > maxRate || n/per < 1.0/86400:
				return nil, &trouble{"", want}
			}
			return n / per, nil
		},
	}.numbered(func(bare string) []string { return []string{bare + "/s"} })
}

// percent is a share; its value is the fraction.
func percent() value {
	const want = "a share above 0% and at most 100%, such as 5%"
	return value{
		want: want, tags: []string{tagText},
		schema: map[string]any{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)?%$`},
		parse: func(s string) (any, *trouble) {
			amount, marked := strings.CutSuffix(s, "%")
			n, ok := number(amount)
			switch {
			case !ok || !marked || n < 0.001 || n > 100:
				return nil, &trouble{"", want}
			}
			return n / 100, nil
		},
	}.numbered(percentUnits)
}

// percentUnits: a number below 1 is likelier to be a fraction; 1 may be all or
// little, and the little comes first.
func percentUnits(bare string) []string {
	n, ok := number(bare)
	if !ok || n > 1 {
		return []string{bare + "%"}
	}
	fraction := strconv.FormatFloat(math.Round(n*1e7)/1e5, 'f', -1, 64) + "%"
	if n < 1 {
		return []string{fraction, bare + "%"}
	}
	return []string{bare + "%", fraction}
}

// size is a number of bytes.
func size(least, most int64) value {
	want := "a size such as 512KiB or 1MiB, at most " + strconv.FormatInt(most>>20, 10) + "MiB"
	return value{
		want: want, tags: []string{tagText},
		schema: map[string]any{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)?(B|KiB|MiB)$`},
		parse: func(s string) (any, *trouble) {
			amount := s[:len(s)-len(strings.TrimLeft(s, "0123456789."))]
			n, ok := number(amount)
			factor := map[string]float64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}[s[len(amount):]]
			switch {
			case !ok || factor == 0:
				return nil, &trouble{"", want}
			case n*factor < float64(least) || n*factor > float64(most):
				return nil, &trouble{"", want}
			}
			return int64(n * factor), nil
		},
	}.numbered(func(bare string) []string { return []string{bare + "B"} })
}
