package state

import (
	"context"
	"fmt"
	"time"

	coordination "k8s.io/api/coordination/v1"
)

// Election is what one of several replicas is told of the Lease. The holder counts on
// it for two thirds of its duration after a renewal, and then does nothing more
// (ConfigMap.Sure); another one takes it after the whole. In between is room for a
// process that stood still, and for clocks that go at different speeds.
type Election struct {
	// Unseen is told why the Lease cannot be looked at, each time: a replica that
	// stands by waits on. It gives up only where trying again changes nothing, such as
	// a right that it has not.
	Unseen func(error)
	// Lost is told once, by a goroutine of the Lease's own, that it is not surely held
	// any more: a *LostError. From then on Sure is false for good.
	Lost func(error)
}

// waits bounds how long OpenConfigMap waits for its turn.
func (c ConfigMapConfig) waits(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Election != nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, c.Wait, fmt.Errorf("it was not free within %s", c.Wait))
}

// standsBy reports whether a look at the Lease failed that is no end of standing by.
func (c ConfigMapConfig) standsBy(err error) bool {
	if c.Election == nil || err == nil || !passing(err) {
		return false
	}
	c.Election.Unseen(c.explain("locking", resourceLeases, err))
	return true
}

// lookAt gets the Lease as it stands. A replica does not try again by itself: it
// says at once that it cannot see.
func (a *api) lookAt(ctx context.Context) (*coordination.Lease, error) {
	if a.config.Election == nil {
		return persist(ctx, a.getLease)
	}
	ctx, cancel := a.config.promptly(ctx)
	defer cancel()
	return a.getLease(ctx)
}

// promptly bounds a call of an election's: one that hangs must leave time for another
// before the Lease is not sure any more.
func (c ConfigMapConfig) promptly(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Election == nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, c.Renew, fmt.Errorf("no answer within %s", c.Renew))
}

// until waits, and reports whether ctx lasted so long.
func until(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// renew renews the Lease once.
func (l *lease) renew(ctx context.Context) error {
	ctx, cancel := l.api.config.promptly(ctx)
	defer cancel()
	return l.update(ctx, func(*coordination.Lease) {})
}

// sure reports whether nobody else can have the Lease. It waits for no call that is
// under way.
func (l *lease) sure(now time.Time) bool {
	return !l.gone.Load() && l.renewed.Load().since(momentOf(now)) < l.api.config.Lease*2/3
}

// stepsDown gives an election's Lease up once it is not surely ours, and says why.
func (l *lease) stepsDown(failed error, now time.Time) bool {
	e := l.api.config.Election
	if e == nil || l.sure(now) {
		return false
	}
	l.gone.Store(true)
	lost := &LostError{Lock: l.api.config.lockPath(), Err: failed}
	l.mu.Lock()
	if l.taken != nil {
		lost = l.taken
	}
	l.mu.Unlock()
	e.Lost(lost)
	return true
}

// Sure reports whether nobody else can have the Lease now. Until Close it may be called
// by any goroutine, and it waits for nothing: it is asked right before each request.
func (m *ConfigMap) Sure(now time.Time) bool {
	return m.lease != nil && m.lease.sure(now)
}
