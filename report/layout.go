package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"perch.example/probes"
)

// Style says how text is to look. The zero value is plain text, 100 wide.
type Style struct {
	Color bool // escape codes for colour; every colour has a word beside it
	Width int  // columns at which text is wrapped; 0: 100, never less than 40
}

func (s Style) columns() int {
	const usual, least = 100, 40
	if s.Width == 0 {
		return usual
	}
	return max(s.Width, least)
}

// ink is what a piece of text means; a terminal shows it as a colour.
type ink int

const (
	inkPlain ink = iota
	inkStrong
	inkFaint
	inkGood
	inkWarn
	inkBad
	inkOdd // perch could not judge
)

func (i ink) code() string {
	switch i {
	case inkPlain:
		return ""
	case inkStrong:
		return "1"
	case inkFaint:
		return "2"
	case inkGood:
		return "32"
	case inkWarn:
		return "33"
	case inkBad:
		return "1;31"
	case inkOdd:
		return "35"
	}
	return ""
}

func verdictInk(v probes.Verdict) ink {
	switch v {
	case probes.VerdictPass:
		return inkGood
	case probes.VerdictDegraded:
		return inkWarn
	case probes.VerdictFail:
		return inkBad
	case probes.VerdictSkipped:
		return inkFaint
	case probes.VerdictIncomplete:
		return inkOdd
	}
	return inkOdd
}

// span is a piece of a line.
type span struct {
	ink  ink
	text string
}

func plain(text string) span { return span{inkPlain, text} }

// padded returns the span filled up with blanks to n cells.
func (s span) padded(n int) span {
	s.text = clean(s.text)
	s.text += strings.Repeat(" ", max(0, n-width(s.text)))
	return s
}

// page collects lines. Every text passes clean on its way in, so that no
// caller can forget it.
type page struct {
	style Style
	out   strings.Builder
}

// line adds one line; blanks at its end are dropped.
func (p *page) line(spans ...span) {
	spans = slices.Clone(spans)
	for i := len(spans) - 1; i >= 0; i-- {
		spans[i].text = strings.TrimRight(clean(spans[i].text), " ")
		if spans[i].text != "" {
			break
		}
	}
	for _, s := range spans {
		p.out.WriteString(p.style.paint(s))
	}
	p.out.WriteByte('\n')
}

func (s Style) paint(t span) string {
	text, code := strings.ReplaceAll(clean(t.text), unbroken, " "), t.ink.code()
	if !s.Color || code == "" || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// gap adds an empty line, unless there is one already.
func (p *page) gap() {
	if text := p.out.String(); text != "" && !strings.HasSuffix(text, "\n\n") {
		p.line()
	}
}

// hang adds text behind a head, wrapped, each further line indented as far as
// the first one's text.
func (p *page) hang(head []span, text span) {
	const least, below = 26, 6 // a narrower column is not read; the text goes below its head
	indent := 0
	for _, s := range head {
		indent += width(clean(s.text))
	}
	if p.style.columns()-indent < least {
		p.line(head...)
		head, indent = []span{plain(strings.Repeat(" ", below))}, below
	}
	for i, l := range wrap(text.text, p.style.columns()-indent) {
		if i > 0 {
			head = []span{plain(strings.Repeat(" ", indent))}
		}
		p.line(append(head[:len(head):len(head)], span{text.ink, l})...)
	}
}

// The left edge of what belongs to a probe, and the column in which the text
// beside a label begins.
const (
	margin     = "  "
	labelWidth = 15
)

// field adds a label and the text beside it; an empty label goes on with the
// field above.
func (p *page) field(label string, text span) {
	p.hang([]span{plain(margin), span{inkStrong, label}.padded(labelWidth)}, text)
}

// flush writes the page.
func (p *page) flush(w io.Writer) error {
	if _, err := io.WriteString(w, p.out.String()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// wrap breaks text at blanks into lines of at most n cells. A word that is
// longer stands alone: URLs and ids must stay whole to be copied.
func wrap(text string, n int) []string {
	var lines []string
	line := ""
	for _, word := range words(clean(text)) {
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) > n:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// unbroken is a blank at which no line is broken.
const unbroken = "\u00a0"

// words splits at blanks, but keeps a number and its unit together.
func words(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' }) {
		if last := len(out) - 1; last >= 0 && endsInDigit(out[last]) && isUnit(w) {
			out[last] += " " + w
			continue
		}
		out = append(out, w)
	}
	return out
}

func endsInDigit(s string) bool {
	c := s[len(s)-1]
	return c >= '0' && c <= '9'
}

func isUnit(s string) bool {
	switch strings.TrimRight(s, ".,;:)") {
	case "ms", "s", "min", "h", "bytes", "requests":
		return true
	}
	return false
}

// listed joins like a sentence does: a, b and c.
func listed(items []string) string {
	switch len(items) {
	case 0:
		return ""
	case 1:
		return items[0]
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}

// counted says "1 probe", "3 probes".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
