// Package runner plays a plan: steps go in, observations come out as they
// finish. It enforces the budget where bytes leave, and nothing in it knows of
// config files, verdicts or sinks.
package runner

import (
	"context"
	"log/slog"
	"time"

	"perch.example/plan"
	"perch.example/probes"
	"perch.example/probes/wire"
)

// Options is what a run needs from outside.
type Options struct {
	Targets    []probes.Target
	Seed       uint64
	UserAgent  string
	Secrets    probes.ReadSecret
	ReadFile   func(string) ([]byte, error)
	Daily      func(target string) int // requests still allowed today; nil: each target's daily_limit
	LeaveAlone map[string]time.Time    // until when a target asked to be left alone (Retry-After); an hour at most counts
	Dial       wire.DialFunc           // nil: the real network
	Resolve    wire.ResolveFunc        // nil: the system's resolver
	Settle     time.Duration           // for how long after the start a connection that cannot be opened is tried again; 0: never
	Watch      func(probes.Event)      // nil: nobody watches
	Log        *slog.Logger
}

// Result is what a pass leaves beside its observations.
type Result struct {
	Budget   []probes.BudgetUse
	CutShort string          // why the run was cut short; empty: it was not
	Delays   []time.Duration // perch's own lateness samples, bounded
	Settled  []probes.Settled
}

// Run plays the plan once and calls yield for each finished step, one at a
// time. When ctx ends, no further step starts, holds are cut short, and what
// is running ends as canceled; Run returns after the last yield.
func Run(ctx context.Context, p *plan.Plan, o Options, yield func(probes.Observation)) Result {
	began := time.Now()
	r := &run{options: o, budgets: map[string]*budget{}, start: began.Add(firstLead), done: make(chan probes.Observation, 64)}
	r.secrets = newSecretCache(o.Secrets)
	if r.options.Log == nil {
		r.options.Log = slog.New(slog.DiscardHandler)
	}
	r.env = probes.Env{
		Dial: o.Dial, Resolve: o.Resolve, Secrets: r.secrets.read, ReadFile: o.ReadFile,
		UserAgent: o.UserAgent, IDs: probes.NewIDs(o.Seed), Watch: o.Watch, Log: r.options.Log,
	}
	for _, t := range o.Targets {
		daily := t.DailyLimit
		if o.Daily != nil {
			daily = o.Daily(t.Name)
		}
		if cal := p.Calendar(t.Name); cal != nil {
			r.budgets[t.Name] = newBudget(t, cal, daily, r.start)
			r.budgets[t.Name].noted(o.LeaveAlone[t.Name], began)
			r.budgets[t.Name].first = settling{
				began: began, until: began.Add(o.Settle), log: r.options.Log, told: probes.Settled{Target: t.Name},
			}
		}
	}
	pod := newOwnPod(hostSystem())
	defer pod.close()
	watch := watchLateness(ctx, pod.sample)
	r.env.Own = func(since time.Time) probes.OwnPod { return pod.since(since, watch.since(since)) }
	if o.Dial == nil { // elsewhere nothing of this machine's is on the way
		mesh := lookForMesh(ctx, listens)
		defer mesh.end()
		r.env.Mesh = mesh.found
	}
	go r.startAll(ctx, p.Steps)
	for range p.Steps {
		yield(<-r.done)
	}
	res := Result{Delays: watch.stop()}
	if ctx.Err() != nil {
		res.CutShort = context.Cause(ctx).Error()
	}
	for _, t := range o.Targets {
		if b := r.budgets[t.Name]; b != nil {
			res.Budget = append(res.Budget, b.use(t))
			if b.first.told.Times > 0 {
				res.Settled = append(res.Settled, b.first.told)
			}
		}
	}
	return res
}

type run struct {
	options Options
	env     probes.Env
	budgets map[string]*budget
	secrets *secretCache
	start   time.Time
	done    chan probes.Observation
}

// startAll starts each step at its instant. A step is a goroutine of its own:
// an hour's hold takes no place from a 30 s one.
func (r *run) startAll(ctx context.Context, steps []plan.Step) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for _, s := range steps {
		timer.Reset(time.Until(r.start.Add(s.Start - r.budgets[s.Spec.Target].lead())))
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			r.done <- unstarted(s, probes.CutCanceled, "not started: "+context.Cause(ctx).Error())
			continue
		}
		mine, why := r.budgets[s.Spec.Target].admit(s)
		if why != "" {
			r.done <- unstarted(s, probes.CutSkipped, why)
			continue
		}
		go r.play(ctx, s, mine)
	}
}

func (r *run) play(ctx context.Context, s plan.Step, mine *slots) {
	env := r.env
	env.Step, env.Slots = s.Index, mine
	if r.options.Settle > 0 {
		env.Settler = mine
	}
	env.Learn = func(a probes.Attempt) { r.learn(mine.budget, a) }
	report := func(o probes.Observation) {
		mine.release()
		r.report(o)
	}
	switch s.Spec.Kind {
	case probes.KindIdle:
		probes.StartIdle(ctx, s.Spec, s.Hold, env, report)
	case probes.KindHTTP:
		report(guarded(s, func() probes.Observation { return probes.RunHTTP(ctx, s.Spec, env) }))
	default:
		report(unstarted(s, probes.CutInternal, "a bug in perch: no probe of kind "+string(s.Spec.Kind)))
	}
}

// learn lets an attempt speak for those that come after it.
func (r *run) learn(b *budget, a probes.Attempt) {
	b.learn(a)
	if a.Reason == probes.ReasonUnauthorized {
		r.secrets.forget()
	}
}

func (r *run) report(o probes.Observation) {
	if o.Problem != "" {
		r.options.Log.Error("step failed in perch itself", "target", o.Target, "probe", o.Probe, "problem", o.Problem)
	}
	r.options.Log.Debug("step ended", "target", o.Target, "probe", o.Probe, "hold", o.Hold, "cut", o.Cut, "attempts", len(o.Attempts))
	r.done <- o
}

// guarded turns a panic into an internal observation.
func guarded(s plan.Step, f func() probes.Observation) (o probes.Observation) {
	defer func() {
		if p := recover(); p != nil {
			o = probes.Panicked(unstarted(s, probes.CutInternal, ""), p)
		}
	}()
	return f()
}

func unstarted(s plan.Step, why probes.Cut, detail string) probes.Observation {
	now := time.Now()
	o := probes.Observation{
		Target: s.Spec.Target, Probe: s.Spec.Probe, Kind: s.Spec.Kind, Hold: s.Hold, Search: s.Spec.Search,
		Started: now, Ended: now, Cut: why, CutDetail: detail,
	}
	if why == probes.CutInternal {
		o.Problem = detail
	}
	return o
}
