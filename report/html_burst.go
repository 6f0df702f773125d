package report

import (
	"fmt"
	"strings"

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
	Legend       []htmlSign
}

// htmlCell is a stretch of calls of one burst that met the same.
type htmlCell struct {
	Class, From, Width string
	Y                  int
}

type htmlBurstRow struct {
	Burst, Calls, Fresh, Reused, Dead, Failed int
	Which                                     string // the calls that met a dead connection
}

// callResult is what became of one call.
type callResult string

const (
	callFresh  callResult = "fresh"  // it opened a connection, and was answered
	callReused callResult = "reused" // it was answered on a connection of the pool
	callDead   callResult = "dead"   // it was given a connection that was dead
	callFailed callResult = "failed" // it failed for another reason
)

func resultOf(o *probes.Outcome, c probes.BurstCall) callResult {
	if c.Attempt < 0 || c.Attempt >= len(o.Attempts) {
		return callFailed
	}
	a := o.Attempts[c.Attempt]
	switch {
	case a.Connection == probes.ConnectionReused && (a.Reason.Closed() || a.Reason == probes.ReasonBlackhole):
		return callDead
	case !a.OK():
		return callFailed
	case a.Connection == probes.ConnectionReused:
		return callReused
	}
	return callFresh
}

const (
	burstHeight = 22
	mostBursts  = 50
	mostCells   = 600
)

func newHTMLBurst(o *probes.Outcome) *htmlBurst {
	if o.Burst == nil || len(o.Burst.Calls) == 0 {
		return nil
	}
	s := o.Burst.Shape
	b := &htmlBurst{Title: "The bursts of " + o.ID(), Shape: fmt.Sprintf("%s over %s on %s, %s, %s idle between; the pool hands out %s",
		counted(s.Requests, "request"), age(s.Over), counted(s.Connections, "connection"), counted(s.Bursts, "burst"), age(s.Gap), orderWords(o.Burst.Order))}
	for calls := o.Burst.Calls; len(calls) > 0; {
		n := 1
		for n < len(calls) && calls[n].Burst == calls[0].Burst {
			n++
		}
		b.burst(o, calls[:n])
		calls = calls[n:]
	}
	b.Height = burstHeight * min(len(b.Rows), mostBursts)
	if more := len(b.Rows) - mostBursts; more > 0 {
		b.Left = are(more, "burst") + " not shown here."
		b.Rows = b.Rows[:mostBursts]
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

// burst adds one burst: its row, and its cells.
func (b *htmlBurst) burst(o *probes.Outcome, calls []probes.BurstCall) {
	row := htmlBurstRow{Burst: calls[0].Burst, Calls: len(calls)}
	y := burstHeight * len(b.Rows)
	var dead []int
	for i := 0; i < len(calls); {
		r := resultOf(o, calls[i])
		n := i
		for n < len(calls) && resultOf(o, calls[n]) == r {
			if r == callDead {
				dead = append(dead, calls[n].Number)
			}
			n++
		}
		row.count(r, n-i)
		if len(b.Rows) < mostBursts && len(b.Cells) < mostCells {
			whole := float64(len(calls))
			b.Cells = append(b.Cells, htmlCell{"cell-" + string(r), percent(100 * float64(i) / whole), percent(100 * float64(n-i) / whole), y})
		}
		i = n
	}
	row.Which = ranges(dead)
	b.Rows = append(b.Rows, row)
}

func (r *htmlBurstRow) count(of callResult, n int) {
	switch of {
	case callFresh:
		r.Fresh += n
	case callReused:
		r.Reused += n
	case callDead:
		r.Dead += n
	case callFailed:
		r.Failed += n
	}
}

// ranges tells numbers that rise: "1 to 12, 14".
func ranges(numbers []int) string {
	const most = 12
	var parts []string
	for i := 0; i < len(numbers); {
		n := i
		for n+1 < len(numbers) && numbers[n+1] == numbers[n]+1 {
			n++
		}
		if len(parts) == most {
			return strings.Join(parts, ", ") + fmt.Sprintf(", and %d more", len(numbers)-i)
		}
		part := fmt.Sprint(numbers[i])
		if n > i {
			part += fmt.Sprintf(" to %d", numbers[n])
		}
		parts = append(parts, part)
		i = n + 1
	}
	return strings.Join(parts, ", ")
}

// htmlPrediction is what an application's calls would meet, in a row.
type htmlPrediction struct {
	Source, Client, Order, Pool, Timeout string
	Calls, Fresh                         int
	Dead, Failed, Band                   string // shares, with what they are of
}

func predictions(o *probes.Outcome) []htmlPrediction {
	var out []htmlPrediction
	for _, p := range o.Predicted {
		out = append(out, htmlPrediction{
			Source: p.Source, Client: p.Client, Order: strings.ToUpper(string(p.Order)), Pool: counted(p.Connections, "connection"),
			Timeout: age(p.Timeout), Calls: p.Calls, Fresh: p.Fresh,
			Dead: sharePart(p.DeadShare(), p.Dead, p.Calls), Failed: sharePart(p.FailedShare(), p.Failed, p.Calls), Band: sharePart(p.BandShare(), p.InBand, p.Gaps),
		})
	}
	return out
}

func sharePart(share float64, n, of int) string {
	return fmt.Sprintf("%s%% (%d of %d)", decimal(100*share, 1), n, of)
}
