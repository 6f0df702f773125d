// Package slackpicture draws what a channel of Slack holds, much as Slack shows
// it, as an SVG that needs nothing else: for the documentation.
package slackpicture

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"slices"
	"strings"

	"perch.example/internal/slackfake"
	"perch.example/internal/slackstory"
)

// The page, in pixels.
const (
	pageWidth = 880
	margin    = 16
	avatar    = 36
	indent    = 28 // of a reply
	gap       = 8
	bodySize  = 15
	smallSize = 12
	fixedSize = 12
	lead      = 1.47 // a line's height, by its size
	shown     = 0.6  // of an uploaded picture's size
)

// page is a picture that grows downwards.
type page struct {
	w    widths
	y    float64
	out  strings.Builder
	left float64 // where the text begins
}

func (p *page) room() float64 { return pageWidth - margin - p.left }

// Draw gives a scene's picture. It fails for a block that it cannot draw.
func Draw(s slackstory.Scene) ([]byte, error) {
	p := &page{w: newWidths(), y: margin}
	for _, root := range s.Messages {
		if root.Thread != "" {
			continue
		}
		if err := p.conversation(root, s); err != nil {
			return nil, fmt.Errorf("drawing %q: %w", s.Name, err)
		}
	}
	return p.finish(s), nil
}

// conversation draws a root and its thread, from the scene's first reply on.
func (p *page) conversation(root slackfake.Message, s slackstory.Scene) error {
	if err := p.message(root, 0); err != nil {
		return err
	}
	replies, files := thread(root.TS, s)
	all := len(replies) + len(files)
	if all == 0 {
		return nil
	}
	p.threadLine(all)
	if s.From > 0 && s.From <= len(replies) {
		replies = replies[s.From-1:]
		files = slices.DeleteFunc(files, func(f slackfake.File) bool { return f.Shared.Before(replies[0].Posted) })
		if earlier := all - len(replies) - len(files); earlier > 0 {
			p.small(fmt.Sprintf("… %d earlier", earlier))
		}
	}
	for _, m := range replies {
		if err := p.message(m, indent); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := p.file(f); err != nil {
			return err
		}
	}
	return nil
}

func thread(root string, s slackstory.Scene) (replies []slackfake.Message, files []slackfake.File) {
	for _, m := range s.Messages {
		if m.Thread == root {
			replies = append(replies, m)
		}
	}
	for _, f := range s.Files {
		if f.Thread == root {
			files = append(files, f)
		}
	}
	return replies, files
}

func (p *page) threadLine(n int) {
	p.left = margin + avatar + gap
	word := "replies"
	if n == 1 {
		word = "reply"
	}
	p.line([]piece{{fmt.Sprintf("%d %s", n, word), style{size: 13, bold: true, link: true}}})
	p.y += gap
}

func (p *page) small(text string) {
	p.left = margin + indent + avatar + gap
	p.paragraph([]piece{{text, style{size: smallSize, grey: true}}})
	p.y += gap
}

// message draws a message: who, when, and its blocks.
func (p *page) message(m slackfake.Message, in float64) error {
	var blocks []block
	if err := json.Unmarshal(m.Blocks, &blocks); err != nil {
		return err
	}
	top := p.y
	p.avatar(margin + in)
	p.left = margin + in + avatar + gap
	who := []piece{
		{"perch ", style{size: bodySize, bold: true}},
		{"APP  " + m.Posted.UTC().Format("15:04"), style{size: smallSize, grey: true}},
	}
	if m.Thread != "" && m.Broadcast {
		who = append(who, piece{"   also sent to the channel", style{size: smallSize, grey: true}})
	}
	p.line(who)
	for _, b := range blocks {
		if err := p.block(b); err != nil {
			return err
		}
	}
	p.y = max(p.y, top+avatar) + gap*1.5
	return nil
}

func (p *page) avatar(x float64) {
	fmt.Fprintf(&p.out, `<rect class="mark" x="%g" y="%.1f" width="%d" height="%d" rx="6"/>`+"\n", x, p.y, avatar, avatar)
	fmt.Fprintf(&p.out, `<path class="bird" d="M%g %.1fh24m-17 0c0-10 4-15 11-15 3 0 5 2 5 4l3 1-3 2c0 5-4 8-9 8z"/>`+"\n", x+6, p.y+27)
}

// file draws an uploaded picture.
func (p *page) file(f slackfake.File) error {
	size, err := png.DecodeConfig(strings.NewReader(string(f.Content)))
	if err != nil {
		return fmt.Errorf("the file %s: %w", f.Name, err)
	}
	p.avatar(margin + indent)
	p.left = margin + indent + avatar + gap
	p.line([]piece{{"perch ", style{size: bodySize, bold: true}}, {"APP  " + f.Shared.UTC().Format("15:04"), style{size: smallSize, grey: true}}})
	p.line([]piece{{f.Title, style{size: 13, grey: true}}})
	width := min(float64(size.Width)*shown, p.room())
	height := width * float64(size.Height) / float64(size.Width)
	fmt.Fprintf(&p.out, `<image x="%g" y="%.1f" width="%.1f" height="%.1f" href="data:image/png;base64,%s"><title>%s</title></image>`+"\n",
		p.left, p.y, width, height, base64.StdEncoding.EncodeToString(f.Content), escape(f.Alt))
	p.y += height + gap*1.5
	return nil
}

func (p *page) finish(s slackstory.Scene) []byte {
	var b strings.Builder
	height := p.y + margin/2
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" width="%d" height="%.0f" role="img" aria-labelledby="title">`+"\n", pageWidth, height, pageWidth, height)
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n", escape(s.Caption))
	b.WriteString(`<style>
text { font-family: "Lato", "Helvetica Neue", Helvetica, Arial, "DejaVu Sans", sans-serif; fill: #1d1c1d; white-space: pre }
.f { font-family: Menlo, Consolas, "DejaVu Sans Mono", monospace }
.b { font-weight: 700 } .g { fill: #616061 } .l { fill: #1264a3 } .c { fill: #c01343 }
.bg { fill: #ffffff; stroke: #d1d9e0 } .box { fill: #f8f8f8; stroke: #dddddd }
.mark { fill: #1f6f8b } .bird { fill: none; stroke: #ffffff; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round }
</style>
`)
	fmt.Fprintf(&b, `<rect class="bg" x=".5" y=".5" width="%d" height="%.0f" rx="8"/>`+"\n", pageWidth-1, height-1)
	b.WriteString(p.out.String())
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}
