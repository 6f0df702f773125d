package slackpicture

import (
	"strings"
)

// style is how a piece of text is set.
type style struct {
	size              float64 // in pixels
	bold, fixed, grey bool
	link, code        bool // code: in a line, on a tinted ground
}

// piece is text in one style.
type piece struct {
	text string
	style
}

const fence = "```"

// part is a paragraph, or a block of code.
type part struct {
	code   bool
	pieces []piece // a paragraph's; a line feed in them ends a line
	lines  []string
}

// read takes Slack's markup apart: bold, code, links, fences, and the three
// letters that are escaped.
func read(text string, base style) []part {
	var parts []part
	for i, section := range strings.Split(text, fence) {
		if i%2 == 1 {
			lines := strings.Split(strings.Trim(section, "\n"), "\n")
			for n := range lines {
				lines[n] = unescape(lines[n])
			}
			parts = append(parts, part{code: true, lines: lines})
			continue
		}
		if section = strings.Trim(section, "\n"); section != "" {
			parts = append(parts, part{pieces: inline(section, base)})
		}
	}
	return parts
}

// inline reads one paragraph.
func inline(text string, base style) []piece {
	var pieces []piece
	plain := func(s string) {
		if s != "" {
			pieces = append(pieces, piece{unescape(s), base})
		}
	}
	from := 0
	for at := 0; at < len(text); at++ {
		inside, after, ok := enclosed(text, at)
		if !ok {
			continue
		}
		s := base
		switch text[at] {
		case '*':
			s.bold = true
		case '`':
			s.fixed, s.code, s.size = true, true, base.size-1
		case '<':
			s.link = true
			if _, name, named := strings.Cut(inside, "|"); named {
				inside = name
			}
		}
		plain(text[from:at])
		pieces = append(pieces, piece{unescape(inside), s})
		from, at = after, after-1
	}
	plain(text[from:])
	return pieces
}

// enclosed finds what stands between a mark at a place and its end on the same
// line. A star is one only around whole words, as in Slack.
func enclosed(text string, at int) (inside string, after int, ok bool) {
	end := map[byte]string{'*': "*", '`': "`", '<': ">"}[text[at]]
	if end == "" || text[at] == '*' && at > 0 && text[at-1] != ' ' && text[at-1] != '\n' {
		return "", 0, false
	}
	rest := text[at+1:]
	stop := strings.Index(rest, end)
	if stop <= 0 || strings.Contains(rest[:stop], "\n") {
		return "", 0, false
	}
	return rest[:stop], at + 1 + stop + len(end), true
}

func unescape(text string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(text)
}

// wrap breaks pieces into lines that are no wider than room, at blanks where
// it can.
func (w widths) wrap(pieces []piece, room float64) [][]piece {
	var lines [][]piece
	for _, row := range rows(pieces) {
		var line []piece
		used := 0.0
		place := func(p piece, bare float64) {
			if used > 0 && used+bare > room {
				lines = append(lines, line)
				line, used = nil, 0
			}
			line = join(line, p)
			used += w.of(p.text, p.style)
		}
		for _, unit := range units(row) {
			bare := w.bare(unit)
			for n, p := range unit {
				for _, fitting := range w.chop(p.text, p.style, room) {
					first := w.of(strings.TrimRight(fitting, " "), p.style)
					if n == 0 && bare <= room {
						first = bare // what has no blank in between stays together
					}
					place(piece{fitting, p.style}, first)
				}
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// bare is how wide pieces are, without the blanks behind the last one.
func (w widths) bare(unit []piece) float64 {
	sum := 0.0
	for n, p := range unit {
		if n == len(unit)-1 {
			p.text = strings.TrimRight(p.text, " ")
		}
		sum += w.of(p.text, p.style)
	}
	return sum
}

// rows are the pieces between line ends.
func rows(pieces []piece) [][]piece {
	all := [][]piece{nil}
	for _, p := range pieces {
		for i, text := range strings.Split(p.text, "\n") {
			if i > 0 {
				all = append(all, nil)
			}
			all[len(all)-1] = append(all[len(all)-1], piece{text, p.style})
		}
	}
	return all
}

// units are a row's words, each with the blanks behind it: a word may be set in
// several styles, as code between brackets is.
func units(row []piece) [][]piece {
	var all [][]piece
	open := false
	for _, p := range row {
		for _, word := range words(p.text) {
			if !open {
				all = append(all, nil)
			}
			all[len(all)-1] = append(all[len(all)-1], piece{word, p.style})
			open = !strings.HasSuffix(word, " ")
		}
	}
	return all
}

// join adds a piece to a line, to the last one where it is set alike.
func join(line []piece, p piece) []piece {
	if last := len(line) - 1; last >= 0 && line[last].style == p.style {
		line[last].text += p.text
		return line
	}
	return append(line, p)
}

// words are a row's words, each with the blanks behind it.
func words(row string) []string {
	var all []string
	from := 0
	for at := 1; at < len(row); at++ {
		if row[at-1] == ' ' && row[at] != ' ' {
			all = append(all, row[from:at])
			from = at
		}
	}
	if row != "" {
		all = append(all, row[from:])
	}
	return all
}

// chop breaks a word that is wider than a line.
func (w widths) chop(word string, s style, room float64) []string {
	var all []string
	letters := []rune(word)
	for len(letters) > 0 {
		n := len(letters)
		for n > 1 && w.of(strings.TrimRight(string(letters[:n]), " "), s) > room {
			n--
		}
		all = append(all, string(letters[:n]))
		letters = letters[n:]
	}
	return all
}
