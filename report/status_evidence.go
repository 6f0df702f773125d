package report

import (
	"fmt"
	"slices"
	"strings"

	"perch.example/probes"
)

const (
	mostAttempts = 24 // of one outcome
	mostAdvice   = 12
)

// outcomeView is what an outcome was judged by.
type outcomeView struct {
	Head     string // its rung; empty: the probe's only one
	Message  string
	Attempts []attemptView
	More     int // attempts that are not shown
}

type attemptView struct{ Connection, Result, Facts, Detail string }

func newOutcomeView(o *probes.Outcome) outcomeView {
	v := outcomeView{Message: fit(o.Message, mostText)}
	if o.Kind == probes.KindIdle {
		v.Head = rungName(o) + " hold"
	}
	v.More = max(0, len(o.Attempts)-mostAttempts)
	for _, i := range telling(o.Attempts) {
		a := &o.Attempts[i]
		v.Attempts = append(v.Attempts, attemptView{
			Connection: fit(string(a.Connection), mostName), Result: fit(result(a), mostName),
			Facts: fit(strings.Join(attemptFacts(a), " · "), mostText), Detail: fit(a.Detail, mostText),
		})
	}
	return v
}

// telling are the indices of the attempts that are shown: of many, those that failed
// before the others, in their order.
func telling(all []probes.Attempt) []int {
	var failed, fine []int
	for i, a := range all {
		if a.OK() {
			fine = append(fine, i)
		} else {
			failed = append(failed, i)
		}
	}
	failed = failed[:min(len(failed), mostAttempts)]
	shown := append(failed, fine[:min(len(fine), mostAttempts-len(failed))]...)
	slices.Sort(shown)
	return shown
}

// attemptFacts are what was measured of an attempt; what is not known is left out.
func attemptFacts(a *probes.Attempt) []string {
	var facts []string
	add := func(known bool, text string) {
		if known {
			facts = append(facts, text)
		}
	}
	add(a.IdleTime > 0, "idle for "+age(a.IdleTime))
	add(a.RTT > 0, "round trip "+latency(a.RTT))
	add(a.MinRTT > 0 && a.MinRTT != a.RTT, "least "+latency(a.MinRTT))
	if ph := phases(a.Phases); ph != "" {
		add(true, ph)
	}
	if a.RequestBytesAcked != nil {
		add(true, fmt.Sprintf("%d of %d request bytes acknowledged", *a.RequestBytesAcked, a.RequestBytes))
	}
	add(a.ResponseBytes > 0, fmt.Sprintf("%d bytes back", a.ResponseBytes))
	add(a.Queued, "the close was there before the request")
	add(a.DelayKnown && a.Delay > 0, "perch was late by "+latency(a.Delay))
	add(a.Remote.IsValid(), address(a.Local)+" to "+address(a.Remote))
	add(a.Proto != "", a.Proto)
	add(a.TraceID != "", "trace "+a.TraceID)
	return facts
}

// size is about how many bytes it takes.
func (v outcomeView) size() int {
	const outcome, each = 200, 180
	n := outcome + len(v.Message)
	for _, a := range v.Attempts {
		n += each + len(a.Connection) + len(a.Result) + len(a.Facts) + len(a.Detail)
	}
	return n
}

// findingView is a finding: what it is, by which evidence, and what to change.
type findingView struct {
	Verdict    verdictView
	Title      string
	Facts      []factView
	Evidence   []factView
	Hypotheses []hypothesisView
	Advice     [][]piece
}

type hypothesisView struct{ Class, Ruled, Words, Evidence string }

// piece is a part of a text; code is what stood between backticks.
type piece struct {
	Code bool
	Text string
}

func newFinding(f finding) findingView {
	lead := f.lead()
	v := findingView{Verdict: verdictOf(lead.Verdict), Title: fit(title(lead), mostText)}
	add := func(name string, texts ...string) {
		for _, text := range texts {
			if text != "" {
				v.Facts = append(v.Facts, factView{name, fit(text, mostText)})
			}
		}
	}
	add("Where", f.where())
	add("Known", f.accepted()...)
	add("Application", f.application()...)
	if c := clientOf(f.outcomes); c != nil && c.Band != nil {
		add("Danger band", bandWords(c.Band)+" idle: "+f.ended()+"; "+c.Kind+" would still use it")
	}
	add("What happened", f.messages()...)
	told := len(v.Facts)
	add("Detail", f.details()...)
	if a := deciding(lead); a != nil && !a.OK() {
		add("On the wire", wire(a))
	}
	if a := deciding(lead); a != nil {
		add("Trace", a.TraceID)
	}
	v.Facts, v.Evidence = v.Facts[:told], v.Facts[told:]
	if !allOpen(lead.Hypotheses) {
		for _, h := range lead.Hypotheses {
			v.Hypotheses = append(v.Hypotheses, newHypothesis(f, h))
		}
	}
	for _, text := range f.advice() {
		if len(v.Advice) < mostAdvice {
			v.Advice = append(v.Advice, pieces(fit(text, mostText)))
		}
	}
	return v
}

func newHypothesis(f finding, h probes.Hypothesis) hypothesisView {
	v := hypothesisView{Class: "incomplete", Ruled: "open", Words: fit(h.ID.Words(), mostName), Evidence: fit(h.Evidence+f.otherRulings(h), mostText)}
	switch h.Ruled {
	case probes.RuledIn:
		v.Class, v.Ruled = "fail", "in"
	case probes.RuledOut:
		v.Class, v.Ruled = "pass", "out"
	case probes.RuledOpen:
	}
	return v
}

// pieces splits a text at its backticks.
func pieces(text string) []piece {
	var out []piece
	for i, part := range strings.Split(text, "`") {
		if part != "" {
			out = append(out, piece{Code: i%2 == 1, Text: part})
		}
	}
	return out
}

// size is about how many bytes it takes.
func (v findingView) size() int {
	const finding, each = 600, 120
	n := finding + len(v.Title)
	for _, f := range slices.Concat(v.Facts, v.Evidence) {
		n += each + len(f.Value)
	}
	for _, h := range v.Hypotheses {
		n += 2*each + len(h.Words) + len(h.Evidence)
	}
	for _, p := range slices.Concat(v.Advice...) {
		n += each/2 + len(p.Text)
	}
	return n
}

// burstLines say what the calls of a burst met, and what the application's would.
func burstLines(o *probes.Outcome) []string {
	var lines []string
	if b := o.Burst; b != nil {
		sums := b.Sums(o.Attempts)
		t := probes.Total(sums)
		lines = append(lines, fit(fmt.Sprintf("%s through %s (%s), %s: %d were given a dead connection, %d failed for another cause",
			counted(t.Calls, "call"), counted(b.Shape.Connections, "connection"), orderShort(b.Order), counted(len(sums), "burst"), t.Dead, t.Failed), mostText))
		if text := burstEnded(b); text != "" {
			lines = append(lines, fit(text, mostText))
		}
	}
	for _, p := range o.Predicted {
		lines = append(lines, fit(fmt.Sprintf("%s with %s: %s of calls meet a dead connection, %s fail; %s of the gaps lie in the danger band",
			p.Source, p.Client, shareOf(p.DeadShare(), p.Dead), shareOf(p.FailedShare(), p.Failed), shareOf(p.BandShare(), p.InBand)), mostText))
	}
	return lines
}
