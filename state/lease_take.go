package state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// takeLease waits for its turn and returns a Lease that is held and renewed.
func takeLease(ctx context.Context, a *api) (*lease, error) {
	l := &lease{api: a, identity: a.config.Identity + "_" + rand.Text()[:10], done: make(chan struct{})}
	waiting, cancel := a.config.waits(ctx)
	defer cancel()
	var seen sighting
	var failed error // of our own update; nil: somebody else has it
	for {
		object, err := a.lookAt(waiting)
		switch {
		case a.config.standsBy(err):
			if !until(waiting, a.config.Lease/20+mathrand.N(a.config.Lease/20)) {
				return nil, a.config.explain("locking", resourceLeases, errors.Join(err, context.Cause(waiting)))
			}
			continue
		case err != nil && seen.object != nil && waiting.Err() != nil:
			return nil, errors.Join(lockedBy(a.config, seen.object), context.Cause(waiting))
		case err != nil:
			return nil, a.config.explain("locking", resourceLeases, err)
		case holderOf(object) == l.identity: // our own update was carried out, and its answer was lost
			l.hold(ctx, object)
			return l, nil
		case seen.free(object, time.Now(), a.config.honoured(object)):
			l.renewed.Store(new(momentOf(time.Now())))
			taken, err := a.updateLease(waiting, l.claim(object))
			if err == nil {
				l.hold(ctx, taken)
				return l, nil
			}
			if failed = err; !apierrors.IsConflict(err) && !passing(err) {
				return nil, a.config.explain("locking", resourceLeases, err)
			}
		}
		if a.config.Waiting != nil && holderOf(object) != "" {
			a.config.Waiting(lockedBy(a.config, object))
		}
		if until(waiting, a.config.Lease/20+mathrand.N(a.config.Lease/20)) {
			continue
		}
		if holderOf(object) == "" && failed != nil {
			return nil, a.config.explain("locking", resourceLeases, errors.Join(failed, context.Cause(waiting)))
		}
		return nil, errors.Join(lockedBy(a.config, object), context.Cause(waiting))
	}
}

// sighting is a Lease as it was first seen in its present shape.
type sighting struct {
	object *coordination.Lease
	since  time.Time
}

// free reports whether nobody holds the Lease any more. That is judged by our
// own clock alone: by how long it has not been renewed since we first looked.
// What its times say does not count: two nodes' clocks may differ by anything.
func (s *sighting) free(object *coordination.Lease, now time.Time, lasts time.Duration) bool {
	if holderOf(object) == "" {
		return true
	}
	if s.object == nil || holderOf(s.object) != holderOf(object) || !renewedAt(s.object).Equal(renewedAt(object)) {
		s.object, s.since = object, now
	}
	return now.Sub(s.since) >= lasts
}

// saysToLast is what a Lease's holder counts on.
func (c ConfigMapConfig) saysToLast(object *coordination.Lease) time.Duration {
	if seconds := object.Spec.LeaseDurationSeconds; seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return c.Lease
}

// honoured is how long a Lease is left to a holder that gives no sign: what it
// says, but not longer than can be seen within Wait. Each run begins to look
// anew, so a longer one (no perch writes it, a hand may) would stop all of them
// for ever.
func (c ConfigMapConfig) honoured(object *coordination.Lease) time.Duration {
	return min(c.saysToLast(object), c.Wait*5/6)
}

func holderOf(object *coordination.Lease) string {
	if object.Spec.HolderIdentity == nil {
		return ""
	}
	return *object.Spec.HolderIdentity
}

func renewedAt(object *coordination.Lease) time.Time {
	if object.Spec.RenewTime == nil {
		return time.Time{}
	}
	return object.Spec.RenewTime.Time
}

func (c ConfigMapConfig) lockPath() string { return "lease " + c.Namespace + "/" + c.Name }

func lockedBy(c ConfigMapConfig, object *coordination.Lease) *LockedError {
	holder := holderOf(object)
	if at := renewedAt(object); holder != "" && !at.IsZero() {
		holder += ", seen at " + at.UTC().Format(time.RFC3339)
	}
	hint := fmt.Sprintf("if that one is gone, the state is free %s after its last sign", c.honoured(object))
	if says := c.saysToLast(object); says > c.honoured(object) {
		hint += fmt.Sprintf(" (its Lease says %s, and perch leaves it no longer than it waits)", says)
	}
	return &LockedError{Path: c.path(), Lock: c.lockPath(), Holder: holder, Hint: hint}
}
