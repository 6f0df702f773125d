package state

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
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

	mu       sync.Mutex // one call at a time, so that each has the newest object
	object   *coordination.Lease
	reserved *Reservation // what may have been sent and is not in the document yet
	left     *Reservation // the part of it that earlier runs left
	renewed  time.Time    // before the last update that succeeded was sent
	taken    *LostError   // somebody else has it
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
		if err := l.update(ctx, func(*coordination.Lease) {}); err != nil {
			pause /= 5 // several tries before it runs out
		}
		if l.isTaken() {
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
		l.object, l.renewed = got, sent
		return nil
	}
	if !apierrors.IsConflict(err) && !passing(err) {
		return err
	}
	stands, lookErr := l.api.getLease(ctx)
	switch {
	case lookErr != nil && !passing(lookErr): // a deleted Lease is a conflict to an update, and stays one
		return lookErr
	case lookErr != nil:
		return err
	}
	l.object = stands
	if holder := holderOf(stands); holder != l.identity {
		l.taken = &LostError{Lock: l.api.config.lockPath(), Holder: holder}
		return l.taken
	}
	return err
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

// check returns a *LostError when another perch may have held the Lease. One
// that ran out unseen, as on a laptop that slept, is still ours if nobody took
// it: that is asked first.
func (l *lease) check(ctx context.Context) error {
	if !l.ranOut(time.Now()) && !l.isTaken() {
		return nil
	}
	err := l.update(ctx, func(*coordination.Lease) {})
	var lost *LostError
	if err == nil || errors.As(err, &lost) {
		return err
	}
	return &LostError{Lock: l.api.config.lockPath(), Err: err}
}

func (l *lease) ranOut(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Sub(l.renewed) >= l.api.config.Lease
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
	return l.persistently(ctx, func(*coordination.Lease) {})
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

// release lets go, so that the next perch need not wait until it runs out.
func (l *lease) release(ctx context.Context) error {
	l.stop()
	<-l.done
	if l.isTaken() {
		return nil
	}
	err := l.persistently(ctx, func(object *coordination.Lease) {
		nobody := ""
		object.Spec.HolderIdentity = &nobody
	})
	if l.isTaken() { // the release was carried out and its answer lost, or somebody was quicker
		return nil
	}
	return err
}
