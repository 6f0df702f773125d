package report

import (
	"fmt"
	"slices"
	"strings"

	"perch.example/probes"
)

// htmlProbe is one probe.
type htmlProbe struct {
	Anchor, ID, Kind string
	Verdict          verdictView
	Open             bool // it is not a pass
	Shown            bool // it is not folded: it is no pass, or what perch idle measured
	Sentence         string
	More             []string
	Ladder           *htmlLadder
	Burst            *htmlBurst
	Predicted        []htmlPrediction
	Connections      []htmlConnection
	Unfolded         bool   // the connections: there are few
	Unshown          string // of the connections, what is left out, and why
}

// htmlFinding explains what is not a pass, and says whom to ask.
type htmlFinding struct {
	findingView
	Told, Evidence []htmlField
	Owner, Runbook string
	Address        string // the runbook's, where it is a link
}

type htmlField struct {
	Label string
	Texts []string
}

// htmlBuilder makes the parts of a page, and keeps it within bounds.
type htmlBuilder struct {
	room     int // events that may still be shown
	anchor   int
	everyone bool // few enough probes to draw what passed as well
}

// newHTMLBuilder keeps a page below 5 MB, whatever a run of 200 targets holds: an event
// takes about 700 bytes in its drawing and its table.
func newHTMLBuilder(all []targetView) *htmlBuilder {
	const events, few = 1600, 20
	n := 0
	for _, t := range all {
		n += len(t.probes)
	}
	return &htmlBuilder{room: events, everyone: n <= few}
}

func (b *htmlBuilder) target(t targetView) htmlTarget {
	b.anchor++
	out := htmlTarget{Anchor: fmt.Sprintf("target-%d", b.anchor), Name: t.probes[0].first().Target, Verdict: verdictOf(t.worst)}
	views := slices.Clone(t.probes)
	slices.SortStableFunc(views, func(x, y probeView) int { return attention(y.worst) - attention(x.worst) })
	for _, v := range views {
		out.Probes = append(out.Probes, b.probe(v))
	}
	for _, f := range findings(t) {
		out.Findings = append(out.Findings, newHTMLFinding(f))
	}
	return out
}

func (b *htmlBuilder) probe(v probeView) htmlProbe {
	b.anchor++
	o := v.first()
	p := htmlProbe{
		Anchor: fmt.Sprintf("probe-%d", b.anchor), ID: v.id, Kind: string(o.Kind), Verdict: verdictOf(v.worst),
		Open:  attention(v.worst) > attention(probes.VerdictPass),
		Burst: newHTMLBurst(o), Predicted: predictions(v.outcomes),
	}
	switch o.Kind {
	case probes.KindBurst:
		p.Sentence = burstSummary(o)
	case probes.KindIdle:
		p.Sentence = ladderSummary(v) + agesWords(v)
		p.More = idleMore(v)
		if drawable(v) {
			p.Ladder = newHTMLLadder(v)
		}
	default:
		p.Sentence = exchange(o)
	}
	p.Shown = p.Open || o.Search
	p.Connections, p.Unshown = b.connections(v, p.Open)
	p.Unfolded = p.Open && o.Burst == nil
	return p
}

// idleMore is what a ladder's sentence does not say.
func idleMore(v probeView) []string {
	var out []string
	for _, text := range []string{agreement(used(v.outcomes)), bracketed(v)} {
		if text != "" && drawable(v) {
			out = append(out, text)
		}
	}
	return out
}

func newHTMLFinding(f finding) htmlFinding {
	lead := f.lead()
	out := htmlFinding{findingView: newFinding(f), Owner: lead.Notice.Owner, Runbook: lead.Notice.Runbook}
	out.Told, out.Evidence = grouped(out.Facts), grouped(out.findingView.Evidence)
	if strings.HasPrefix(out.Runbook, "https://") || strings.HasPrefix(out.Runbook, "http://") {
		out.Address = out.Runbook
	}
	return out
}

// grouped gives texts that follow each other under one name that name once.
func grouped(facts []factView) []htmlField {
	var out []htmlField
	for _, f := range facts {
		if last := len(out) - 1; last >= 0 && out[last].Label == f.Name {
			out[last].Texts = append(out[last].Texts, f.Value)
			continue
		}
		out = append(out, htmlField{f.Name, []string{f.Value}})
	}
	return out
}
