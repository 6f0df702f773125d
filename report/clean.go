package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text safe to print. A server chooses much of what perch shows
// (status lines, certificate names, header values, what an error quotes), and
// a terminal obeys control characters: they could move the cursor over an
// earlier line, set the window's title or turn the reading direction. What is
// not printable is therefore spelled out (\x1b, \u202e), white space of any
// kind becomes a blank.
func clean(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1: // a raw byte: 0x9b alone is an escape code to some terminals
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(r), string(r) == unbroken:
			b.WriteRune(r)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		default:
			b.WriteString(spelled(r))
		}
		i += size
	}
	return b.String()
}

func spelled(r rune) string {
	switch {
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	default:
		return fmt.Sprintf(`\U%08x`, r)
	}
}

// width is how many terminal cells a cleaned text takes. Names and messages
// may be Japanese: such characters take two cells, combining marks none.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += cells(r)
	}
	return n
}

func cells(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && r <= 0x115f, // Hangul Jamo
		r >= 0x2e80 && r <= 0xa4cf,   // CJK, Kana, Yi
		r >= 0xac00 && r <= 0xd7a3,   // Hangul
		r >= 0xf900 && r <= 0xfaff,   // CJK compatibility
		r >= 0xfe30 && r <= 0xfe6f,   // CJK forms
		r >= 0xff00 && r <= 0xff60,   // full-width forms
		r >= 0xffe0 && r <= 0xffe6,   // full-width signs
		r >= 0x1f300 && r <= 0x1faff, // pictographs
		r >= 0x20000 && r <= 0x3fffd: // CJK extensions
		return 2
	}
	return 1
}

// cut shortens a cleaned text to at most n cells.
func cut(s string, n int) string {
	if width(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	used := 0
	for i, r := range s {
		if used+cells(r) > n-1 {
			return s[:i] + "…"
		}
		used += cells(r)
	}
	return s
}
