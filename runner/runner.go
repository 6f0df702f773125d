// Package runner plays plans: steps go in, observations come out as they
// finish. It enforces the budget where bytes leave, and nothing in it knows of
// config files, verdicts or sinks.
package runner

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"perch.example/plan"
	"perch.example/probes"
	"perch.example/probes/wire"
)

// Options is what a runner needs from outside.
type Options struct {
	Targets    []probes.Target
	Policy     *probes.Policy // what leaves keeps it, whatever was planned; nil: there is none
	UserAgent  string
	Secrets    probes.ReadSecret // called anew for each wave, and after a 401
	ReadFile   func(string) ([]byte, error)
	Daily      func(target string) int // requests still allowed on the runner's first day; nil: each target's daily_limit
	Sent       map[string][]plan.Sent  // what earlier runs sent to a target until now, which the last gate counts, too
	LeaveAlone map[string]time.Time    // until when a target asked to be left alone (Retry-After); an hour at most counts
	TokensSent func(host string) int   // OAuth2 token requests to a host on the runner's first day, by earlier runs; nil: none
	Dial       wire.DialFunc           // nil: the real network
	Resolve    wire.ResolveFunc        // nil: the system's resolver
	Settle     time.Duration           // for how long after the runner's start a connection that cannot be opened is tried again; 0: never
	Watch      func(probes.Event)      // nil: nobody watches
	Fence      func() error            // right before a connection is opened or a request leaves: why nothing may leave any more, whatever it was planned for; nil: nothing bars it
	Log        *slog.Logger

	Getenv func(string) (string, bool) // the environment, which may name a proxy; nil: an empty one
}

// Result is what a wave leaves beside its observations.
type Result struct {
	Budget   []probes.BudgetUse
	CutShort string          // why the wave was cut short; empty: it was not
	Delays   []time.Duration // perch's own lateness samples, bounded
	Settled  []probes.Settled
	Tokens   map[string]int // OAuth2 token requests that left, by host
}

// Runner plays plans, one after the other or several at once: they share the
// budget of each target, for as long as the process lives. Make one with New.
type Runner struct {
	tokens  *tokens
	settles time.Time // until then a connection that cannot be opened is tried again
	pulse   pulse
	policy  atomic.Pointer[probes.Policy] // that holds now
	fence   func() error                  // of the first options, for good

	mu      sync.Mutex
	options Options
	began   time.Time // when the options came
	targets map[string]probes.Target
	left    map[string]int     // requests still allowed then
	budgets map[string]*budget // of the targets that had a step

	descriptors probes.Descriptors // of gRPC methods, for all waves
}

// New returns a runner that has sent nothing yet.
func New(o Options) *Runner {
	now := time.Now()
	r := &Runner{tokens: newTokens(o.TokensSent), settles: now.Add(o.Settle), budgets: map[string]*budget{}, fence: o.Fence}
	if r.fence == nil {
		r.fence = func() error { return nil }
	}
	if o.Dial == nil {
		r.pulse.listens = listens
	}
	r.take(o, now)
	return r
}

// take takes over what the runner needs from outside.
func (r *Runner) take(o Options, now time.Time) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.LeaveAlone = maps.Clone(o.LeaveAlone)
	r.options, r.began = o, now
	r.policy.Store(o.Policy)
	r.targets, r.left = map[string]probes.Target{}, map[string]int{}
	for _, t := range o.Targets {
		r.targets[t.Name], r.left[t.Name] = t, t.DailyLimit
		if o.Daily != nil {
			r.left[t.Name] = o.Daily(t.Name)
		}
	}
}

// Run plays one plan and calls yield for each finished step.
func Run(ctx context.Context, p *plan.Plan, o Options, yield func(probes.Observation)) Result {
	return New(o).Play(ctx, p, yield)
}

// Play plays a plan, a wave, and calls yield for each finished step, one at a
// time. Its steps start when the plan says, or later where other waves have
// taken the budget. When ctx ends, no further step starts, holds are cut short,
// and what is running ends as canceled; Play returns after the last yield.
func (r *Runner) Play(ctx context.Context, p *plan.Plan, yield func(probes.Observation)) Result {
	w := r.newWave(ctx, p)
	r.pulse.enter(&w.env)
	if len(p.Steps) == 1 { // perch serve: a goroutine more, and its stack's growth, is a tenth of what a probe costs
		w.startAll(ctx)
	} else {
		go w.startAll(ctx)
	}
	for range p.Steps {
		yield(<-w.done)
	}
	res := Result{Delays: r.pulse.exit(), Tokens: r.tokens.taken()}
	if ctx.Err() != nil {
		res.CutShort = context.Cause(ctx).Error()
	}
	for _, c := range p.Targets {
		if mine, there := w.shares[c.Target]; there {
			use, settled := mine.exit(mine.tally, w.targets[c.Target])
			res.Budget = append(res.Budget, use)
			if settled.Times > 0 {
				res.Settled = append(res.Settled, settled)
			}
		}
	}
	return res
}

// Knows reports whether a target had a step: then the runner knows itself what
// left to it last.
func (r *Runner) Knows(target string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.budgets[target] != nil
}
