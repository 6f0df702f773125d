package runner

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"perch.example/plan"
	"perch.example/probes"
)

const (
	// slackShare of a window is how far from its booking a request may leave
	// without asking the calendar again. The calendar keeps 5% free for it.
	slackShare = 0.02
	// guardShare is how much longer than W the last gate looks back, so that
	// requests that travel at different speeds still keep the rule at the server.
	guardShare = 0.01
	// firstLead is how long before its request a connection is dialled, until
	// this target's dials have been seen; longestLead bounds what was seen.
	firstLead   = 250 * time.Millisecond
	longestLead = 2 * time.Second
	// longestGap is how long perch's own second try waits for a gap.
	longestGap = 30 * time.Second
	// longestUnused is how long an open connection waits for its first request:
	// servers end unused ones, and that would be perch's fault.
	longestUnused = time.Second
	// breakAfter failed fresh exchanges in a row, a target is left alone for
	// the rest of the run: less, not more.
	breakAfter = 3
)

// budget is one target's budget during a run. Safe for concurrent use.
type budget struct {
	start   time.Time
	limiter *rate.Limiter
	open    chan struct{} // one token an open connection

	mu       sync.Mutex
	cal      *plan.Calendar
	recent   []time.Time // the last Allowed() instants at which a request left
	sent     int
	daily    int // requests still allowed today
	promised int // to steps that are running, at most
	peak     peak
	waited   time.Duration
	denied   int
	failures int
	blocked  time.Time     // Retry-After: nothing leaves before
	dialled  time.Duration // the longest dial so far, with its handshake
}

func newBudget(t probes.Target, cal *plan.Calendar, daily int, start time.Time) *budget {
	return &budget{
		start: start, cal: cal, daily: daily,
		limiter: rate.NewLimiter(rate.Limit(t.Budget()), cal.Allowed()),
		open:    make(chan struct{}, t.MaxConnections),
	}
}

// lead is how long before its request a connection should be dialled: long
// enough to be open in time, so that the request leaves when it is booked.
func (b *budget) lead() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.leadLocked()
}

func (b *budget) leadLocked() time.Duration {
	return min(max(firstLead, b.dialled+b.dialled/2), longestLead)
}

// admit says why a step that may need so many requests cannot start; empty: it
// can, and its requests are promised to it until it calls done.
func (b *budget) admit(now time.Time, needs int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case now.Before(b.blocked):
		return fmt.Sprintf("the API asked to be left alone until %s (Retry-After)", b.blocked.UTC().Format(time.RFC3339))
	case b.failures >= breakAfter:
		return fmt.Sprintf("left alone for the rest of this run after %d failed fresh exchanges in a row", b.failures)
	case b.daily < b.sent+b.promised+needs:
		return "the daily limit is used up"
	}
	b.promised += needs
	return ""
}

func (b *budget) done(needs int) {
	b.mu.Lock()
	b.promised -= needs
	b.mu.Unlock()
}

// learn takes what an observation says about how welcome further requests are.
func (b *budget) learn(o probes.Observation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range o.Attempts {
		if a.RetryAfter > 0 {
			if until := a.Started.Add(a.Elapsed + a.RetryAfter); until.After(b.blocked) {
				b.blocked = until
			}
		}
		if a.Connection == probes.ConnectionReused {
			continue
		}
		b.dialled = max(b.dialled, a.Phases.DNS+a.Phases.Connect+a.Phases.TLS)
		if a.OK() {
			b.failures = 0
		} else if unwell(a.Reason) {
			b.failures++
		}
	}
}

// unwell reports whether a fresh exchange's reason means that the service (or
// the way to it) is not well, rather than that its answer is not as expected.
func unwell(r probes.Reason) bool {
	switch r {
	case probes.ReasonStatus, probes.ReasonSlow, probes.ReasonExpectation, probes.ReasonRedirected,
		probes.ReasonNoKeepAlive, probes.ReasonOK, probes.ReasonCanceled, probes.ReasonSkipped, probes.ReasonInternal:
		return false
	default:
		return true
	}
}

// place is a booking and its instant. The zero place is none.
type place struct {
	slot  plan.Slot
	at    time.Duration
	early bool // may leave before its instant
	used  bool
}

// pass is the last gate: it returns when one request may leave. The booking is
// moved to the instant at which it really does.
func (b *budget) pass(ctx context.Context, p *place) error {
	at, err := b.settle(p)
	if err != nil {
		return err
	}
	if err := sleep(ctx, time.Until(at)); err != nil {
		return err
	}
	before := time.Now()
	if err := b.limiter.Wait(ctx); err != nil {
		return err
	}
	b.addWait(time.Since(before))
	for {
		more := b.leave()
		if more <= 0 {
			return nil
		}
		if err := sleep(ctx, more); err != nil {
			return err
		}
	}
}

// settle says when the request of that booking leaves: at its instant, now, or
// in the next gap.
func (b *budget) settle(p *place) (time.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if err := b.refused(now); err != nil {
		return now, err
	}
	p.used = true
	off := now.Sub(b.start)
	if p.slot != 0 {
		if !p.early && off < p.at {
			return b.start.Add(p.at), nil
		}
		near := time.Duration(slackShare * float64(b.cal.Window()))
		if (off - p.at).Abs() <= near {
			b.cal.Force(p.slot, plan.At(off))
			return now, nil
		}
		if b.cal.Move(p.slot, plan.At(off)) {
			return now, nil
		}
		b.cal.Release(p.slot)
	}
	if err := b.gap(p, off, plan.At(0)); err != nil {
		return now, err
	}
	return b.start.Add(p.at), nil
}

// refused says why nothing may leave now; nil: it may.
func (b *budget) refused(now time.Time) error {
	why := ""
	switch {
	case now.Before(b.blocked):
		why = "the API asked to be left alone (Retry-After)"
	case b.sent >= b.daily:
		why = "the daily limit is used up"
	default:
		return nil
	}
	b.denied++
	return &probes.Denied{Why: why}
}

// gap books the next gap that the shape fits into, and puts its first booking
// into p.
func (b *budget) gap(p *place, off time.Duration, shape ...plan.Booking) error {
	at := b.cal.Earliest(off, shape...)
	if at-off > longestGap {
		b.denied++
		return &probes.Denied{Why: fmt.Sprintf("the budget has no gap within %s", longestGap)}
	}
	slots, ok := b.cal.Book(shift(shape, at)...)
	if !ok { // cannot be: the lock was held since Earliest
		return &probes.Denied{Why: "the budget's calendar changed under us"}
	}
	p.slot, p.at = slots[0], at
	return nil
}

func shift(shape []plan.Booking, by time.Duration) []plan.Booking {
	out := make([]plan.Booking, len(shape))
	for i, s := range shape {
		out[i] = plan.Booking{From: s.From + by, To: s.To + by}
	}
	return out
}

// leave notes that a request leaves now, or says for how long it must wait: no
// window of W may see more than is allowed, whatever the calendar said.
func (b *budget) leave() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	guard := time.Duration((1 + guardShare) * float64(b.cal.Window()))
	if len(b.recent) == b.cal.Allowed() {
		if since := now.Sub(b.recent[0]); since < guard {
			b.waited += guard - since
			return guard - since
		}
		b.recent = b.recent[1:]
	}
	b.recent = append(b.recent, now)
	b.sent++
	b.peak.add(now)
	return 0
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *budget) addWait(d time.Duration) {
	if d < time.Millisecond { // taking a lock, not waiting
		return
	}
	b.mu.Lock()
	b.waited += d
	b.mu.Unlock()
}

func (b *budget) use(t probes.Target) probes.BudgetUse {
	b.mu.Lock()
	defer b.mu.Unlock()
	return probes.BudgetUse{
		Target: t.Name, LimitPerSecond: t.Budget(), Requests: b.sent,
		PeakPerSecond: b.peak.perSecond(), Waited: b.waited, Denied: b.denied,
	}
}

// peak finds the largest number of requests in any one second.
type peak struct {
	last []time.Time // within the last second
	most int
}

func (p *peak) add(now time.Time) {
	for len(p.last) > 0 && now.Sub(p.last[0]) >= time.Second {
		p.last = p.last[1:]
	}
	p.last = append(p.last, now)
	p.most = max(p.most, len(p.last))
}

func (p *peak) perSecond() float64 { return float64(p.most) }
