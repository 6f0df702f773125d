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
	synonyms := map[string]string{
		"off": "none", "no": "none", "false": "none", "disabled": "none", "unlimited": "none", "infinite": "none", "0": "none", "-1": "none",
		"on": "always", "yes": "always", "true": "always", "timeout": "timeouts", "interval": "every", "schedule": "every", "hold": "holds",
		"endpoint": "url", "type": "kind", "assert": "expect", "expectations": "expect",
	}
	folded := fold(s)
	best, distance := "", 3
	for _, c := range candidates {
		if fold(c) == folded {
			return c
		}
		if synonym := synonyms[strings.ToLower(s)]; synonym == c || synonym == "none" && c == "never" {
			return c
		}
		// One edit in a short word is already another word.
		if d := edits(folded, fold(c)); d < distance && d*4 <= len(c) {
			best, distance = c, d
		}
	}
	return best
}

func fold(s string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(s))
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
