package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// HostCost is what several configs ask of one host together. Their runs know
// nothing of each other, so the peaks are added as if they fell together.
type HostCost struct {
	Host           string
	Configs        int
	Targets        int
	Rate           float64 // sum of the budgets, requests/s
	Share          float64 // sum of the shares of the host's rate limit
	RateLimit      float64 // the smallest that a config declares, requests/s
	Peak           float64
	MaxRequests    int // of one run of each
	Daily          int
	EachRun        int
	DailyLimit     int // the smallest that a config declares
	PeakOpen       int
	MaxConnections int // the smallest that a config declares
}

// Hosts sums the plans of several configs by host, sorted by host.
func Hosts(plans []*Plan) []HostCost {
	sums := map[string]*HostCost{}
	for _, p := range plans {
		seen := map[string]bool{}
		for _, c := range p.Targets {
			h := sums[c.Host]
			if h == nil {
				h = &HostCost{Host: c.Host, RateLimit: c.RateLimit, DailyLimit: c.DailyLimit, MaxConnections: c.MaxConnections}
				sums[c.Host] = h
			}
			if !seen[c.Host] {
				seen[c.Host] = true
				h.Configs++
			}
			h.add(c)
		}
	}
	hosts := make([]HostCost, 0, len(sums))
	for _, h := range slices.Collect(maps.Values(sums)) {
		h.Share = h.Rate / h.RateLimit
		hosts = append(hosts, *h)
	}
	slices.SortFunc(hosts, func(a, b HostCost) int { return cmp.Compare(a.Host, b.Host) })
	return hosts
}

func (h *HostCost) add(c TargetCost) {
	h.Targets++
	h.Rate += c.Rate
	h.RateLimit = min(h.RateLimit, c.RateLimit)
	h.Peak += c.Peak
	h.MaxRequests += c.MaxRequests
	h.Daily += c.Daily
	h.EachRun += c.EachRun
	h.DailyLimit = min(h.DailyLimit, c.DailyLimit)
	h.PeakOpen += c.PeakOpen
	h.MaxConnections = min(h.MaxConnections, c.MaxConnections)
}

// Over says which of the host's own limits the configs break together, though
// each keeps within it: an empty answer means none.
func (h HostCost) Over() []string {
	var over []string
	if h.Share > 1+1e-9 {
		over = append(over, fmt.Sprintf("budgets of %s/s together, its rate limit is %s/s", number(h.Rate), number(h.RateLimit)))
	}
	if h.Daily > h.DailyLimit {
		over = append(over, fmt.Sprintf("%d requests a day together, its daily limit is %d", h.Daily, h.DailyLimit))
	}
	if h.PeakOpen > h.MaxConnections {
		over = append(over, fmt.Sprintf("%d connections together, its limit is %d", h.PeakOpen, h.MaxConnections))
	}
	return over
}

// HostsText writes the sums for people. Its error is the writer's.
func HostsText(w io.Writer, hosts []HostCost) error {
	var b bytes.Buffer
	g := &table{right: []bool{false, true, true}}
	g.row("host", "configs", "targets", "budget", "peak", "each run", "a day", "open")
	for _, h := range hosts {
		day := TargetCost{Daily: h.Daily, EachRun: h.EachRun, DailyLimit: h.DailyLimit}
		g.row(h.Host, strconv.Itoa(h.Configs), strconv.Itoa(h.Targets),
			fmt.Sprintf("%s/s (%s of %s/s)", number(h.Rate), percent(h.Share), number(h.RateLimit)),
			fmt.Sprintf("%s in 1s", number(h.Peak)),
			strconv.Itoa(h.MaxRequests), day.dailyText(),
			fmt.Sprintf("%d of %d", h.PeakOpen, h.MaxConnections))
	}
	g.write(&b)
	for _, h := range hosts {
		for _, over := range h.Over() {
			fmt.Fprintf(&b, "note: %s: %s\n", h.Host, over)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
