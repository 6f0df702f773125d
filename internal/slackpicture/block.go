package slackpicture

import (
	"fmt"
	"strings"
)

// block is what is drawn of a block of Slack's.
type block struct {
	Type     string
	Text     *text
	Fields   []text
	Elements []text
}

type text struct{ Type, Text string }

func (p *page) block(b block) error {
	switch b.Type {
	case "header":
		p.paragraph([]piece{{b.Text.Text, style{size: 18, bold: true}}})
	case "section":
		if b.Text != nil {
			p.markup(b.Text.Text, style{size: bodySize})
		}
		p.fields(b.Fields)
	case "context":
		for _, e := range b.Elements {
			p.markup(e.Text, style{size: smallSize, grey: true})
		}
	default:
		return fmt.Errorf("a block of type %q: there is no picture of such", b.Type)
	}
	p.y += gap * .75
	return nil
}

func (p *page) markup(source string, base style) {
	for _, part := range read(source, base) {
		if part.code {
			p.code(part.lines)
			continue
		}
		p.paragraph(part.pieces)
	}
}

// fields are two columns, row by row.
func (p *page) fields(fields []text) {
	left, column := p.left, (p.room()-2*gap)/2
	for i := 0; i < len(fields); i += 2 {
		top, bottom := p.y, p.y
		for c, f := range fields[i:min(i+2, len(fields))] {
			p.y, p.left = top, left+float64(c)*(column+2*gap)
			for _, part := range read(f.Text, style{size: bodySize}) {
				for _, line := range p.w.wrap(part.pieces, column) {
					p.line(line)
				}
			}
			bottom = max(bottom, p.y)
		}
		p.y, p.left = bottom+gap/2, left
	}
}

func (p *page) paragraph(pieces []piece) {
	for _, line := range p.w.wrap(pieces, p.room()) {
		p.line(line)
	}
}

// code is a box of lines that keep their blanks.
func (p *page) code(lines []string) {
	s := style{size: fixedSize, fixed: true}
	var rows [][]piece
	for _, line := range lines {
		rows = append(rows, p.w.wrap([]piece{{line, s}}, p.room()-2*gap)...)
	}
	p.y += gap / 2
	height := float64(len(rows))*fixedSize*lead + 2*gap
	fmt.Fprintf(&p.out, `<rect class="box" x="%g" y="%.1f" width="%g" height="%.1f" rx="4"/>`+"\n", p.left, p.y, p.room(), height)
	p.y += gap
	p.left += gap
	for _, row := range rows {
		p.line(row)
	}
	p.left -= gap
	p.y += gap * 1.5
}

// line sets pieces beside each other, without a look at their width.
func (p *page) line(pieces []piece) {
	size := 0.0
	for _, piece := range pieces {
		size = max(size, piece.size)
	}
	if size == 0 { // an empty line
		p.y += bodySize * lead
		return
	}
	p.y += size * lead
	fmt.Fprintf(&p.out, `<text x="%g" y="%.1f" font-size="%g">`, p.left, p.y-size*(lead-1)*.75, size)
	for _, piece := range pieces {
		p.out.WriteString(span(piece, size))
	}
	p.out.WriteString("</text>\n")
}

func span(p piece, size float64) string {
	var classes []string
	for _, c := range []struct {
		on   bool
		name string
	}{{p.bold, "b"}, {p.fixed, "f"}, {p.grey, "g"}, {p.link, "l"}, {p.code, "c"}} {
		if c.on {
			classes = append(classes, c.name)
		}
	}
	var attributes string
	if len(classes) > 0 {
		attributes = ` class="` + strings.Join(classes, " ") + `"`
	}
	if p.size != size {
		attributes += fmt.Sprintf(` font-size="%g"`, p.size)
	}
	if attributes == "" {
		return escape(p.text)
	}
	return "<tspan" + attributes + ">" + escape(p.text) + "</tspan>"
}
