package report

import (
	"fmt"
	"slices"
	"strings"

	"perch.example/probes"
)

// htmlConnection is one connection: a drawing, and its events as a table.
type htmlConnection struct {
	Verdict     verdictView
	Title       string // what it was for
	Route       string // its addresses
	Description string
	Segments    []htmlSegment
	Signs       []htmlEventSign
	Band        *htmlSpan
	Open        bool // its table: it failed, and there are not too many events
	Numbered    bool // there is room for the events' numbers in the drawing
	Events      []htmlEvent
	Left        string // of many events, what is left out
}

// htmlSegment is a stretch of a connection's life, in shares of the drawing's width.
type htmlSegment struct {
	Class, From, Width, Middle string
	Words                      string // empty: there is no room
}

// htmlEventSign is a numbered event above the drawing.
type htmlEventSign struct {
	Class, At string
	Number    int
}

type htmlEvent struct {
	Number                    int
	Class, At, Words, Details string
}

// connections are those of a probe, as long as there is room on the page: what failed
// is told before what passed.
func (b *htmlBuilder) connections(v probeView, open bool) ([]htmlConnection, string) {
	total := 0
	var out []htmlConnection
	for _, o := range v.outcomes {
		all := wireConnections(o)
		total += len(all)
		if !open && !b.everyone {
			continue
		}
		for _, c := range worstFirst(all) {
			if b.room <= 0 || len(out) >= mostConnections {
				break
			}
			shown := newHTMLConnection(o, c)
			b.room -= len(shown.Events)
			out = append(out, shown)
		}
	}
	if more := total - len(out); more > 0 && total > 0 {
		return out, fmt.Sprintf("%s not shown here; `--output json` has each attempt.", are(more, "connection"))
	}
	return out, ""
}

const (
	mostConnections = 24 // of one probe that are drawn: a burst may have hundreds
	mostNumbered    = 11 // events, so that their numbers do not cover each other on a phone
)

func are(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return fmt.Sprintf("%d %ss are", n, noun)
}

// worstFirst puts what failed first where there are more than are shown.
func worstFirst(all []wireConnection) []wireConnection {
	if len(all) <= mostConnections {
		return all
	}
	failed := func(c wireConnection) int {
		if slices.ContainsFunc(c.attempts, func(a *probes.Attempt) bool { return !a.OK() }) {
			return 0
		}
		return 1
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(x, y wireConnection) int { return failed(x) - failed(y) })
	return sorted
}

func newHTMLConnection(o *probes.Outcome, c wireConnection) htmlConnection {
	const mostEvents = 24
	events := c.events()
	out := htmlConnection{Verdict: connectionVerdict(o, c), Title: connectionTitle(o, c), Route: route(c)}
	if more := len(events) - mostEvents; more > 0 {
		out.Left = fmt.Sprintf("%s left out between the first and the last.", are(more, "event"))
		const first = 6
		events = append(slices.Clone(events[:first]), events[len(events)-(mostEvents-first):]...)
	}
	for i, e := range events {
		out.Events = append(out.Events, htmlEvent{i + 1, string(e.what), age(e.at), e.words, e.detail})
	}
	out.Numbered = len(events) <= mostNumbered
	out.Open = out.Numbered && out.Verdict.Class != string(probes.VerdictPass)
	out.draw(events, o.Client)
	out.Description = describe(out.Events)
	return out
}

// connectionVerdict is the outcome's where the connection is what it is about; a control
// that was answered is well.
func connectionVerdict(o *probes.Outcome, c wireConnection) verdictView {
	for _, a := range c.attempts {
		if !a.OK() {
			return verdictOf(o.Verdict)
		}
	}
	return verdictOf(probes.VerdictPass)
}

func connectionTitle(o *probes.Outcome, c wireConnection) string {
	first := c.attempts[0]
	rung := ""
	if o.Kind == probes.KindIdle {
		rung = ", " + rungName(o) + " rung"
	}
	switch {
	case first.Connection == probes.ConnectionControl:
		return "Control on a fresh connection" + rung
	case o.Kind == probes.KindIdle:
		return "Held connection" + rung
	case o.Burst != nil:
		return fmt.Sprintf("Connection of the pool, %s", counted(len(c.attempts), "call"))
	case first.Number > 1:
		return "Second try on a fresh connection"
	}
	return "Fresh connection"
}

func route(c wireConnection) string {
	a := c.attempts[0]
	switch {
	case a.Local.IsValid() && a.Remote.IsValid():
		return a.Local.String() + " → " + a.Remote.String()
	case a.Remote.IsValid():
		return "→ " + a.Remote.String()
	}
	return ""
}

func describe(events []htmlEvent) string {
	text := ""
	for _, e := range events {
		text += fmt.Sprintf("%d. %s: %s. ", e.Number, e.At, e.Words)
	}
	return text
}

// weight is how much of a drawing an event takes: moments would not be seen beside an
// idle minute, so that only within idle time is the drawing to scale.
func weight(e wireEvent) float64 {
	switch e.what {
	case eventIdle:
		return 8
	case eventRequest:
		return 2
	case eventClose:
		return 0 // it is within the idle time before
	case eventFailure, eventAnswer:
		return 1.4
	default:
		return 1.3
	}
}

func (h *htmlConnection) draw(events []wireEvent, client *probes.ClientOutcome) {
	var sum float64
	for _, e := range events {
		sum += weight(e)
	}
	if sum == 0 {
		return
	}
	var at, idleFrom, idleWidth float64
	var idle wireEvent
	for i, e := range events {
		w := 100 * weight(e) / sum
		place := at
		switch e.what {
		case eventIdle:
			idleFrom, idleWidth, idle = at, w, e
			h.Segments = append(h.Segments, segment(e, at, w, "idle "+age(e.took)))
			h.Band = bandWithin(client, e, at, w)
		case eventClose:
			place = idleFrom + idleWidth*float64(e.at-idle.at)/float64(max(idle.took, 1))
			dead := idleFrom + idleWidth - place
			h.Segments = append(h.Segments, segment(e, place, dead, ""))
		default:
			h.Segments = append(h.Segments, segment(e, at, w, segmentWords(e, w)))
		}
		h.Signs = append(h.Signs, htmlEventSign{string(e.what), percent(place), i + 1})
		at += w
	}
}

func segment(e wireEvent, from, w float64, words string) htmlSegment {
	return htmlSegment{string(e.what), percent(from), percent(max(0, w)), percent(from + w/2), words}
}

// segmentWords are left out where they would not fit on a phone.
func segmentWords(e wireEvent, w float64) string {
	const least = 6.5
	switch {
	case w < least:
		return ""
	case e.what == eventDNS:
		return "DNS"
	case e.what == eventDial:
		return "TCP"
	case e.what == eventTLS:
		return "TLS"
	case e.what == eventRequest:
		return "request"
	}
	if e.what == eventFailure {
		return "fail"
	}
	short, _, _ := strings.Cut(e.words, " ")
	return cut(clean(short), 5)
}

// bandWithin is the part of an idle time in which the declared client would use the
// connection though it is closed.
func bandWithin(client *probes.ClientOutcome, e wireEvent, from, w float64) *htmlSpan {
	if client == nil || client.Band == nil || e.took <= 0 || client.Band.From >= e.took {
		return nil
	}
	a := axis{e.took}
	to := client.Band.To
	if client.Band.Open {
		to = e.took
	}
	return spanOf(from+a.share(client.Band.From)*w/100, from+a.share(to)*w/100, bandWords(client.Band))
}
