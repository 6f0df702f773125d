package runner

import (
	"maps"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"perch.example/plan"
	"perch.example/probes"
)

// mostGone bounds how many targets that are gone are remembered.
const mostGone = 1000

// Update goes on with other options: targets, limits, a policy. What was sent to a
// target stays known, a window that has been used up stays so, and what is under way
// is held to the new limits and to the new policy with its next byte. Settle, Dial,
// Fence and TokensSent stay what they were; Daily, Sent and LeaveAlone tell of targets that
// are new.
func (r *Runner) Update(o Options) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	o.Settle, o.Dial, o.Resolve, o.Fence = r.options.Settle, r.options.Dial, r.options.Resolve, r.options.Fence
	r.take(o, now)
	for name, b := range r.budgets {
		if t, there := r.targets[name]; there {
			b.relimit(o.Policy.Limits(t))
		}
	}
	r.forgetGone(now)
	r.tokens.keep(o.Targets)
}

// forgetGone drops the budgets of targets that are gone, once nothing of them is left
// that counts: one that comes back must not win a second daily limit, or a second
// window. The lock is held.
func (r *Runner) forgetGone(now time.Time) {
	var gone []string
	for name, b := range r.budgets {
		if _, there := r.targets[name]; there || b.busy() {
			continue
		}
		gone = append(gone, name)
	}
	slices.Sort(gone)
	for i, name := range gone {
		if r.budgets[name].over(now) || len(gone)-i > mostGone {
			delete(r.budgets, name)
		}
	}
}

// busy reports whether a wave is under way.
func (b *budget) busy() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waves) > 0
}

// over reports whether nothing that was sent counts any more.
func (b *budget) over(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if dayOf(now) <= b.day && b.left < b.limit || now.Before(b.blocked) {
		return false
	}
	return len(b.recent) == 0 || now.Sub(b.recent[len(b.recent)-1]) > 2*b.gate.Window()
}

// relimit holds the budget to a target's limits from now on. What the day has seen
// stays counted.
func (b *budget) relimit(t probes.Target) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open.limit(t.MaxConnections)
	b.room.Limit(t.MaxConnections)
	b.left += t.DailyLimit - b.limit
	b.limit = t.DailyLimit
	gate := plan.NewCalendar(t.Budget())
	if gate.Window() == b.gate.Window() && gate.Allowed() == b.gate.Allowed() {
		return
	}
	b.gate, b.cal = gate, b.cal.Relimit(t.Budget())
	b.limiter.SetLimit(rate.Limit(t.Budget()))
	b.limiter.SetBurst(gate.Allowed())
	b.recent = b.recent[max(0, len(b.recent)-gate.Allowed()):]
}

// keep forgets the tokens that no probe asks for any more.
func (t *tokens) keep(targets []probes.Target) {
	used := map[string]bool{}
	for _, target := range targets {
		for _, s := range target.Probes {
			if s.OAuth != nil {
				used[s.OAuth.Key()] = true
			}
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.sources, func(key string, _ *tokenSource) bool { return !used[key] })
}

// since returns what asks whether the step may still go on: the fence, and a policy
// that came after the wave's. It takes no lock: the budget's is held.
func (w *wave) since(s plan.Step) func() error {
	return func() error {
		if err := w.runner.fence(); err != nil {
			return err
		}
		now := w.runner.policy.Load()
		if now == w.env.Policy || now == nil {
			return nil
		}
		return stillAllowed(s, w.env.Policy, now)
	}
}

// stillAllowed asks the policy that holds now about a step that began under another
// one. Where a connection leads that is open is not asked again: with other networks
// nothing more leaves on it.
func stillAllowed(s plan.Step, then, now *probes.Policy) error {
	if err := now.Host(s.Spec.URL.Hostname()); err != nil {
		return err
	}
	if s.Spec.GRPC == nil {
		if err := now.Method(s.Spec.Method); err != nil {
			return err
		}
	}
	if s.Spec.Kind == probes.KindIdle {
		if err := now.Hold(s.Hold); err != nil {
			return err
		}
	}
	if then == nil {
		then = &probes.Policy{}
	}
	if !slices.Equal(then.Networks, now.Networks) || !slices.Equal(then.DeniedNetworks, now.DeniedNetworks) {
		return &probes.Denied{Why: "the policy's networks changed while it was under way (" + now.File + ")"}
	}
	return nil
}
