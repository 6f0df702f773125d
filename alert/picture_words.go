package alert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxAlt is what a description of a picture may hold; Slack takes 2,000.
const maxAlt = 1000

// altLadder says what drawLadder shows, for those who do not see it. Empty, if
// nothing is drawn.
func altLadder(charts Charts) string {
	charts = charts.bounded()
	if len(charts.Ladder) == 0 {
		return ""
	}
	var rungs []string
	for _, r := range charts.Ladder {
		rungs = append(rungs, age(max(0, r.Hold))+" "+rungWords(r))
	}
	parts := []string{"Connections held idle, then used again: " + strings.Join(rungs, ", ")}
	if charts.banded() {
		parts = append([]string{"The client's danger band: " + bandWords(charts.Band)}, parts...)
	}
	if charts.Expected > 0 {
		parts = append([]string{"Expected to live: " + age(charts.Expected)}, parts...)
	}
	return shorten(strings.Join(parts, ". ")+".", maxAlt, "…")
}

// altLatency says what drawLatency shows. Empty, if nothing is drawn.
func altLatency(charts Charts) string {
	charts = charts.bounded()
	var parts []string
	for _, l := range charts.lanes() {
		var times []time.Duration
		failed := 0
		for _, a := range l.attempts {
			times = append(times, a.Elapsed)
			if !a.OK {
				failed++
			}
		}
		took := latency(slices.Min(times))
		if longest := latency(slices.Max(times)); longest != took {
			took += " to " + longest
		}
		many := "1 attempt"
		if len(times) > 1 {
			many = strconv.Itoa(len(times)) + " attempts"
		}
		parts = append(parts, fmt.Sprintf("%s: %s in %s, %d failed", l.connection, many, took, failed))
	}
	if len(parts) == 0 {
		return ""
	}
	if rtt := charts.roundTrip(); rtt > 0 {
		parts = append(parts, "round trip: "+latency(rtt))
	}
	return "How long attempts took. " + capital(strings.Join(parts, "; ")) + "."
}
