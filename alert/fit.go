package alert

import (
	"fmt"
	"strings"
)

// more points to where the whole text is.
const more = "… (more in the report)"

// fit cleans lines and keeps as many as the limit allows: a line that is too
// long is cut at a word, lines that have no room are counted.
func fit(lines []string, limit int, form Form) []string {
	kept, rest := split(lines, limit, form)
	if len(rest) > 0 {
		kept = append(kept, fmt.Sprintf("… and %s in the report", counted(len(rest), "more line")))
	}
	return kept
}

// clause cleans a text that is read in passing, and keeps what fits of it: whole
// parts of its sentence, the first ones, outside of brackets; where not even one
// fits it is cut at a word.
func clause(text string, limit int) string {
	text = clean(text)
	if size(text) <= limit {
		return text
	}
	end, comma, depth, used := 0, 0, 0, 0
	for i, r := range text {
		if used += runeSize(r); used > limit {
			break
		}
		switch ends := depth <= 0 && strings.HasPrefix(text[i:], string(r)+" "); {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case ends && strings.ContainsRune(";:.", r):
			end = i
		case ends && r == ',':
			comma = i
		}
	}
	switch {
	case end > 0:
		return text[:end]
	case comma > 0:
		return text[:comma]
	}
	return shorten(text, limit, "…")
}

// split is fit, with the lines that have no room.
func split(lines []string, limit int, form Form) (kept, rest []string) {
	room := limit - 60 // for the count
	for i, line := range lines {
		if form != FormFixed { // its blanks carry the columns; its cells are cleaned one by one
			line = clean(line)
		}
		if line == "" {
			continue
		}
		line = shorten(line, maxLine, more)
		cost := size(line) + perLine(form)
		if cost > room {
			return kept, lines[i:]
		}
		room -= cost
		kept = append(kept, line)
	}
	return kept, nil
}

// counted says how many there are of something.
func counted(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// perLine is what a renderer adds to a line.
func perLine(form Form) int {
	switch form {
	case FormList:
		return len("• \n")
	case FormText, FormFixed, FormFacts:
		return len("\n")
	}
	return len("\n")
}

// columns aligns rows by blanks. The last cell is not padded.
func columns(rows [][]string) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if i < len(row)-1 {
				widths[i] = max(widths[i], len([]rune(cell)))
			}
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-len([]rune(cell))+2))
			}
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}
