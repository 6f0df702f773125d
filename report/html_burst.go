package report

import (
	"fmt"

	"perch.example/probes"
)

// htmlBurst is what the calls of a burst probe met: a row of the drawing and of the
// table for each burst.
type htmlBurst struct {
	Title, Shape string
	Height       int
	Cells        []htmlCell
	Rows         []htmlBurstRow
	Left         string // of many bursts, what is left out
	Ended        string // why fewer calls were made than were to be; empty: all were
	Legend       []htmlSign
}

// htmlCell is a stretch of calls of one burst that met the same.
type htmlCell struct {
	Class, From, Width string
	Y                  int
}

// htmlBurstRow is a burst in numbers, and which of its calls met a dead connection.
type htmlBurstRow struct {
	probes.BurstSum
	Which string
}

const (
	burstHeight = 22
	mostBursts  = 50
	mostCells   = 1000 // as many calls as a step has
)

// newHTMLBurst is nil where no burst was seen.
func newHTMLBurst(o *probes.Outcome) *htmlBurst {
	if o.Burst == nil {
		return nil
	}
	sums := o.Burst.Sums(o.Attempts)
	if len(sums) == 0 && burstEnded(o.Burst) == "" {
		return nil
	}
	s := o.Burst.Shape
	b := &htmlBurst{Title: "The bursts of " + o.ID(), Shape: fmt.Sprintf("%s over %s on %s, %s, %s idle between; the pool hands out %s",
		counted(s.Requests, "request"), age(s.Over), counted(s.Connections, "connection"), counted(s.Bursts, "burst"), age(s.Gap), orderWords(o.Burst.Order))}
	if more := len(sums) - mostBursts; more > 0 {
		b.Left = are(more, "burst") + " not shown here."
		sums = sums[:mostBursts]
	}
	calls := callsOf(o)
	for i, sum := range sums {
		b.Rows = append(b.Rows, htmlBurstRow{sum, whichCalls(sum)})
		b.draw(calls[sum.Burst], burstHeight*i)
	}
	b.Height, b.Ended = burstHeight*len(sums), burstEnded(o.Burst)
	if len(b.Cells) == mostCells {
		b.Left += " The drawing is of the first calls alone."
	}
	b.Legend = []htmlSign{
		{"cell-fresh", "opened a connection"}, {"cell-reused", "reused one"}, {"cell-dead", "was given a dead one"}, {"cell-failed", "failed otherwise"},
	}
	return b
}

func orderWords(order probes.PoolOrder) string {
	switch order {
	case probes.PoolLIFO:
		return "the one that was used last (LIFO)"
	case probes.PoolFIFO:
		return "the one that has been idle for longest (FIFO)"
	case probes.PoolOldest:
		return "the one that was opened first"
	}
	return "connections in an order that is not known"
}

// callsOf is what became of each call, in its order, by burst.
func callsOf(o *probes.Outcome) map[int][]string {
	out := map[int][]string{}
	for _, c := range o.Burst.Calls {
		if c.Attempt >= 0 && c.Attempt < len(o.Attempts) {
			out[c.Burst] = append(out[c.Burst], callClass(o.Attempts[c.Attempt]))
		}
	}
	return out
}

func callClass(a probes.Attempt) string {
	switch {
	case a.DrewDead():
		return "cell-dead"
	case !a.OK():
		return "cell-failed"
	case a.Connection == probes.ConnectionReused:
		return "cell-reused"
	}
	return "cell-fresh"
}

// draw adds a burst's calls, those in one that met the same.
func (b *htmlBurst) draw(calls []string, y int) {
	whole := float64(len(calls))
	for i := 0; i < len(calls) && len(b.Cells) < mostCells; {
		n := i
		for n < len(calls) && calls[n] == calls[i] {
			n++
		}
		b.Cells = append(b.Cells, htmlCell{calls[i], percent(100 * float64(i) / whole), percent(100 * float64(n-i) / whole), y})
		i = n
	}
}

// htmlPrediction is what an application's calls would meet, in a row.
type htmlPrediction struct {
	Source, Client     string
	Dead, Failed, Band string // shares, with what they are of
}

func predictions(outcomes []*probes.Outcome) []htmlPrediction {
	var out []htmlPrediction
	for _, o := range outcomes {
		for _, p := range o.Predicted {
			out = append(out, htmlPrediction{
				Source: p.Source, Client: fmt.Sprintf("%s, %s, %s; the path ends idle ones after %s", predictedClient(p), poolOf(p), orderShort(p.Order), age(p.Timeout)),
				Dead: sharePart(p.DeadShare(), p.Dead, p.Calls), Failed: sharePart(p.FailedShare(), p.Failed, p.Calls), Band: sharePart(p.BandShare(), p.InBand, p.Gaps),
			})
		}
	}
	return out
}

func predictedClient(p probes.Prediction) string {
	if p.Common {
		return p.Client + " (none is declared; common ones that meet none are left out)"
	}
	return p.Client
}

func sharePart(share float64, n, of int) string {
	return fmt.Sprintf("%s (%d of %d)", shareOf(share, n), n, of)
}
