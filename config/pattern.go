package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// durationsBetween is the pattern of durations, both bounds included. It keeps
// them for what people write, a whole number with one unit; of what has several
// units, a fraction or a unit below 1 ms it only knows the form, and Load the
// rest.
func durationsBetween(least, most time.Duration) string {
	forms := []string{`([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h)){2,}`, `[0-9]+\.[0-9]+(ms|s|m|h)`, `[0-9]+(\.[0-9]+)?(ns|us)`}
	for _, unit := range []struct {
		name string
		is   time.Duration
	}{{"ms", time.Millisecond}, {"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}} {
		from, to := (least+unit.is-1)/unit.is, most/unit.is
		if from <= to {
			forms = append(forms, "0*("+strings.Join(numbersBetween(int64(from), int64(to)), "|")+")"+unit.name)
		}
	}
	return "^(" + strings.Join(forms, "|") + ")$"
}

// numbersBetween are patterns of the whole numbers from..to, 0 or more, without
// leading zeros.
func numbersBetween(from, to int64) []string {
	low, high := strconv.FormatInt(from, 10), strconv.FormatInt(to, 10)
	var all []string
	for len(low) < len(high) {
		all = append(all, digitsBetween(low, strings.Repeat("9", len(low)))...)
		low = "1" + strings.Repeat("0", len(low))
	}
	return append(all, digitsBetween(low, high)...)
}

// digitsBetween is numbersBetween for texts of one length.
func digitsBetween(low, high string) []string {
	rest := len(low) - 1
	zeros, nines := strings.Repeat("0", rest), strings.Repeat("9", rest)
	switch {
	case low[1:] == zeros && high[1:] == nines:
		return []string{class(low[0], high[0]) + anyDigits(rest)}
	case low[0] == high[0]:
		return led(low[0], digitsBetween(low[1:], high[1:]))
	}
	all := led(low[0], digitsBetween(low[1:], nines))
	if high[0]-low[0] > 1 {
		all = append(all, class(low[0]+1, high[0]-1)+anyDigits(rest))
	}
	return append(all, led(high[0], digitsBetween(zeros, high[1:]))...)
}

func led(digit byte, patterns []string) []string {
	all := make([]string, len(patterns))
	for i, p := range patterns {
		all[i] = string(digit) + p
	}
	return all
}

func class(low, high byte) string {
	if low == high {
		return string(low)
	}
	return fmt.Sprintf("[%c-%c]", low, high)
}

func anyDigits(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "[0-9]"
	}
	return fmt.Sprintf("[0-9]{%d}", n)
}
