// Package plan turns a config into steps: which request leaves when, what it
// costs, and whether that keeps within every limit. It is pure: the same config,
// options and seed give the same plan, and nothing here reads a clock.
//
// Ladders come first, the longest hold at the run's very start. With more than
// one probe the starts are spread, 50 ms for each, over at most ten seconds and
// at most a tenth of the shortest `every`, so that a run is hardly longer for
// it.
package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

// Options is what a plan depends on beside the config.
type Options struct {
	Seed      uint64
	Deadline  time.Duration           // of the whole run; 0: none
	Sent      map[string][]Sent       // what earlier runs sent to a target; none: nothing that still counts
	Only      []string                // patterns of targets or target/probe; empty: all
	Due       func(probes.Spec) bool  // nil: everything is due
	DailyUsed func(target string) int // requests already sent today; nil: none
	// Ends holds, per target/probe, the idle age at which the last run saw the
	// path end connections earlier than keep_alive; none: it did not. It adds a
	// rung to a ladder that the plan makes, and a note to the config's own.
	Ends map[string]time.Duration
	// Env is the environment, which may name a proxy; nil: an empty one. It changes
	// notes alone.
	Env func(string) (string, bool)
	// Brackets holds, per target/probe, what earlier runs know of the idle age at
	// which the path ends connections; none: nothing. Where nobody saw them end, a
	// ladder that the plan makes gets rungs that look for it.
	Brackets map[string]probes.Bracket
}

// Sent is what earlier runs sent to a target at one instant, or before it.
type Sent struct {
	Requests int
	Ago      time.Duration // since that instant; never negative
}

// Plan is what a run will do. All times are since the run's start.
type Plan struct {
	Name        string // the config's
	From        string // what the command line calls the config; set by cmd
	Seed        uint64
	Steps       []Step // by Start
	Targets     []TargetCost
	NotDue      []string      // target/probe that were left out as not due
	Notes       []string      // what is allowed but should be known
	Wall        time.Duration // the run's end, when answers come within their reach
	LongestWall time.Duration // the run's end, when every timeout and Settle are used up
	Settle      time.Duration // for how long the runner may wait for the first connections to open; 0: not at all
	Every       time.Duration // the shortest of all chosen probes; 0: none is set
	LongestHold time.Duration
	Requests    int // when all goes well: no control, no second try
	MaxRequests int // with every control, second try and redirect
	PeakOpen    int // connections open at once, all targets together
	Series      int // time series that the run creates; set by cmd, 0: not counted
	MaxSeries   int
	Told        string // where notices go, and how; set by cmd, empty: not said
	State       string // where the state is; set by cmd, empty: not said
	Policy      string // whose rules the plan keeps; set by cmd, empty: nobody's

	calendars map[string]*Calendar
}

// Step is one planned execution: an exchange (http), a rung (idle), or all bursts of a
// probe.
type Step struct {
	Index  int // in Plan.Steps
	Spec   *probes.Spec
	Hold   time.Duration // idle
	Unused bool          // idle: its connection carries nothing before it is held
	From   string        // idle: what the hold follows from, for people; "holds" is the config's own list
	Start  time.Duration // when its dial starts; its warm-up is booked for the same instant
	Rungs  int           // idle: how many rungs its probe has
	// NoRoom says why the step is to be skipped, which then has no booking: what
	// earlier runs sent leaves it no room. Empty: it has its place.
	NoRoom string

	Warm           Slot   // in the target's calendar: the warm-up, or the one exchange
	Reuse, Control Slot   // idle; else zero
	Next           []Slot // http with requests, burst: those after the first
	Controls       []Slot // burst: one for each
	Describe       Slot   // server reflection; else zero
}

// Calendar returns a target's calendar with the plan's bookings in it, for the
// runner to go on with; nil when the plan has no step for that target.
func (p *Plan) Calendar(target string) *Calendar { return p.calendars[target] }

// New makes the plan. Its error is a *Refusal, with every problem in it. What
// earlier runs sent moves steps; it is no reason to refuse what fits by itself.
func New(c config.Config, o Options) (*Plan, error) {
	alone := o
	alone.Sent = nil
	p, refusal := draft(c, alone)
	if len(refusal.Problems) > 0 {
		for i, problem := range refusal.Problems {
			refusal.Problems[i].Where = c.Places[problem.Subject]
		}
		return nil, refusal
	}
	if len(o.Sent) > 0 {
		first := p
		p, _ = draft(c, o)
		p.sayWaits(first)
	}
	return p, nil
}

// draft places everything and collects what is wrong with it.
func draft(c config.Config, o Options) (*Plan, *Refusal) {
	refusal := &Refusal{}
	p, desks := lay(c, o, refusal)
	p.checkTimes(desks, enough{c, o}, refusal)
	p.waitAtFirst(c.Alerts.Settle, o.Deadline)
	p.notePace()
	p.noteWays(desks, o.Env)
	p.noteTokens(desks)
	return p, refusal
}

// lay places everything, and says what the limits do not allow whatever the starts.
func lay(c config.Config, o Options, refusal *Refusal) (*Plan, []*desk) {
	p := &Plan{Name: c.Name, Seed: o.Seed, MaxSeries: c.Metrics.MaxSeries, calendars: map[string]*Calendar{}}
	desks := choose(c, o, refusal)
	p.describe(desks)
	spread(desks, p.Every, o.Seed)

	var open profile // of all targets
	for _, d := range desks {
		d.check(refusal)
		d.obey(c.Policy, refusal)
		d.settle(o.Deadline)
		d.skipLate(o.Deadline)
		for _, s := range d.steps {
			open.lay(s.opens(), s.Start)
		}
		p.take(d, o)
	}
	p.PeakOpen = open.max()
	p.sortSteps()
	return p, desks
}

// describe takes over what is known before anything is placed.
func (p *Plan) describe(desks []*desk) {
	for _, d := range desks {
		for _, j := range d.jobs {
			if every := j.spec.Every; every > 0 && (p.Every == 0 || every < p.Every) {
				p.Every = every
			}
			if !j.due {
				p.NotDue = append(p.NotDue, j.spec.ID())
			}
		}
	}
}

// take adds a target's steps and costs to the plan.
func (p *Plan) take(d *desk, o Options) {
	p.Steps = append(p.Steps, d.steps...)
	for _, j := range d.jobs {
		p.Notes = append(p.Notes, j.notes...)
		if late := fillsLate(j.spec); late != "" && j.due {
			p.Notes = append(p.Notes, late)
		}
		if j.due && j.spec.Reflects() {
			p.Notes = append(p.Notes, fmt.Sprintf("%s: server reflection describes %s first: a request more in a run, up to %d; a descriptor_set needs none",
				j.spec.ID(), j.spec.GRPC.Method, probes.MostDescribing))
		}
	}
	cost := d.cost(o)
	p.Targets = append(p.Targets, cost)
	p.Requests += cost.Requests
	p.MaxRequests += cost.MaxRequests
	p.LongestHold = max(p.LongestHold, cost.LongestHold)
	if len(d.steps) > 0 {
		p.calendars[d.target.Name] = d.cal
	}
	for _, s := range d.steps {
		if s.NoRoom != "" {
			continue
		}
		p.Wall = max(p.Wall, s.end())
		p.LongestWall = max(p.LongestWall, s.longestEnd())
	}
}

// waitAtFirst says for how long the runner may wait for the first connections:
// as long as the config says, but not so long that the deadline would cut short
// what could have run.
func (p *Plan) waitAtFirst(settle, deadline time.Duration) {
	p.Settle = settle
	if left := max(0, deadline-p.Wall).Truncate(100 * time.Millisecond); deadline > 0 && left < settle {
		p.Settle = left
		p.Notes = append(p.Notes, fmt.Sprintf("alerts.settle is %s in this run, not %s: more does not fit the deadline of %s", short(left), short(settle), short(deadline)))
	}
	if len(p.Steps) > 0 {
		p.LongestWall += p.Settle
	}
}

// sortSteps sorts and numbers the steps by start; those that start together stay in the
// config's order.
func (p *Plan) sortSteps() {
	slices.SortStableFunc(p.Steps, func(a, b Step) int { return cmp.Compare(a.Start, b.Start) })
	for i := range p.Steps {
		p.Steps[i].Index = i
	}
}

// end is when the step has ended if its answers come within their reach.
func (s Step) end() time.Duration {
	reach := Reach(s.Spec)
	if s.Spec.Kind == probes.KindIdle {
		return s.Start + s.Hold + 2*reach + ControlDelay
	}
	return s.Start + reach + lasting(s.Spec)
}

// longestEnd is when the step has ended if every timeout is used up. What a
// Retry-After asks for comes on top.
func (s Step) longestEnd() time.Duration {
	t := s.Spec.Timeouts
	follow := time.Duration(1 + s.Spec.Redirects)
	fresh := follow * (t.DNS + t.Connect + t.TLS + t.Response)
	if s.Spec.Kind == probes.KindIdle {
		return s.Start + fresh + s.Hold + follow*t.Response + fresh
	}
	if many(s.Spec) {
		return s.Start + fresh + lasting(s.Spec) + t.Response + fresh
	}
	if b := s.Spec.Burst; b != nil {
		// Every call without an answer keeps its connection until its timeout.
		rounds := time.Duration((b.Calls() + b.Connections - 1) / b.Connections)
		return s.Start + max(lasting(s.Spec), rounds*fresh) + 2*fresh
	}
	tries := time.Duration(max(1, s.Spec.Retry.Attempts))
	return s.Start + time.Duration(eachOf(s.Spec))*(tries*fresh+(tries-1)*s.Spec.Retry.Backoff)
}
