package probes

import (
	"regexp"
	"strings"
)

// JoinAdvice joins the advice of several outcomes of one finding, the first's first.
// What asks for the same with other numbers is said once, with the numbers of the
// first: two probes of one path measure its timeout a few milliseconds apart.
func JoinAdvice(lists ...[]string) []string {
	var out []string
	seen := map[string]bool{}
	shape := newAdviceShape()
	for _, list := range lists {
		said := make([]string, len(list))
		for i, text := range list {
			said[i] = shape.of(text)
			if !seen[said[i]] {
				out = append(out, text)
			}
		}
		for _, s := range said { // only now: two steps of one outcome are never the same
			seen[s] = true
		}
	}
	return out
}

// adviceShape finds what a text asks for.
type adviceShape struct{ step, quantity *regexp.Regexp }

func newAdviceShape() adviceShape {
	return adviceShape{
		step:     regexp.MustCompile(`^[0-9]+[a-z]?\. `),
		quantity: regexp.MustCompile(`[0-9][0-9.]*( ?(ms|s|min|m|h|days)\b|\*time\.(Millisecond|Second|Minute|Hour)\b)?`),
	}
}

// of is the text's first sentence, without the number of the step, which is the
// second of several in one outcome and alone in another, and without quantities.
// What follows says how its numbers come about, which is worded by what was
// measured: rounded or not, with a spread or without.
func (a adviceShape) of(text string) string {
	text = a.step.ReplaceAllString(text, "")
	return strings.TrimSpace(a.quantity.ReplaceAllString(firstSentence(text), ""))
}

// firstSentence ends at the first full stop that is not in code.
func firstSentence(text string) string {
	code := false
	for i, r := range text {
		switch {
		case r == '`':
			code = !code
		case !code && strings.HasPrefix(text[i:], ". "):
			return text[:i+1]
		}
	}
	return text
}
