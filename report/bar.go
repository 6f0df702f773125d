package report

import (
	"math"
	"strings"
	"time"

	"perch.example/probes"
)

// chart is what the bars of one ladder share.
type chart struct {
	cells    int
	scale    time.Duration // what the last cell stands for
	survived time.Duration // longest idle age that worked
}

// bar draws one rung.
func (c chart) bar(o *probes.Outcome) string {
	signs := c.blank()
	end := extent(o)
	if end <= 0 || c.scale <= 0 {
		return string(signs)
	}
	last := c.position(end)
	fill(signs, 0, last, signOpen)
	reused := attempt(o, probes.ConnectionReused)
	switch {
	case o.Close != nil:
		at := c.position(o.Close.Age)
		fill(signs, at, last, signDead)
		signs[at] = signEnd
	case reused == nil || reused.OK():
	case reused.Reason == probes.ReasonBlackhole:
		// Nobody saw it die. A shorter rung that worked is the last sign of
		// life; where none did, there is none.
		switch {
		case c.survived == 0:
			fill(signs, 0, last, signWhere)
		case c.survived < end:
			fill(signs, c.position(c.survived)+1, last, signWhere)
		}
		signs[last] = signEnd
	case reused.Status != 0:
		signs[last] = signWrong
	default:
		signs[last] = signEnd
	}
	return string(signs)
}

func (c chart) blank() []rune { return []rune(strings.Repeat(" ", c.cells)) }

// position is the cell of an idle age.
func (c chart) position(d time.Duration) int {
	at := int(math.Round(float64(d) / float64(c.scale) * float64(c.cells-1)))
	return min(max(at, 0), c.cells-1)
}

func fill(signs []rune, from, to int, sign rune) {
	for i := from; i <= to; i++ {
		signs[i] = sign
	}
}

// inked gives each stretch of a bar its ink.
func inked(bar string, v probes.Verdict) []span {
	var out []span
	for _, r := range bar {
		i := signInk(r, v)
		if last := len(out) - 1; last >= 0 && out[last].ink == i {
			out[last].text += string(r)
			continue
		}
		out = append(out, span{i, string(r)})
	}
	return out
}

func signInk(r rune, v probes.Verdict) ink {
	switch r {
	case signOpen:
		return inkGood
	case signEnd, signWrong:
		return verdictInk(v)
	case signDead, signWhere:
		return inkFaint
	case signBand:
		return inkWarn
	}
	return inkPlain
}

// band draws the danger band of the application's client under the rungs.
func (p *page) band(g grid, outcomes []*probes.Outcome) {
	c := clientOf(outcomes)
	if c == nil || c.Band == nil {
		return
	}
	signs := g.blank()
	if c.Band.From <= g.scale {
		to := g.scale
		if !c.Band.Open {
			to = min(c.Band.To, g.scale)
		}
		fill(signs, g.position(c.Band.From), g.position(to), signBand)
	}
	spans := append(g.head(plain(""), span{inkWarn, "danger"}), inked(string(signs), "")...)
	if g.stacked {
		p.line(spans...)
		return
	}
	p.line(append(spans, plain(gutter), span{inkWarn, bandWords(c.Band)})...)
}

// clientOf returns the declared client of a probe's rungs: the one with a band
// if any has one.
func clientOf(outcomes []*probes.Outcome) *probes.ClientOutcome {
	var found *probes.ClientOutcome
	for _, o := range outcomes {
		if o.Client != nil && (found == nil || found.Band == nil) {
			found = o.Client
		}
	}
	return found
}

func bandWords(b *probes.Band) string {
	if b.Open {
		return "from " + age(b.From) + " on, without end"
	}
	return age(b.From) + " to " + age(b.To)
}

// legend explains the signs that this ladder uses beyond the plain bar.
func (p *page) legend(g grid, outcomes []*probes.Outcome) {
	used := map[rune]bool{}
	for _, o := range outcomes {
		for _, r := range g.bar(o) {
			used[r] = true
		}
	}
	c := clientOf(outcomes)
	used[signBand] = c != nil && c.Band != nil
	var parts []string
	for _, s := range []struct {
		sign  rune
		words string
	}{
		{signEnd, "ended"},
		{signDead, "a pool may still hold it"},
		{signWhere, "died somewhere here, unseen"},
		{signWrong, "not the expected answer"},
		{signBand, "the client would use a closed one"},
	} {
		if used[s.sign] {
			parts = append(parts, string(s.sign)+" "+s.words)
		}
	}
	if len(parts) == 0 {
		return
	}
	indent := len(margin) + g.verdict + g.hold + 2*len(gutter)
	if g.stacked {
		indent = len(margin)
	}
	p.hang([]span{plain(strings.Repeat(" ", indent))}, span{inkFaint, strings.Join(parts, " · ")})
}
