package runner

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"perch.example/plan"
	"perch.example/probes"
	"perch.example/probes/wire"
)

// wave is one plan that is played.
type wave struct {
	runner  *Runner
	env     probes.Env
	settle  bool
	secrets *secretCache
	shares  map[string]share // by target
	targets map[string]probes.Target
	steps   []timed  // by at
	turns   []uint64 // of each step, among those of its probe
	done    chan probes.Observation
}

// share is a wave's part in a target's budget.
type share struct {
	*budget
	*tally
}

// timed is a step and when its first request is booked. The zero time: there
// is no room for it, ever.
type timed struct {
	plan.Step
	at time.Time
}

// newWave takes part in the budgets of the plan's targets, and books its steps,
// once the tokens that these begin with are there.
func (r *Runner) newWave(ctx context.Context, p *plan.Plan) *wave {
	r.mu.Lock()
	o, targets := r.options, r.targets
	r.mu.Unlock()
	w := &wave{
		settle: o.Settle > 0, runner: r, targets: targets, secrets: newSecretCache(o.Secrets), shares: map[string]share{},
		done: make(chan probes.Observation, min(len(p.Steps), 64)), // a wave of perch serve is one step
	}
	w.env = probes.Env{
		Dial: o.Dial, Resolve: o.Resolve, Chains: &wire.Chains{}, Policy: o.Policy, Descriptors: &r.descriptors, Refusals: &probes.ProxyRefusals{}, Secrets: w.secrets.read, ReadFile: o.ReadFile, Getenv: o.Getenv,
		UserAgent: o.UserAgent, IDs: probes.NewIDs(p.Seed), Watch: o.Watch, Log: o.Log, Fence: r.fence,
	}
	w.env.Token = func(ctx context.Context, s *probes.Spec, wish probes.TokenWish) (probes.Secret, error) {
		if wish.Refused != (probes.Secret{}) {
			w.secrets.forget() // the client's secret may have been rotated, too
		}
		return r.tokens.get(ctx, s, w.env, wish)
	}
	r.tokens.fetchFirst(ctx, p, w.env)
	now := time.Now()
	soonest := map[string]time.Duration{} // of the targets whose budgets other waves began
	for _, c := range p.Targets {
		cal := p.Calendar(c.Target)
		t, known := targets[c.Target]
		if cal == nil || !known {
			continue
		}
		b, begun := r.budgetOf(t, cal, now)
		if begun {
			soonest[t.Name] = b.forget(now)
		}
		w.shares[t.Name] = share{b, b.enter()}
	}
	for _, s := range p.Steps {
		after, begun := soonest[s.Spec.Target]
		w.book(s, after, begun)
	}
	w.turns = turnsOf(p)
	slices.SortStableFunc(w.steps, func(a, b timed) int { return a.at.Compare(b.at) })
	return w
}

// turnsOf counts the steps of each probe, from a number on that is another one in
// each run.
func turnsOf(p *plan.Plan) []uint64 {
	turns, next := make([]uint64, len(p.Steps)), map[*probes.Spec]uint64{}
	for _, s := range p.Steps {
		turns[s.Index] = p.Seed%(1<<32) + next[s.Spec]
		next[s.Spec]++
	}
	return turns
}

// budgetOf returns a target's budget. The first wave's is what its plan has
// booked; begun says that there was one before.
func (r *Runner) budgetOf(t probes.Target, cal *plan.Calendar, now time.Time) (b *budget, begun bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.budgets[t.Name]; b != nil {
		return b, true
	}
	most := r.options.Policy.Limits(t)
	b = newBudget(most, cal, min(r.left[t.Name], most.DailyLimit), now.Add(firstLead))
	b.day = dayOf(r.began)
	b.noted(r.options.LeaveAlone[t.Name], now)
	b.sentBefore(r.options.Sent[t.Name], r.began)
	b.first = settling{
		began: r.began, until: r.settles, log: r.options.Log, told: probes.Settled{Target: t.Name},
	}
	r.budgets[t.Name] = b
	return b, false
}

// book gives a step its instant: the plan's, where its calendar is the budget's,
// or else the next one after that for which there is room.
func (w *wave) book(s plan.Step, after time.Duration, anew bool) {
	b := w.shares[s.Spec.Target].budget
	switch {
	case b == nil:
		s.NoRoom = "the target is not in the config any more"
		w.steps = append(w.steps, timed{Step: s})
		return
	case s.NoRoom != "":
		w.steps = append(w.steps, timed{Step: s})
		return
	case !anew:
		b.occupy(s)
	case !b.place(&s, after+s.Start):
		w.steps = append(w.steps, timed{Step: s})
		return
	}
	w.steps = append(w.steps, timed{s, b.at(s.Start)})
}

// startAll starts each step at its instant. A step is a goroutine of its own:
// an hour's hold takes no place from a 30 s one.
func (w *wave) startAll(ctx context.Context) {
	for _, s := range w.steps {
		mine := w.shares[s.Spec.Target]
		at := s.at
		if !at.IsZero() {
			at = at.Add(-mine.lead())
		}
		_ = sleep(ctx, time.Until(at)) // that ctx ended is seen next
		if ctx.Err() != nil {
			w.done <- unstarted(s.Step, probes.CutCanceled, "not started: "+context.Cause(ctx).Error())
			continue
		}
		if s.at.IsZero() {
			w.done <- unstarted(s.Step, probes.CutSkipped, cmp.Or(s.NoRoom, "the budget has no room for it"))
			continue
		}
		slots, why := mine.admit(s.Step, mine.tally)
		if why != "" {
			mine.giveBack(s.Step)
			w.done <- unstarted(s.Step, probes.CutSkipped, why)
			continue
		}
		if len(w.steps) == 1 { // nobody else waits to start
			w.play(ctx, s.Step, slots)
			continue
		}
		go w.play(ctx, s.Step, slots)
	}
}

func (w *wave) play(ctx context.Context, s plan.Step, mine *slots) {
	mine.allowed, mine.fence = w.since(s), w.runner.fence
	env := w.env
	env.Step, env.Turn, env.Slots = s.Index, w.turns[s.Index], mine
	if w.settle {
		env.Settler = mine
	}
	env.Learn = func(a probes.Attempt) {
		mine.connected(a)
		w.learn(mine, a)
	}
	report := func(o probes.Observation) {
		mine.release()
		w.report(o)
	}
	switch s.Spec.Kind {
	case probes.KindIdle:
		if s.Unused {
			probes.StartUnused(ctx, s.Spec, s.Hold, env, report)
		} else {
			probes.StartIdle(ctx, s.Spec, s.Hold, env, report)
		}
	case probes.KindHTTP, probes.KindGRPC:
		report(guarded(s, func() probes.Observation {
			if s.Spec.Requests > 1 {
				return probes.RunLimit(ctx, s.Spec, env)
			}
			return probes.RunHTTP(ctx, s.Spec, env)
		}))
	case probes.KindBurst:
		report(guarded(s, func() probes.Observation {
			o := probes.RunBurst(ctx, s.Spec, env)
			mine.unmade(o)
			return o
		}))
	case probes.KindTLS:
		report(guarded(s, func() probes.Observation { return probes.RunTLS(ctx, s.Spec, env) }))
	default:
		report(unstarted(s, probes.CutInternal, "a bug in perch: no probe of kind "+string(s.Spec.Kind)))
	}
}

// learn lets an attempt speak for those that come after it.
func (w *wave) learn(mine *slots, a probes.Attempt) {
	mine.budget.learn(a)
	if mine.counts(a) {
		mine.budget.count(a)
	}
	if a.Reason == probes.ReasonUnauthorized {
		w.secrets.forget()
	}
}

func (w *wave) report(o probes.Observation) {
	if w.env.Log.Enabled(context.Background(), slog.LevelDebug) { // else its words are made for nobody, hundreds of times a second
		w.env.Log.Debug("step ended", "target", o.Target, "probe", o.Probe, "hold", o.Hold, "cut", o.Cut, "attempts", len(o.Attempts), "problem", o.Problem)
	}
	w.done <- o
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
		Target: s.Spec.Target, Probe: s.Spec.Probe, Kind: s.Spec.Kind, Hold: s.Hold, Search: s.Spec.Search, Unused: s.Unused,
		Started: now, Ended: now, Cut: why, CutDetail: detail,
	}
	if why == probes.CutInternal {
		o.Problem = detail
	}
	return o
}
