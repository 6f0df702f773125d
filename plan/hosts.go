package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
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
	MostDaily      int // what may leave in a day, that of probes without an `every` included
	Parts          []HostPart
}

// HostPart is what one config asks of a host.
type HostPart struct {
	Config    string // what the command line calls it
	Targets   []string
	RateLimit float64 // the smallest that it declares, requests/s
	Rate      float64
	MostDaily int
	PeakOpen  int
}

// Hosts sums the plans of several configs by host, sorted by host.
func Hosts(plans []*Plan) []HostCost {
	sums := map[string]*HostCost{}
	for _, p := range plans {
		for _, c := range p.Targets {
			h := sums[c.Host]
			if h == nil {
				h = &HostCost{Host: c.Host, RateLimit: c.RateLimit, DailyLimit: c.DailyLimit, MaxConnections: c.MaxConnections}
				sums[c.Host] = h
			}
			h.add(c)
		}
		for _, part := range p.parts() {
			h := sums[part.host]
			h.Configs++
			h.Parts = append(h.Parts, part.HostPart)
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
	h.MostDaily += c.mostDaily()
}

// partOf is a config's part of a host.
type partOf struct {
	host string
	HostPart
}

// parts are the plan's, a host each, in the order of its targets.
func (p *Plan) parts() []partOf {
	var parts []partOf
	for _, c := range p.Targets {
		i := slices.IndexFunc(parts, func(one partOf) bool { return one.host == c.Host })
		if i < 0 {
			i = len(parts)
			parts = append(parts, partOf{c.Host, HostPart{Config: cmp.Or(p.From, p.Name), RateLimit: c.RateLimit}})
		}
		one := &parts[i]
		one.Targets = append(one.Targets, c.Target)
		one.RateLimit = min(one.RateLimit, c.RateLimit)
		one.Rate += c.Rate
		one.MostDaily += c.mostDaily()
		one.PeakOpen += c.PeakOpen
	}
	return parts
}

// Differing says that the configs do not agree on what the host allows; empty:
// they do. The smallest counts, and the others may be right.
func (h HostCost) Differing() string {
	by := map[float64][]string{}
	for _, p := range h.Parts {
		by[p.RateLimit] = append(by[p.RateLimit], p.Config)
	}
	if len(by) < 2 {
		return ""
	}
	var words []string
	for _, limit := range slices.Sorted(maps.Keys(by)) {
		who := by[limit]
		if len(who) > mostParts {
			who = append(who[:mostParts:mostParts], fmt.Sprintf("and %d more", len(who)-mostParts))
		}
		words = append(words, fmt.Sprintf("%s/s (%s)", number(limit), strings.Join(who, ", ")))
	}
	return "the configs declare different rate limits, the smallest counts here: " + strings.Join(words, "; ")
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
		if differing := h.Differing(); differing != "" {
			fmt.Fprintf(&b, "note: %s: %s\n", h.Host, differing)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
