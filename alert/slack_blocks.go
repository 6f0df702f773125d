package alert

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"

	"github.com/slack-go/slack"
)

// What Slack accepts in one message, and contract.md's sum.
const (
	maxBlocks    = 50
	maxText      = 3000 // a text object
	maxFields    = 10
	maxField     = 2000
	maxCharacter = 10_000 // all texts of a message, its summary included
	// maxJSON is what the blocks may weigh. Slack refuses what is larger and says
	// no number; integrators met 13,200 bytes.
	maxJSON = 12_500
	fence   = "```"
)

// Blocks renders a notice for Slack: the same content as Text. However the
// notice came to be, the blocks are within Slack's limits: where they would not
// be, its longest texts are cut to one length, the longest that fits.
func Blocks(n Notice) []slack.Block {
	whole := render(n, maxText)
	if whole.fits() {
		return whole.blocks
	}
	longest := sort.Search(maxText, func(more int) bool { return !render(n, more+1).fits() })
	return render(n, longest).blocks
}

// fallback is the message's own text: what a phone's notification shows.
func fallback(n Notice) string {
	return shorten(clean(n.Title+": "+n.Summary), maxTitle+maxSummary, "…")
}

// renderer collects blocks.
type renderer struct {
	blocks  []slack.Block
	longest int // text that is allowed, in characters
	used    int // characters of the whole message
}

// render makes blocks whose texts are no longer than that. With 0 nothing is
// left but the title and the links, which always fit.
func render(n Notice, longest int) *renderer {
	r := &renderer{longest: longest, used: size(fallback(n))}
	title := shorten(clean(n.Title), maxTitle, "…")
	if title == "" {
		title = "perch" // Slack refuses an empty header
	}
	r.used += size(title)
	r.add(slack.NewHeaderBlock(slack.NewTextBlockObject(slack.PlainTextType, title, false, false)))
	r.context(n.remarks())
	for _, s := range n.Sections {
		r.section(s)
	}
	r.links(n.Links)
	if len(n.Trail) > 0 {
		r.context([]string{factWords(n.Trail)})
	}
	return r
}

// fits reports whether Slack, and contract.md, allow so much in one message.
func (r *renderer) fits() bool {
	content, err := json.Marshal(r.blocks)
	return err == nil && len(content) <= maxJSON && r.used <= maxCharacter
}

func (r *renderer) add(b slack.Block) {
	if len(r.blocks) < maxBlocks {
		r.blocks = append(r.blocks, b)
	}
}

// take shortens a text, escapes it, and puts it between a head and a tail that
// are markup of ours; empty when there is no room.
func (r *renderer) take(head, text, tail string, limit int) string {
	around := len(head) + len(tail)
	text = shorten(text, min(limit, r.longest)-around, more)
	if strings.TrimSpace(text) == "" {
		return ""
	}
	r.used += size(text) + around
	return head + escape(text) + tail
}

func (r *renderer) section(s Section) {
	heading := "*" + escape(shorten(clean(s.Heading), maxTitle, "…")) + "*\n"
	if len(s.Facts) > 0 {
		r.facts(heading, s.Facts)
	}
	if len(s.Lines) == 0 {
		return
	}
	head, tail, lines := heading, "", slices.Clone(s.Lines)
	switch s.Form {
	case FormList:
		for i, line := range lines {
			lines[i] = bullet(line) + line
		}
	case FormFixed:
		head, tail = heading+fence+"\n", "\n"+fence
	case FormText, FormFacts:
	}
	r.text(r.take(head, strings.Join(lines, "\n"), tail, maxText))
}

func (r *renderer) facts(heading string, facts []Fact) {
	var fields []*slack.TextBlockObject
	for _, f := range facts {
		text := r.take("*"+escape(clean(f.Name))+"*\n", f.Value, "", maxField)
		if text != "" && len(fields) < maxFields {
			fields = append(fields, markdown(text))
		}
	}
	if len(fields) > 0 {
		r.used += len(heading)
		r.add(slack.NewSectionBlock(markdown(strings.TrimSuffix(heading, "\n")), fields, nil))
	}
}

func (r *renderer) text(text string) {
	if text != "" {
		r.add(slack.NewSectionBlock(markdown(text), nil, nil))
	}
}

// links are links, not buttons: a button would need an app that answers.
func (r *renderer) links(all []Link) {
	var parts []string
	for _, l := range all {
		text := "<" + linkAddress(l.URL) + "|" + escape(clean(l.Name)) + ">"
		if webURL(l.URL) && len(text) <= maxText/4 && len(parts) < 3 {
			r.used += len(text) + len(" · ")
			parts = append(parts, text)
		}
	}
	r.text(strings.Join(parts, " · "))
}

// linkAddress escapes what would end a link of Slack's.
func linkAddress(address string) string {
	return strings.NewReplacer("&", "&amp;", "<", "%3C", ">", "%3E", "|", "%7C").Replace(strings.ToValidUTF8(address, ""))
}

func (r *renderer) context(lines []string) {
	if text := r.take("", strings.Join(lines, "\n"), "", maxText); text != "" {
		r.add(slack.NewContextBlock("", markdown(text)))
	}
}

// markdown is a text in Slack's markup. Verbatim: an address or a name that an
// API put into its answer must not become a link.
func markdown(text string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.MarkdownType, text, false, true)
}
