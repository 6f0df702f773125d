package plan

import (
	"fmt"
	"slices"
	"time"

	"perch.example/probes"
)

// asking is what a token endpoint's host is asked for.
type asking struct {
	host   string
	limit  int // token requests in a UTC day: the least of its probes' daily_limit
	daily  int // requests a day where each run is a process of its own, which asks once for each token
	probes []string
}

// askings are the token endpoints of some probes, in their order. A probe without an
// `every` counts for no day: nobody knows here how often the run is started.
func askings(specs []*probes.Spec) []*asking {
	var all []*asking
	by := map[string]*asking{}
	often := map[string]time.Duration{} // by what gets the same token, the shortest every
	for _, s := range specs {
		o := s.OAuth
		if o == nil {
			continue
		}
		a := by[o.Host()]
		if a == nil {
			a = &asking{host: o.Host(), limit: o.DailyLimit}
			by[a.host], all = a, append(all, a)
		}
		a.limit = min(a.limit, o.DailyLimit)
		if slices.Contains(a.probes, s.ID()) {
			continue
		}
		a.probes = append(a.probes, s.ID())
		before, again := often[o.Key()]
		if s.Every == 0 || again && before <= s.Every {
			continue
		}
		if again {
			a.daily -= runsADay(before)
		}
		often[o.Key()] = s.Every
		a.daily += runsADay(s.Every)
	}
	return all
}

// runsADay is how many runs a day an `every` makes, at most.
func runsADay(every time.Duration) int { return int((day + every - 1) / every) }

// noteTokens says where a day's runs would ask for more tokens than daily_limit. It is
// no reason to refuse: perch serve keeps its tokens, and asks when one ends.
func (p *Plan) noteTokens(desks []*desk) {
	var specs []*probes.Spec
	for _, d := range desks {
		for _, j := range d.jobs {
			specs = append(specs, j.spec)
		}
	}
	for _, a := range askings(specs) {
		if a.daily <= a.limit {
			continue
		}
		p.Notes = append(p.Notes, fmt.Sprintf("%s is asked for tokens %d times a day where each run is a process of its own, as in a CronJob, and oauth2.daily_limit is %d: "+
			"when it is used up, the probes that need one are skipped until midnight UTC: a longer every, or a daily_limit of %d, would fit; perch serve keeps its tokens, and asks less",
			a.host, a.daily, a.limit, a.daily))
	}
}

// calls are the probes of the plan's steps, each once.
func (p *Plan) calls() []*probes.Spec {
	seen := map[string]bool{}
	var specs []*probes.Spec
	for _, s := range p.Steps {
		if !seen[s.Spec.ID()] {
			seen[s.Spec.ID()] = true
			specs = append(specs, s.Spec)
		}
	}
	return specs
}
