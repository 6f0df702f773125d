package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"perch.example/probes"
)

// Live shows on a terminal what a run is holding and for how much longer. It
// redraws in place and is gone after Stop. It is for terminals only: it moves
// the cursor whatever Style.Color says. Its methods may be called from any
// goroutine; what the terminal refuses is ignored, since the report does not
// depend on it.
type Live struct {
	mu      sync.Mutex
	out     io.Writer
	style   Style
	steps   map[int]*held
	lines   int // drawn, above the cursor
	done    int
	stopped bool
}

// held is a step that has started and not ended.
type held struct {
	step        int
	id          string
	hold        time.Duration
	connections int       // a burst's pool; 0: one
	from, until time.Time // zero: not held yet
	close       *probes.Close
}

// NewLive returns a view that draws on w. Nothing is drawn before the first
// Tick.
func NewLive(w io.Writer, s Style) *Live {
	return &Live{out: w, style: s, steps: map[int]*held{}}
}

// Event tells the view what happened. It draws nothing: hundreds of steps may
// start at once.
func (l *Live) Event(e probes.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.What == probes.EventDone {
		delete(l.steps, e.Step)
		l.done++
		return
	}
	h := l.steps[e.Step]
	if h == nil {
		h = &held{step: e.Step, id: e.Target + "/" + e.Probe, hold: e.Hold}
		l.steps[e.Step] = h
	}
	switch e.What {
	case probes.EventHolding:
		h.hold, h.from, h.until, h.connections = e.Hold, e.At, e.Until, e.Connections
	case probes.EventClosed:
		h.close = e.Close
	case probes.EventStarted: // a burst's second one, too
		h.from, h.until = time.Time{}, time.Time{}
	case probes.EventDone:
	}
}

// Tick draws the view as it is at now. Call it a few times a second.
func (l *Live) Tick(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return
	}
	lines := l.view(now)
	l.write(l.rewind() + strings.Join(lines, "\n") + "\n")
	l.lines = len(lines)
}

// Stop erases the view. What is ticked afterwards draws nothing.
func (l *Live) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.stopped && l.lines > 0 {
		l.write(l.rewind())
	}
	l.stopped, l.lines = true, 0
}

// rewind moves the cursor to the first drawn line and erases from there on.
func (l *Live) rewind() string {
	if l.lines == 0 {
		return ""
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", l.lines)
}

func (l *Live) write(s string) {
	_, _ = io.WriteString(l.out, s)
}

// view is the lines to draw: a summary, then those that end first.
func (l *Live) view(now time.Time) []string {
	const most = 10 // a small terminal must not scroll, or the cursor would not find its way back
	steps := make([]*held, 0, len(l.steps))
	id, holding, idle := 0, 0, 0
	for _, h := range l.steps {
		steps = append(steps, h)
		id = max(id, width(clean(h.id)))
		if !h.until.IsZero() {
			holding += max(1, h.connections)
			idle++
		}
	}
	slices.SortFunc(steps, byEnd)
	lines := []string{l.fit(span{inkStrong, l.summary(holding, len(steps)-idle)})}
	for i, h := range steps {
		if i == most {
			last := steps[len(steps)-1]
			lines = append(lines, l.fit(span{inkFaint, fmt.Sprintf("%sand %d more, the last for %s", margin, len(steps)-most, left(last, now))}))
			break
		}
		lines = append(lines, l.row(h, min(id, 30), now))
	}
	return lines
}

// byEnd puts what ends first on top; what is not held yet comes before all.
func byEnd(a, b *held) int {
	return cmp.Or(a.until.Compare(b.until), cmp.Compare(a.step, b.step))
}

func (l *Live) summary(holding, other int) string {
	text := "holding " + counted(holding, "connection")
	if other > 0 {
		text += fmt.Sprintf(", %d under way", other)
	}
	return text + fmt.Sprintf(", %d done", l.done)
}

func (l *Live) row(h *held, id int, now time.Time) string {
	const barCells, holdCells = 16, 8
	spans := []span{plain(margin), plain(cut(clean(h.id), id)).padded(id + 2)}
	switch {
	case h.until.IsZero():
		return l.fit(append(spans, span{inkFaint, "under way"})...)
	case h.close != nil:
		text := h.close.How.Words() + " at " + age(h.close.Age) + ", " + left(h, now) + " left"
		spans = append(spans, plain(age(h.hold)).padded(holdCells), l.progress(h, barCells, now), plain(gutter), span{inkBad, text})
	default:
		spans = append(spans, plain(age(h.hold)).padded(holdCells), l.progress(h, barCells, now), plain(gutter), plain(left(h, now)+" left"))
	}
	return l.fit(spans...)
}

func (l *Live) progress(h *held, n int, now time.Time) span {
	total := h.until.Sub(h.from)
	if total <= 0 {
		return plain(strings.Repeat(string(signDead), n))
	}
	gone := int(min(max(float64(now.Sub(h.from))/float64(total), 0), 1) * float64(n))
	text := strings.Repeat(string(signOpen), gone) + strings.Repeat(string(signDead), n-gone)
	if h.close != nil {
		return span{inkBad, text}
	}
	return span{inkGood, text}
}

// left is the time until the reuse, not more exact than an eye can follow.
func left(h *held, now time.Time) string {
	d := max(h.until.Sub(now), 0)
	if d < 2*time.Minute {
		return decimal(d.Seconds(), 1) + " s"
	}
	return fmt.Sprintf("%d min", int(d.Round(time.Minute)/time.Minute))
}

// fit keeps a line within the terminal: a wrapped line would take two rows,
// and the view would no longer find its first one.
func (l *Live) fit(spans ...span) string {
	room := l.style.columns()
	if l.style.Width > 0 {
		room = l.style.Width // a page may be wider than a narrow terminal, a drawing may not
	}
	room-- // some terminals wrap when the last cell is written
	var b strings.Builder
	for _, s := range spans {
		s.text = cut(clean(s.text), room)
		room -= width(s.text)
		b.WriteString(l.style.paint(s))
	}
	return b.String()
}
