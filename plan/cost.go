package plan

import (
	"math"
	"time"

	"perch.example/probes"
)

const day = 24 * time.Hour

// TargetCost is what the plan asks of one target, against its limits.
type TargetCost struct {
	Target    string
	Host      string  // of its URL, as probes.CanonicalHost writes it, whatever the port
	RateLimit float64 // what the API allows the whole service, requests/s
	Share     float64
	Rate      float64       // what perch may use of it, requests/s
	Window    time.Duration // in any Window, Allowed requests may leave
	Allowed   int
	Peak      float64 // largest number of requests booked in any second, controls included

	Requests       int // of this run, when all goes well
	MaxRequests    int // of this run, with every control, second try and redirect
	Daily          int // at most, of the chosen probes with an `every`, due or not
	EachRun        int // at most, of those without: their runs a day are not known here
	DailyLimit     int
	DailyUsed      int // already sent today
	PeakOpen       int // connections
	MaxConnections int
	LongestHold    time.Duration
}

func (d *desk) cost(o Options) TargetCost {
	t := d.target
	c := TargetCost{
		Target: t.Name, Host: probes.CanonicalHost(t.URL.Hostname()),
		RateLimit: float64(t.RateLimit), Share: t.Share, Rate: t.Budget(),
		Window: d.cal.Window(), Allowed: d.cal.Allowed(), Peak: d.cal.Peak(),
		DailyLimit: t.DailyLimit, PeakOpen: d.open.load.max(), MaxConnections: t.MaxConnections,
	}
	if o.DailyUsed != nil {
		c.DailyUsed = o.DailyUsed(t.Name)
	}
	for _, j := range d.jobs {
		if every := j.spec.Every; every > 0 {
			c.Daily += j.daily()
		} else {
			c.EachRun += j.most()
		}
		if j.due {
			c.Requests += j.usual()
			c.MaxRequests += j.most()
			c.LongestHold = max(c.LongestHold, j.longest())
		}
	}
	return c
}

// mostDaily is how many requests a day may leave: what is planned, or for probes
// without an `every`, whose runs nobody knows here, what the limit allows.
func (c TargetCost) mostDaily() int {
	if c.EachRun > 0 {
		return c.DailyLimit
	}
	return c.Daily
}

// usual returns how many requests a run of the probe sends when all goes well.
func (j *job) usual() int {
	if j.spec.Kind == probes.KindIdle {
		return 2*j.holds() + j.described(1)
	}
	if b := j.spec.Burst; b != nil {
		return b.Calls()
	}
	return max(1, j.spec.Requests) + j.described(1)
}

// described is how many requests of a run server reflection takes, of that many:
// what it says is remembered for the run's other steps.
func (j *job) described(requests int) int {
	if !j.spec.Reflects() {
		return 0
	}
	return requests
}

// most returns how many it sends at most: each rung with its control, each
// exchange with its second tries, each request with its redirects, and what another
// token is asked again with.
func (j *job) most() int {
	n := max(1, j.spec.Retry.Attempts)
	if j.spec.Kind == probes.KindIdle {
		n = 3 * j.holds()
	}
	if many(j.spec) {
		n = j.spec.Requests + 1 // a control
	}
	if b := j.spec.Burst; b != nil {
		n = b.Calls() + b.Bursts // and their controls
	}
	n = (n + j.renewed()) * eachOf(j.spec)
	return n*(1+j.spec.Redirects) + j.described(probes.MostDescribing)
}

// daily returns how many requests a probe with an `every` sends a day at most. A
// search is over after a few runs, and does not count in all of them.
func (j *job) daily() int {
	runs := int(math.Ceil(float64(day) / float64(j.spec.Every)))
	searching := 0
	for _, r := range j.rungs {
		if r.rank == rankSearch {
			searching += 3 * (1 + j.spec.Redirects)
		}
	}
	return (j.most()-searching)*runs + searching*min(runs, searchRuns)
}
