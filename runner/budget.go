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
	// longestGap is how long perch's own second try waits for a gap.
	longestGap = 30 * time.Second
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
	peak     peak
	waited   time.Duration
	denied   int
	failures int
	blocked  time.Time // Retry-After: nothing leaves before
}

func newBudget(t probes.Target, cal *plan.Calendar, daily int, start time.Time) *budget {
	return &budget{
		start: start, cal: cal, daily: daily,
		limiter: rate.NewLimiter(rate.Limit(t.Budget()), cal.Allowed()),
		open:    make(chan struct{}, t.MaxConnections),
	}
}

// closed says why no further step may start; empty: it may.
func (b *budget) closed(now time.Time) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case now.Before(b.blocked):
		return fmt.Sprintf("the API asked to be left alone until %s (Retry-After)", b.blocked.UTC().Format(time.RFC3339))
	case b.failures >= breakAfter:
		return fmt.Sprintf("left alone for the rest of this run after %d failed fresh exchanges in a row", b.failures)
	case b.daily <= b.sent:
		return "the daily limit is used up"
	}
	return ""
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

// place is a booking of the plan and its instant. The zero place is none.
type place struct {
	slot plan.Slot
	at   time.Duration
	used bool
}

// pass is the last gate: it books now (or the next gap) and returns when one
// request may leave.
func (b *budget) pass(ctx context.Context, p *place) error {
	at, err := b.book(p)
	if err != nil {
		return err
	}
	if err := b.sleep(ctx, time.Until(at)); err != nil {
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
		if err := b.sleep(ctx, more); err != nil {
			return err
		}
	}
}

func (b *budget) book(p *place) (time.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if now.Before(b.blocked) {
		b.denied++
		return now, &probes.Denied{Why: "the API asked to be left alone (Retry-After)"}
	}
	if b.sent >= b.daily {
		b.denied++
		return now, &probes.Denied{Why: "the daily limit is used up"}
	}
	off := now.Sub(b.start)
	if p.slot != 0 {
		p.used = true
		near := time.Duration(slackShare * float64(b.cal.Window()))
		if (off - p.at).Abs() <= near {
			b.cal.Force(p.slot, plan.At(off))
			return now, nil
		}
		if b.cal.Move(p.slot, plan.At(off)) {
			return now, nil
		}
		b.cal.Release(p.slot) // a gap takes its place
	}
	gap := b.cal.Earliest(off, plan.Booking{})
	if gap-off > longestGap {
		b.denied++
		return now, &probes.Denied{Why: fmt.Sprintf("the budget has no gap within %s", longestGap)}
	}
	b.cal.Book(plan.At(gap))
	return b.start.Add(gap), nil
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

func (b *budget) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
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
