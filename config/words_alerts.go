package config

import (
	"strings"
	"time"
	"unicode"
)

// tagTime is YAML's reading of 2027-03-31 without quotes.
const tagTime = "!!timestamp"

// What a day without a time stands for.
const (
	startOfDay = 0
	endOfDay   = 24 * time.Hour
)

// instant is a time, or a day in UTC, to which its edge is added: a silence from
// a day begins with it, one until a day ends after it.
func instant(edge time.Duration) value {
	const want = "a day such as 2027-03-31, or a time such as 2027-03-31T15:00:00Z"
	return value{
		want: want, tags: []string{tagText, tagTime}, units: noUnit,
		schema: map[string]any{"type": "string", "pattern": `^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2}))?$`},
		parse: func(s string) (any, *trouble) {
			if day, err := time.Parse(time.DateOnly, s); err == nil {
				return day.Add(edge), nil
			}
			at, err := time.Parse(time.RFC3339, s)
			if err != nil {
				return nil, &trouble{"", want}
			}
			return at.UTC(), nil
		},
	}
}

// between bounds idle ages, both ends included.
type between struct{ From, To time.Duration }

// idleRange is two durations with their units.
func idleRange() value {
	const want = "two durations such as 55s..65s, the shorter first"
	return value{
		want: want, tags: []string{tagText}, units: noUnit,
		schema: map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+\.\.([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$`},
		parse: func(s string) (any, *trouble) {
			low, high, two := strings.Cut(s, "..")
			if !two || low == "" || high == "" {
				return nil, &trouble{"", want}
			}
			from, t := parseDuration(low)
			to, t2 := parseDuration(high)
			if t != nil || t2 != nil || from > to || to <= 0 || to > 24*time.Hour {
				return nil, &trouble{"", want + ", at most 24h"}
			}
			return between{from, to}, nil
		},
	}
}

// matchPattern says which probes are meant. A name's signs, * for any number of
// them, ? for one.
func matchPattern() value {
	v := matching(`target, target/probe, or a pattern with * and ?, such as stock-api/*`, `^[a-z0-9*?-]+(/[a-z0-9*?-]+)?$`, func(s string) bool {
		target, probe, whole := strings.Cut(s, "/")
		const signs = "abcdefghijklmnopqrstuvwxyz0123456789-*?"
		return len(s) <= 4*maxName && target != "" && strings.Trim(target, signs) == "" &&
			whole == (probe != "") && strings.Trim(probe, signs) == ""
	})
	return v
}

// channel is one of Slack's, by name or id.
func channel() value {
	const most = 81 // the #, and Slack's 80
	v := matching(`a channel such as "#stock", in quotes, or its id`, `^#?[^\s#@,]{1,80}$`, func(s string) bool {
		name := strings.TrimPrefix(s, "#")
		return name != "" && len([]rune(s)) <= most && strings.IndexFunc(name, func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune("#@,", r) || !unicode.IsPrint(r)
		}) < 0
	})
	v.without = `put it in quotes: YAML takes what begins with # for a comment`
	return v
}

// objectName is the name of an object in Kubernetes.
func objectName() value {
	return matching("a ConfigMap's name, such as perch-state", `^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`, func(s string) bool {
		const ends = "abcdefghijklmnopqrstuvwxyz0123456789"
		return s != "" && len(s) <= 253 && strings.Trim(s, ends+"-.") == "" &&
			strings.ContainsRune(ends, rune(s[0])) && strings.ContainsRune(ends, rune(s[len(s)-1]))
	})
}

// noUnit: there is no unit, nor are quotes what a bare number lacks.
func noUnit(string) []string { return nil }
