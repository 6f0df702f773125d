package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"perch.example/probes"
)

// burstRows is how many bursts have a line of their own.
const burstRows = 12

// burst adds a burst probe's bursts, each in a line.
func (p *page) burst(o *probes.Outcome) {
	if o.Burst == nil {
		return
	}
	if text := burstEnded(o.Burst); text != "" {
		defer func() { p.hang([]span{plain(margin)}, span{inkWarn, text}) }()
	}
	sums := o.Burst.Sums(o.Attempts)
	if len(sums) == 0 {
		return
	}
	row := func(shade ink, cells [7]string) {
		p.hang([]span{plain(margin), {shade, burstRow(cells)}}, span{shade, cells[6]})
	}
	row(inkFaint, [7]string{"burst", "calls", "fresh", "reused", "dead", "failed", "which calls"})
	for _, s := range sums[:min(len(sums), burstRows)] {
		shade := inkPlain
		if s.Dead > 0 {
			shade = inkWarn
		}
		row(shade, [7]string{
			fmt.Sprint(s.Burst), fmt.Sprint(s.Calls), fmt.Sprint(s.Fresh), fmt.Sprint(s.Reused), fmt.Sprint(s.Dead), fmt.Sprint(s.Failed), whichCalls(s),
		})
	}
	if more := sums[min(len(sums), burstRows):]; len(more) > 0 {
		t := probes.Total(more)
		p.hang([]span{plain(margin)}, span{inkFaint, fmt.Sprintf("%s more: %d of %d calls drew a dead connection", counted(len(more), "burst"), t.Dead, t.Calls)})
	}
	if t := probes.Total(sums); t.Dead+t.Failed > 0 {
		p.hang([]span{plain(margin)}, span{inkFaint, "dead: given a connection that had ended; failed: for another cause"})
	}
}

// burstRow is the table's columns of numbers; a terminal's spaces are kept by what does not break.
func burstRow(cells [7]string) string {
	row := fmt.Sprintf("%5s %6s %6s %7s %5s %7s  ", cells[0], cells[1], cells[2], cells[3], cells[4], cells[5])
	return strings.ReplaceAll(row, " ", unbroken)
}

// burstEnded says why a burst probe made fewer calls than it was to make; empty: it made all.
func burstEnded(b *probes.BurstSeen) string {
	if b == nil || b.Ended == "" || b.NotMade() == 0 {
		return ""
	}
	text := "Ended early"
	if n := len(b.Calls); n > 0 {
		text += fmt.Sprintf(", after call %d of burst %d", b.Calls[n-1].Number, b.Calls[n-1].Burst)
	}
	return fmt.Sprintf("%s: %s; %s of %d were not made.", text, clean(b.Ended), counted(b.NotMade(), "call"), b.Shape.Calls())
}

// whichCalls says where in a burst the dead connections were drawn.
func whichCalls(s probes.BurstSum) string {
	switch {
	case s.Dead == 0 && s.Reused == 0:
		return ""
	case s.Dead == 0:
		return "idle for up to " + age(s.Idle)
	case s.First == s.Last:
		return fmt.Sprintf("call %d, after %s idle", s.First, age(s.DeadIdle))
	case s.Last-s.First+1 == s.Dead:
		return fmt.Sprintf("calls %d to %d, after %s idle", s.First, s.Last, deadAfter(s))
	}
	return fmt.Sprintf("%d from call %d to %d, after %s idle", s.Dead, s.First, s.Last, deadAfter(s))
}

// deadAfter is for how long the dead connections had been idle.
func deadAfter(s probes.BurstSum) string {
	if least, most := age(s.DeadIdle), age(s.DeadMost); least != most {
		return least + " to " + most
	}
	return age(s.DeadIdle)
}

// burstSummary is a burst probe in one line.
func burstSummary(o *probes.Outcome) string {
	if o.Burst == nil || len(o.Burst.Calls) == 0 || stopped(o) {
		return o.Message
	}
	sums := o.Burst.Sums(o.Attempts)
	t := probes.Total(sums)
	text := fmt.Sprintf("%s in %s through %s (%s): ", counted(t.Calls, "call"), counted(len(sums), "burst"), counted(o.Burst.Shape.Connections, "connection"), orderShort(o.Burst.Order))
	switch {
	case t.Dead > 0:
		text += fmt.Sprintf("%d of %d reused connections were dead", t.Dead, t.Reused)
		if o.Verdict == probes.VerdictPass && o.Client != nil && o.Client.Experiences != "" {
			text += ", and " + clean(o.Client.Kind+" "+o.Client.Experiences)
		}
	case t.Reused > 0:
		text += fmt.Sprintf("each of %d reused connections worked, after up to %s idle", t.Reused, age(t.Idle))
	default:
		text += "no connection was used twice"
	}
	if t.Failed > 0 {
		text += fmt.Sprintf("; %s failed for another cause", counted(t.Failed, "call"))
	}
	return text
}

func orderShort(o probes.PoolOrder) string {
	if o == probes.PoolOldest {
		return "oldest first"
	}
	return strings.ToUpper(string(o))
}

// predictionsText is what a probe's outcomes predict, a sentence for each source of calls.
func predictionsText(outcomes []*probes.Outcome) []string {
	var order []string
	by := map[string][]probes.Prediction{}
	var band *probes.Band
	for _, o := range outcomes {
		if o.Client != nil && o.Client.Band != nil {
			band = o.Client.Band
		}
		for _, p := range o.Predicted {
			if by[p.Source] == nil {
				order = append(order, p.Source)
			}
			by[p.Source] = append(by[p.Source], p)
		}
	}
	var said []string
	for _, source := range order {
		if all := by[source]; len(all) == 1 && !all[0].Common {
			said = append(said, predicted(all[0], band))
		} else {
			said = append(said, predictedByClient(all))
		}
	}
	return said
}

// predicted is one prediction in words.
func predicted(p probes.Prediction, band *probes.Band) string {
	text := fmt.Sprintf("Predicted from %s: of the application's %s (%s, %s, %s) %s meet a dead connection and %s fail for it",
		clean(p.Source), counted(p.Calls, "call"), p.Client, poolOf(p), orderShort(p.Order), shareOf(p.DeadShare(), p.Dead), shareOf(p.FailedShare(), p.Failed))
	if p.Gaps == 0 {
		return text + "; no connection is used twice."
	}
	text += fmt.Sprintf("; %s of its %s lie in the danger band", shareOf(p.BandShare(), p.InBand), counted(p.Gaps, "gap"))
	if band != nil {
		text += " (" + bandWords(band) + ")"
	}
	return text + "."
}

// predictedByClient is one source of calls through the pool of each common client that would
// meet a dead connection, the worst first.
func predictedByClient(all []probes.Prediction) string {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b probes.Prediction) int { return b.Failed - a.Failed })
	var each []string
	for _, p := range all {
		each = append(each, fmt.Sprintf("%s %s fail, %s meet one", p.Client, shareOf(p.FailedShare(), p.Failed), shareOf(p.DeadShare(), p.Dead)))
	}
	return fmt.Sprintf("Predicted from %s: of the application's %s these meet a dead connection, by client: %s. Others meet none.",
		clean(all[0].Source), counted(all[0].Calls, "call"), strings.Join(each, "; "))
}

func poolOf(p probes.Prediction) string {
	if p.Connections <= 0 {
		return "as many connections as they need"
	}
	return "a pool of " + fmt.Sprint(p.Connections)
}

// shareOf writes a share; a few of very many are never 0%.
func shareOf(share float64, n int) string {
	switch rounded := math.Round(100 * share); {
	case n == 0:
		return "none"
	case rounded < 1:
		return "less than 1%"
	case rounded == 100 && share < 1:
		return "more than 99%"
	default:
		return fmt.Sprintf("%.0f%%", rounded)
	}
}

// predictions adds them below a probe's line.
func (p *page) predictions(v probeView) {
	for _, text := range predictionsText(v.outcomes) {
		p.hang([]span{plain(margin)}, plain(text))
	}
}
