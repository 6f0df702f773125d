package alert

import (
	"strings"
	"unicode/utf8"
)

// width is where running text is wrapped: the usual terminal, with a margin.
const width = 100

// Text renders a notice for a terminal: the same content as Blocks.
func Text(n Notice) string {
	var b strings.Builder
	b.WriteString(n.Title + "\n")
	for _, remark := range n.remarks() {
		wrap(&b, "", "", remark)
	}
	for _, s := range n.Sections {
		b.WriteString("\n" + s.Heading + "\n")
		s.text(&b)
	}
	if len(n.Links)+len(n.Trail) > 0 {
		b.WriteString("\n")
	}
	for _, l := range n.Links {
		b.WriteString("  " + l.Name + ": " + l.URL + "\n")
	}
	if len(n.Trail) > 0 {
		wrap(&b, "  ", "  ", trailWords(n.Trail))
	}
	return b.String()
}

func (s Section) text(b *strings.Builder) {
	for _, f := range s.Facts {
		name := f.Name + strings.Repeat(" ", max(1, 10-utf8.RuneCountInString(f.Name)))
		wrap(b, "  "+name, strings.Repeat(" ", 2+utf8.RuneCountInString(name)), f.Value)
	}
	for _, line := range s.Lines {
		switch s.Form {
		case FormList:
			wrap(b, "  • ", "    ", line)
		case FormFixed:
			b.WriteString("  " + line + "\n")
		case FormText, FormFacts:
			wrap(b, "  ", "  ", line)
		default:
			wrap(b, "  ", "  ", line)
		}
	}
}

// trailWords join where the notice comes from in one line.
func trailWords(trail []Fact) string {
	parts := make([]string, len(trail))
	for i, f := range trail {
		parts[i] = f.Name + " " + f.Value
	}
	return strings.Join(parts, " · ")
}

// wrap writes text between margins; a word is never cut.
func wrap(b *strings.Builder, first, rest, text string) {
	line := first
	used := utf8.RuneCountInString(first)
	empty := true
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		if !empty && used+1+n > width {
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
