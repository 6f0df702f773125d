package probes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Calls is how many calls all bursts have together.
func (s Shape) Calls() int { return s.Requests * s.Bursts }

// Offset is when a call leaves, since the first one did; the first is 0, and they are
// counted through all bursts.
func (s Shape) Offset(i int) time.Duration {
	if s.Requests == 0 {
		return 0
	}
	burst, number := i/s.Requests, i%s.Requests
	return time.Duration(burst)*(s.Over+s.Gap) + time.Duration(number)*s.Between()
}

// Lasts is the time from the first call to the last one: no connection is idle for
// longer.
func (s Shape) Lasts() time.Duration { return s.Offset(max(0, s.Calls()-1)) }

// made is an attempt of a burst's.
type made struct {
	turn
	attempt    Attempt
	on         Connection
	connection int    // of the pool's; 0: none was opened
	end        *Close // seen while its connection was idle
	beside     bool   // it is no call of its own: made again with another token
	ended      time.Time
}

// note keeps an attempt, and tells what it teaches before anything follows it.
func (b *burst) note(m made) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m.attempt.Connection, m.ended = m.on, time.Now()
	b.made = append(b.made, m)
	if learn := b.call.env.Learn; learn != nil && !m.beside {
		learn(m.attempt)
	}
}

// withoutControl notes on a call that the budget refused its control: what the call met
// stands.
func (b *burst) withoutControl(t turn, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.made {
		if m := &b.made[i]; m.index == t.index && m.on == ConnectionReused {
			m.attempt.Detail += "; no control: " + err.Error()
		}
	}
}

// done is the observation of what was made.
func (b *burst) done() Observation {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.obs
	o.Burst = &BurstSeen{Shape: b.shape, Order: b.pool.order}
	slices.SortStableFunc(b.made, func(x, y made) int { return cmp.Or(x.left().Compare(y.left()), cmp.Compare(x.index, y.index)) })
	b.orderFilling()
	for i, m := range b.made {
		m.attempt.Number = i + 1
		o.Attempts = append(o.Attempts, m.attempt)
		if m.on != ConnectionControl && !m.beside {
			o.Burst.Calls = append(o.Burst.Calls, BurstCall{
				Burst: m.burst, Number: m.number, Connection: m.connection, Attempt: i, Close: m.end,
			})
		}
	}
	slices.SortStableFunc(o.Burst.Calls, func(x, y BurstCall) int { return cmp.Or(x.Burst-y.Burst, x.Number-y.Number) })
	if o.Burst.NotMade() > 0 {
		o.Burst.Ended, o.Burst.Refused = b.endedBy(), b.asked
	}
	return b.cut(o)
}

// endedBy says why no more calls were made.
func (b *burst) endedBy() string {
	switch {
	case b.broken != nil:
		return b.broken.CutDetail
	case b.refused != nil:
		return b.refused.Error()
	case b.ctx.Err() != nil:
		return context.Cause(b.ctx).Error()
	}
	return "perch does not know why"
}

// orderFilling numbers the calls that filled the pool as they left: two that were opened
// at once may have changed places. The lock is held.
func (b *burst) orderFilling() {
	var turns []turn
	var filling []*made
	for i := range b.made {
		if m := &b.made[i]; m.index < b.shape.Connections && m.on == ConnectionFresh && !m.beside {
			turns, filling = append(turns, m.turn), append(filling, m)
		}
	}
	slices.SortFunc(turns, func(x, y turn) int { return x.index - y.index })
	for i, m := range filling {
		m.turn = turns[i]
	}
}

// left is when an attempt's request left, or when it was known that none would.
func (m made) left() time.Time {
	if m.attempt.Started.IsZero() {
		return m.ended
	}
	return m.attempt.Started
}

// cut says why an observation is not whole, if it is not.
func (b *burst) cut(o Observation) Observation {
	var down *downError
	switch {
	case b.broken != nil:
		return cutShort(o, b.broken.Cut, b.broken.CutDetail)
	case errors.As(b.refused, &down):
		next := b.turn(len(o.Burst.Calls))
		o.without(fmt.Sprintf("call #%d of burst %d", next.number, next.burst), &Denied{Why: down.why})
		return o
	case b.refused != nil:
		return denied(b.ctx, o, b.refused)
	case b.ctx.Err() != nil:
		return denied(b.ctx, o, context.Cause(b.ctx))
	}
	return o
}
