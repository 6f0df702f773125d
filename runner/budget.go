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
	// this target's dials have been seen; longestLead bounds what was seen. It is some
	// tenths of a second: perch serve's probes begin in tenths, and so the requests of
	// some leave as others dial. Each wake-up of a process that has gone cold costs.
	firstLead   = 300 * time.Millisecond
	longestLead = 2 * time.Second
	// longestGap is how long a request without an open connection (perch's own
	// second try, a control) waits for a gap, and a reuse that missed its booking.
	longestGap = 30 * time.Second
	// longestUnused is how long an open connection waits for a request that it is
	// not held for: servers end such ones, and that would be perch's fault.
	longestUnused = time.Second
	// breakAfter failed fresh exchanges in a row, a target is left alone for
	// the rest of the run, or wave: less, not more.
	breakAfter = 3
	// longestLeave bounds how long a Retry-After holds: a target that asks for a
	// year is asked again once an hour. Without it perch would see nothing of the
	// target, and nobody would be told that it refuses; a request an hour is no
	// load. It also heals a note that a wrong clock left in the state.
	longestLeave = time.Hour
)

// budget is one target's budget, which the waves of a runner share. Safe for
// concurrent use.
type budget struct {
	limiter *rate.Limiter
	open    conns
	limit   int            // requests a UTC day
	gate    *plan.Calendar // what may leave in which window; nothing is booked in it. The policy's, where that is less than was planned

	mu       sync.Mutex
	start    time.Time // of the calendar: that of the first wave, later where the target settled
	first    settling
	cal      *plan.Calendar
	room     *plan.Open
	recent   []time.Time // the last gate.Allowed() instants at which a request left, in earlier runs, too
	day      string      // the UTC day that left is of
	left     int         // requests still allowed on it
	promised int         // of them, to steps that are running and have not sent them yet
	waves    map[*tally]bool
	blocked  time.Time     // Retry-After: nothing leaves before
	dialled  time.Duration // the longest dial so far, with its handshake, of the waves under way
}

// newBudget begins with what a plan has booked. left is how many requests the
// day still allows.
func newBudget(t probes.Target, cal *plan.Calendar, left int, start time.Time) *budget {
	gate := plan.NewCalendar(t.Budget())
	return &budget{
		start: start, gate: gate, cal: cal.Clone(), room: plan.NewOpen(t.MaxConnections), // cloned: a plan may be played again
		limit: t.DailyLimit, left: left, day: dayOf(start), waves: map[*tally]bool{},
		limiter: rate.NewLimiter(rate.Limit(t.Budget()), gate.Allowed()),
		open:    conns{most: t.MaxConnections},
	}
}

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

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

// admit promises a step the requests that it may need, and returns its part of
// the budget; or says why the step cannot start.
func (b *budget) admit(s plan.Step, w *tally) (*slots, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	needs := needs(s)
	if why := b.leftAlone(w); why != "" {
		return nil, why
	}
	b.turnDay(time.Now())
	if b.left < b.promised+needs {
		return nil, usedUp
	}
	b.promised += needs
	return newSlots(b, w, s, needs), ""
}

// turnDay begins a new UTC day. A clock that is set back begins none: a limit
// may be kept too strictly, never too loosely.
func (b *budget) turnDay(now time.Time) {
	if day := dayOf(now); day > b.day {
		b.day, b.left = day, b.limit
	}
}

const usedUp = "the daily limit is used up"

// noted takes what an earlier run was asked, or what its clock made of it.
func (b *budget) noted(until, now time.Time) {
	if most := now.Add(longestLeave); until.After(most) {
		until = most
	}
	b.blocked = until
}

// leftAlone says why no further step of the wave may begin; empty: it may.
func (b *budget) leftAlone(w *tally) string {
	switch {
	case time.Now().Before(b.blocked):
		return fmt.Sprintf("the API asked to be left alone until %s (Retry-After)", b.blocked.UTC().Format(time.RFC3339))
	case w.failures >= breakAfter:
		return fmt.Sprintf("left alone for the rest of this run after %d failed fresh exchanges in a row", w.failures)
	}
	return ""
}

// needs is how many requests a step is promised: a rung its warm-up, reuse and
// control, a burst's calls each one and their controls, and one of server reflection. perch's own second tries and redirects
// take what is left.
func needs(s plan.Step) int {
	if s.Spec.Burst != nil {
		return burstNeeds(s.Spec)
	}
	n := 1
	if s.Spec.Kind == probes.KindIdle {
		n = 3
	}
	if len(s.Next) > 0 {
		n += len(s.Next) + 1 // and a control
	}
	if s.Spec.Reflects() {
		n++
	}
	return n
}

// learn takes what an answer says about how welcome further requests are.
func (b *budget) learn(a probes.Attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.RetryAfter > 0 {
		ended := a.Started.Add(a.Elapsed)
		if a.ProxyAsked { // nothing left beyond the proxy
			ended = time.Now()
		}
		if until := ended.Add(min(a.RetryAfter, longestLeave)); until.After(b.blocked) {
			b.blocked = until
		}
	}
}

// count counts the failed fresh exchanges in a row.
func (b *budget) count(a probes.Attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.Connection == probes.ConnectionReused || a.NoToken {
		return
	}
	b.dialled = max(b.dialled, a.Phases.DNS+a.Phases.Connect+a.Phases.TLS)
	for w := range b.waves {
		if a.OK() {
			w.failures = 0
		} else if a.Reason.Unwell() {
			w.failures++
		}
	}
}

// refused says why nothing of a step may leave now; nil: it may. What has begun
// goes on although the target seems to be down: only the reuse and the control
// tell what its connection was worth.
func (b *budget) refused(s *slots) error {
	if s.allowed != nil {
		if err := s.allowed(); err != nil {
			s.tally.denied++
			return err
		}
	}
	why := ""
	now := time.Now()
	if !s.begun || now.Before(b.blocked) {
		why = b.leftAlone(s.tally)
	}
	b.turnDay(now)
	if s.promised == 0 && b.promised >= b.left {
		why = usedUp
	}
	if why == "" {
		return nil
	}
	s.tally.denied++
	return &probes.Denied{Why: why}
}

// gap books the next gap for p, which begins within longest.
func (b *budget) gap(w *tally, p *place, off, longest time.Duration) error {
	at := b.cal.Earliest(off, plan.At(0))
	if at-off > longest {
		later := at-off <= longestGap
		if !later || !p.asks {
			w.denied++
		}
		return &probes.Denied{Why: fmt.Sprintf("the budget has no gap within %s", longest), Later: later}
	}
	slots, ok := b.cal.Book(plan.At(at))
	if !ok { // cannot be: the lock was held since Earliest
		return &probes.Denied{Why: "the budget's calendar changed under us"}
	}
	p.slot, p.at = slots[0], at
	return nil
}

// leave notes that a request of that step leaves now, or says for how long it
// must wait: no window of W may see more than is allowed, whatever the calendar
// said. What was refused meanwhile stays here.
func (b *budget) leave(s *slots, p *place) (more time.Duration, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.refused(s); err != nil {
		return 0, err
	}
	now := time.Now()
	guard := b.guard()
	if len(b.recent) == b.gate.Allowed() {
		if since := now.Sub(b.recent[0]); since < guard {
			s.tally.waited += guard - since
			return guard - since, nil
		}
		b.recent = b.recent[1:]
	}
	b.spend(s, now)
	s.begun, p.used = true, true
	s.dialling = "" // what its connection costs is counted
	return 0, nil
}

// spend counts a request of a step's. The lock is held.
func (b *budget) spend(s *slots, now time.Time) {
	b.note(s.tally, now)
	b.left--
	if s.promised > 0 {
		s.promised--
		b.promised--
	}
	for w := range b.waves {
		w.peak.add(now)
	}
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

func (s *slots) addWait(d time.Duration) {
	if d < time.Millisecond { // taking a lock, not waiting
		return
	}
	s.budget.mu.Lock()
	s.tally.waited += d
	s.budget.mu.Unlock()
}

// guard is how far the last gate looks back.
func (b *budget) guard() time.Duration {
	return time.Duration((1 + guardShare) * float64(b.gate.Window()))
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
