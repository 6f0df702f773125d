package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// capped is the longest hold that the platform team's policy leaves of one, and
// what bounds it then.
func capped(longest time.Duration, bound string, p *probes.Policy) (time.Duration, string) {
	if p == nil || p.MaxHold == 0 || longest > 0 && longest <= p.MaxHold {
		return longest, bound
	}
	return p.MaxHold, "the policy (" + p.At("max_hold") + ")"
}

// obey refuses a hold that the policy does not allow. A rung that a ladder can do
// without is left out before: capped.
func (d *desk) obey(p *probes.Policy, r *Refusal) {
	if p == nil || p.MaxHold == 0 {
		return
	}
	for _, j := range d.jobs {
		if longest := j.longest(); j.spec.Kind == probes.KindIdle && longest > p.MaxHold {
			r.add(j.spec.ID(), "a hold of %s (%s) is longer than the policy allows (%s): %s",
				short(longest), j.rungs[0].from, p.At("max_hold"), wouldFit("holds up to "+short(p.MaxHold)))
		}
		if b := j.spec.Burst; b != nil && b.Lasts() > p.MaxHold {
			r.add(j.spec.ID(), "its pool keeps connections for %s, from the first call to the last, and the policy allows %s (%s): shorter bursts or gaps, or fewer, would fit",
				short(b.Lasts()), short(p.MaxHold), p.At("max_hold"))
		}
	}
}

// OverPolicy says which hosts the configs ask more of together than the policy
// allows the whole fleet, each with what adds up to it; an empty answer means none.
func OverPolicy(hosts []HostCost, p *probes.Policy) []string {
	if p == nil {
		return nil
	}
	var over []string
	for _, l := range p.Fleet {
		i := slices.IndexFunc(hosts, func(h HostCost) bool { return h.Host == l.Host })
		if i < 0 {
			continue
		}
		for _, text := range hosts[i].overLimit(l) {
			over = append(over, fmt.Sprintf("%s: %s (%s)", l.Host, text, p.AtHost(l)))
		}
	}
	return over
}

// overLimit says which parts of a host's limit are broken, and by whom.
func (h HostCost) overLimit(l probes.HostLimit) []string {
	var over []string
	if most := l.RateLimit * cmp.Or(l.Share, 1); l.RateLimit > 0 && h.Rate > most*(1+1e-9) {
		over = append(over, fmt.Sprintf("the budgets are %s/s together, the policy allows %s/s: %s",
			number(h.Rate), number(most), h.sum(func(p HostPart) float64 { return p.Rate }, "/s")))
	}
	if l.DailyLimit > 0 && h.MostDaily > l.DailyLimit {
		over = append(over, fmt.Sprintf("up to %d requests a day together, the policy allows %d: %s",
			h.MostDaily, l.DailyLimit, h.sum(func(p HostPart) float64 { return float64(p.MostDaily) }, " a day")))
	}
	if l.MaxConnections > 0 && h.PeakOpen > l.MaxConnections {
		over = append(over, fmt.Sprintf("%d connections together, the policy allows %d: %s",
			h.PeakOpen, l.MaxConnections, h.sum(func(p HostPart) float64 { return float64(p.PeakOpen) }, "")))
	}
	return over
}

// mostParts bounds how many configs a sum names: the largest are what to change.
const mostParts = 10

// sum names what adds up, the largest first: "fleet/shop 1/s (stock-api), ...".
func (h HostCost) sum(of func(HostPart) float64, unit string) string {
	parts := slices.Clone(h.Parts)
	slices.SortStableFunc(parts, func(a, b HostPart) int { return cmp.Compare(of(b), of(a)) })
	var words []string
	for i, p := range parts {
		if i == mostParts {
			words = append(words, fmt.Sprintf("and %d more", len(parts)-mostParts))
			break
		}
		words = append(words, fmt.Sprintf("%s %s%s (%s)", p.Config, number(of(p)), unit, strings.Join(p.Targets, ", ")))
	}
	return strings.Join(words, "; ")
}
