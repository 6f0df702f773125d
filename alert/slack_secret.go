package alert

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scrubber takes secrets out of texts.
type scrubber struct{ secrets []string }

// and knows further secrets. What is short is no secret, and would blot out
// ordinary words.
func (s scrubber) and(parts ...string) scrubber {
	all := slices.Clone(s.secrets)
	for _, part := range parts {
		if len(part) >= 8 && part != "services" && part != "workflows" && !slices.Contains(all, part) {
			all = append(all, part)
		}
	}
	return scrubber{secrets: all}
}

// text is a text without the secrets, however they are written there: who
// echoes one may have put it into a URL, JSON or HTML, and characters that
// nobody sees between its own, which clean takes out again.
func (s scrubber) text(text string) string {
	return s.pass(strings.Map(visible, s.pass(text)))
}

// pass takes the secrets out. The longest goes first: of one that holds another,
// nothing may be left.
func (s scrubber) pass(text string) string {
	secrets := slices.SortedFunc(slices.Values(s.secrets), func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, secret := range secrets {
		text = written(secret).ReplaceAllLiteralString(text, "[secret]")
	}
	return text
}

// written matches a secret in any writing, each character by itself.
func written(secret string) *regexp.Regexp {
	var b strings.Builder
	for _, r := range secret {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			b.WriteRune(r) // nobody writes it otherwise
			continue
		}
		b.WriteString("(?:" + strings.Join(writings(r), "|") + ")")
	}
	return regexp.MustCompile(b.String())
}

// writings are the ways to write a character, as patterns.
func writings(r rune) []string {
	percent := ""
	for _, c := range []byte(string(r)) {
		percent += fmt.Sprintf("%%%02x", c)
	}
	unicode := fmt.Sprintf(`\\u%04x`, r)
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		unicode = fmt.Sprintf(`\\u%04x\\u%04x|\\u%08x`, high, low, r)
	}
	all := []string{
		"(?i:" + percent + ")", "(?i:" + unicode + ")", fmt.Sprintf("&#0*%d;", r), fmt.Sprintf("(?i:&#x0*%x;)", r),
		`\\?` + regexp.QuoteMeta(string(r)), // escaped, as in JSON, or as it is
	}
	if named := html.EscapeString(string(r)); named != string(r) {
		all = append(all, regexp.QuoteMeta(named))
	}
	switch r {
	case ' ':
		all = append(all, `\+`)
	case '"':
		all = append(all, "&quot;")
	case '\'':
		all = append(all, "&apos;")
	case '\t':
		all = append(all, `\\t`)
	case utf8.RuneError: // a byte that is no text
		all = append(all, "(?i:%[0-9a-f]{2})")
	}
	return all
}
