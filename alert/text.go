package alert

import (
	"strings"
	"unicode/utf8"
)

// width is where running text is wrapped: the usual terminal, with a margin.
const width = 100

// sheet is text that is wrapped at its columns.
type sheet struct {
	strings.Builder
	columns int
}

// Text renders a notice for a terminal: the same content as Blocks.
func Text(n Notice) string { return TextIn(n, width) }

// TextIn is Text for a terminal of that many columns; 0: 100, never less than
// 40. The rows of a ladder stay whole.
func TextIn(n Notice, columns int) string {
	const least = 40
	if columns == 0 {
		columns = width
	}
	b := sheet{columns: max(columns, least)}
	b.WriteString(n.Title + "\n")
	for _, remark := range n.remarks() {
		wrap(&b, "", "", remark)
	}
	for _, s := range n.Sections {
		wrap(&b, "", "  ", s.Heading)
		s.text(&b)
	}
	for _, l := range n.Links {
		b.WriteString("  " + l.Name + ": " + l.URL + "\n")
	}
	if len(n.Trail) > 0 {
		wrap(&b, "  ", "  ", factWords(n.Trail))
	}
	return b.String()
}

func (s Section) text(b *sheet) {
	if len(s.Facts) > 0 {
		wrap(b, "  ", "  ", factWords(s.Facts))
	}
	for _, line := range s.Lines {
		switch s.Form {
		case FormList:
			wrap(b, "  "+bullet(line), "    ", line)
		case FormFixed:
			b.WriteString("  " + line + "\n")
		case FormText, FormFacts:
			wrap(b, "  ", "  ", line)
		default:
			wrap(b, "  ", "  ", line)
		}
	}
}

// bullet stands before a point of a list; one that is numbered ("1. ...",
// "1b. ...") has its sign.
func bullet(line string) string {
	number, _, found := strings.Cut(line, ". ")
	if found && number != "" && strings.Trim(number, "0123456789abc") == "" && number[0] >= '0' && number[0] <= '9' {
		return ""
	}
	return "• "
}

// factWords join names and values in one line.
func factWords(facts []Fact) string {
	parts := make([]string, len(facts))
	for i, f := range facts {
		parts[i] = f.Name + " " + f.Value
	}
	return strings.Join(parts, " · ")
}

// wrap writes text between margins, at most as wide as the sheet; a word is never cut, and a number keeps its
// unit.
func wrap(b *sheet, first, rest, text string) {
	line := first
	used := utf8.RuneCountInString(first)
	empty := true
	for _, word := range words(text) {
		n := utf8.RuneCountInString(word)
		if !empty && used+1+n > b.columns {
			b.WriteString(line + "\n")
			line, used, empty = rest, utf8.RuneCountInString(rest), true
		}
		if !empty {
			line += " "
			used++
		}
		line += word
		used += n
		empty = false
	}
	b.WriteString(line + "\n")
}

// words splits at blanks, but not between a number and its unit.
func words(text string) []string {
	var out []string
	for _, word := range strings.Fields(text) {
		last := len(out) - 1
		if last >= 0 && strings.ContainsAny(out[last][len(out[last])-1:], "0123456789") && isUnit(word) {
			out[last] += " " + word
			continue
		}
		out = append(out, word)
	}
	return out
}

func isUnit(word string) bool {
	switch strings.TrimRight(word, ".,;:)") {
	case "ms", "s", "min", "h", "d":
		return true
	}
	return false
}
