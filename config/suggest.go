package config

import "strings"

// didYouMean ends a message with the candidate that was probably meant; empty
// when none is near.
func didYouMean(s string, candidates []string) string {
	if best := nearest(s, candidates); best != "" {
		return `; did you mean "` + best + `"?`
	}
	return ""
}

// nearest returns the candidate that s was probably meant to be: the same but
// for case and separators, a word people use for it, or a few edits away. Empty
// when none is.
func nearest(s string, candidates []string) string {
	said, meant := fold(s), synonym(s)
	best, distance := "", 3
	for _, c := range candidates {
		candidate := fold(c)
		if candidate == said {
			return c
		}
		if meant == c || meant == "none" && c == "never" {
			return c
		}
		// One edit in a short word is already another word.
		if d := edits(said, candidate); d < distance && d*4 <= len(c) {
			best, distance = c, d
		}
	}
	return best
}

// synonym is perch's word for one that people use; empty: it knows none.
func synonym(s string) string {
	switch strings.ToLower(s) {
	case "off", "no", "false", "disabled", "unlimited", "infinite", "0", "-1":
		return "none"
	case "on", "yes", "true":
		return "always"
	case "timeout":
		return "timeouts"
	case "interval", "schedule":
		return "every"
	case "hold":
		return "holds"
	case "endpoint":
		return "url"
	case "type":
		return "kind"
	case "assert", "expectations":
		return "expect"
	}
	return ""
}

func fold(s string) string { return without(strings.ToLower(s), "-_. ") }

// without is s less some signs.
func without(s, signs string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(signs, r) {
			return -1
		}
		return r
	}, s)
}

// edits is the Levenshtein distance, at most 3 for what is much longer.
func edits(a, b string) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 3
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
