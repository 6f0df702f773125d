package report

import (
	"fmt"
	"io"
	"time"

	"perch.example/probes"
)

// Idle writes what `perch idle URL` found: the path's idle timeout and the way
// it closes, the connections it was measured on, and what each of the run's
// clients would experience on this path. The error is w's.
func Idle(w io.Writer, run probes.Run, s Style) error {
	p := &page{style: s}
	p.header(run, spokenOver(run)...)
	p.gap()
	all := targets(run)
	for _, t := range all {
		for _, v := range t.probes {
			p.measurement(v)
		}
	}
	p.clients(run)
	for _, t := range all {
		for _, f := range findings(t) {
			p.finding(f)
		}
	}
	p.footer(run)
	return p.flush(w)
}

// measurement is the answer in one sentence, and what it rests on.
func (p *page) measurement(v probeView) {
	text := ladderSummary(v)
	p.hang(nil, span{inkStrong, v.first().Target + ": " + text + "."})
	if text := agreement(used(v.outcomes)); text != "" {
		p.hang(nil, plain(text))
	}
	if text := bracketed(v); text != "" {
		p.hang(nil, plain(text))
	}
	if drawable(v) {
		p.gap()
		p.ladder(v.outcomes)
	}
	p.predictions(v)
	p.gap()
}

// bracketed says how well an end is known that nobody saw, and by how many
// holds; empty: it was seen, or there was none.
func bracketed(v probeView) string {
	i := v.idle
	if i == nil || i.Measured > 0 || i.Died == 0 || i.Survived >= i.Died {
		return ""
	}
	how := "nothing answered the request any more"
	if i.How != probes.HowSilent {
		how = "nobody saw it before the request, which was answered with " + i.How.Words()
	}
	held := 0
	for _, o := range v.outcomes {
		if extent(o) > 0 {
			held++
		}
	}
	text := fmt.Sprintf("Known to within %s, by %s: %s.", latency(i.Died-i.Survived), counted(held, "hold"), how)
	if i.Survived == 0 {
		text += " No hold was short enough to work."
	}
	return text
}

// agreement says how well several closes agree: a server whose clock ticks
// shows as a spread, and a single number would hide it.
func agreement(outcomes []*probes.Outcome) string {
	var first, last, resolution, delay time.Duration
	n := 0
	for _, o := range outcomes {
		if o.Close == nil {
			continue
		}
		if n == 0 || o.Close.Age < first {
			first = o.Close.Age
		}
		last = max(last, o.Close.Age)
		resolution = max(resolution, o.Close.Resolution)
		if a := attempt(o, probes.ConnectionReused); a != nil && a.DelayKnown {
			delay = max(delay, a.Delay)
		}
		n++
	}
	if n == 0 {
		return ""
	}
	text := "Seen on " + counted(n, "connection")
	switch {
	case n == 1:
	case age(first) == age(last):
		text += ", all closed at " + age(first)
	default:
		text += fmt.Sprintf(", closed at %s to %s", age(first), age(last))
	}
	if resolution > 0 && delay <= resolution { // looked too late, it is not known that well
		each := ""
		if n > 1 {
			each = "each "
		}
		text += ", " + each + "known to within " + latency(resolution)
	}
	return text + "."
}
