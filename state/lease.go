package state

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lease is a held Lease. One goroutine renews it until it is let go.
type lease struct {
	api      *api
	identity string // unique: two processes of one Pod are two holders
	stop     context.CancelFunc
	done     chan struct{} // closed when nothing renews any more

	renewed atomic.Pointer[moment] // before the last update that succeeded was sent
	gone    atomic.Bool            // it is not surely ours any more, and will not be

	mu       sync.Mutex // one call at a time, so that each has the newest object
	object   *coordination.Lease
	reserved *Reservation // what may have been sent and is not in the document yet
	left     *Reservation // the part of it that earlier runs left
	taken    *LostError   // somebody else has it
	said     bool         // the caller knows that it was lost
	unsure   bool         // an update's answer was lost: it may have been carried out
}

// moment is an instant by both clocks: the monotonic one stands still while a
// laptop sleeps, and the wall's may be set back.
type moment struct{ monotonic, wall time.Time }

func momentOf(t time.Time) moment { return moment{t, t.Round(0)} }

// since returns how long ago m was by the clock that says more.
func (m moment) since(now moment) time.Duration {
	return max(now.monotonic.Sub(m.monotonic), now.wall.Sub(m.wall))
}

// claim returns the Lease as it stands once it is ours.
func (l *lease) claim(object *coordination.Lease) *coordination.Lease {
	want := object.DeepCopy()
	now := meta.NewMicroTime(time.Now())
	seconds, transitions := int32(l.api.config.Lease/time.Second), int32(1)
	if before := object.Spec.LeaseTransitions; before != nil {
		transitions += *before
	}
	want.Spec.HolderIdentity, want.Spec.LeaseDurationSeconds = &l.identity, &seconds
	want.Spec.AcquireTime, want.Spec.RenewTime, want.Spec.LeaseTransitions = &now, &now, &transitions
	return want
}

// hold takes over what an earlier holder left in the Lease, and keeps it
// renewed until release, also when ctx ends: the run still has to save.
func (l *lease) hold(ctx context.Context, object *coordination.Lease) {
	l.object = object
	l.reserved = reservationIn(object)
	l.left = l.reserved
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	go l.keepRenewing(ctx)
}

func (l *lease) keepRenewing(ctx context.Context) {
	defer close(l.done)
	for pause := l.api.config.Renew; ; {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		pause = l.api.config.Renew
		err := l.renew(ctx)
		if err != nil {
			pause /= 5 // several tries before it runs out
		}
		if l.stepsDown(err, time.Now()) || l.isTaken() {
			return
		}
	}
}

// update renews the Lease with a change, once. After a failure it looks how the
// Lease stands, so that the next try may succeed: the update may have been
// carried out, or somebody may have labelled the object.
func (l *lease) update(ctx context.Context, change func(*coordination.Lease)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken != nil {
		return l.taken
	}
	want, sent := l.object.DeepCopy(), time.Now()
	now := meta.NewMicroTime(sent)
	want.Spec.RenewTime = &now
	l.reserved.putInto(want)
	change(want)
	got, err := l.api.updateLease(ctx, want)
	if err == nil {
		l.object = got
		l.renewed.Store(new(momentOf(sent)))
		return nil
	}
	if !apierrors.IsConflict(err) && !passing(err) {
		return err
	}
	l.unsure = l.unsure || !apierrors.IsConflict(err)
	var lost *LostError
	lookErr := l.look(ctx)
	if errors.As(lookErr, &lost) || lookErr != nil && !passing(lookErr) { // a deleted Lease is a conflict to an update, and stays one
		return lookErr
	}
	return err
}

// look gets the Lease as it stands, and returns a *LostError when it is not
// ours any more. l.mu must be held.
func (l *lease) look(ctx context.Context) error {
	stands, err := l.api.getLease(ctx)
	if err != nil {
		return err
	}
	l.object = stands
	if holder := holderOf(stands); holder != l.identity {
		l.taken = &LostError{Lock: l.api.config.lockPath(), Holder: holder}
		l.gone.Store(true)
		return l.taken
	}
	return nil
}

// persistently updates until it succeeds, or cannot.
func (l *lease) persistently(ctx context.Context, change func(*coordination.Lease)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var p pauses
	for {
		err := l.update(ctx, change)
		if err == nil || l.isTaken() || !apierrors.IsConflict(err) && !passing(err) {
			return err
		}
		if err := p.wait(ctx, err); err != nil {
			return err
		}
	}
}

func (l *lease) isTaken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken != nil
}

// check returns a *LostError when another perch may have held the Lease. It
// looks, since whoever takes it tells nobody. One that ran out unseen, as on a
// laptop that slept, is still ours if nobody took it, and has to be renewed.
func (l *lease) check(ctx context.Context) error {
	var lost *LostError
	err := l.standing(ctx)
	switch {
	case err == nil || errors.As(err, &lost):
	case !l.ranOut(time.Now()):
		return nil // it cannot be seen, and nobody may take it yet
	default:
		err = &LostError{Lock: l.api.config.lockPath(), Err: err}
	}
	l.said = l.said || err != nil
	return err
}

// standing sees how the Lease stands, and renews it where it ran out.
func (l *lease) standing(ctx context.Context) error {
	if l.isTaken() || l.ranOut(time.Now()) {
		return l.update(ctx, func(*coordination.Lease) {})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.look(ctx)
}

// ranOut reports whether others may take the Lease.
func (l *lease) ranOut(now time.Time) bool {
	return l.renewed.Load().since(momentOf(now)) >= l.api.config.Lease
}

// reserve keeps in the Lease what a run may send, on top of what is there: a
// run that is killed leaves it to the next one that takes the Lease.
func (l *lease) reserve(ctx context.Context, r Reservation) error {
	if _, err := json.Marshal(r); err != nil {
		return err
	}
	l.mu.Lock()
	l.reserved = l.reserved.plus(r)
	l.mu.Unlock()
	err := l.persistently(ctx, func(*coordination.Lease) {})
	l.said = l.said || l.isTaken()
	return err
}

// saved forgets the reservation: the document says what was sent. The next
// renewal, or the release, takes it out of the Lease.
func (l *lease) saved() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserved, l.left = nil, nil
}

// inherited returns what runs before this one may have sent, and nobody saved;
// nil: nothing.
func (l *lease) inherited() *Reservation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left
}

// release lets go, so that the next perch need not wait until it runs out. A
// *LostError says that somebody had taken it before, if no check has said so.
func (l *lease) release(ctx context.Context) error {
	l.stop()
	<-l.done
	l.gone.Store(true)
	l.unsure = false // nothing else uses it any more
	if l.said {
		return nil
	}
	err := l.persistently(ctx, func(object *coordination.Lease) {
		nobody := ""
		object.Spec.HolderIdentity = &nobody
	})
	// It was carried out and its answer lost, and somebody may have been quick.
	if carriedOut := l.unsure || holderOf(l.object) == ""; l.isTaken() && carriedOut {
		return nil
	}
	return err
}
