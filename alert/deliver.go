package alert

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Destination is one place where notices go.
type Destination struct {
	Name   string // in the outbox, in metrics: "slack", "webhook", "alertmanager"
	Sender Sender
}

// Sender tells a notice to one destination. Its errors are *SendError where
// more is known than that it failed.
type Sender interface {
	// Wants reports whether the destination takes notices of that kind; what it
	// does not take is never sent to it and counts as told.
	Wants(Kind) bool
	// Send tells a notice, but for its parts that are done, and returns what is
	// done now: after an error, too.
	Send(ctx context.Context, n Notice, so Receipt) (Receipt, error)
}

// Receipt is how far a notice has come at a destination.
type Receipt struct {
	Thread Thread // of its incident; zero: there is none yet
	Done   []Part
}

// Delivery is how the notices of one run went to one destination.
type Delivery struct {
	Destination string
	Told        int
	Untold      int // refused, or not tried after another was not delivered
	Ambiguous   int // of Untold: may have been delivered all the same
	Errors      []error
}

// Deliver sends what waits in the outbox, in order, to each destination, and
// returns the memory without what was told. At a destination it stops at the
// first notice that cannot be delivered, so that the order holds, unless that
// one was refused for what it says: it must not block the others for ever. Save
// the memory with MarkSending before, and save the returned one after.
func Deliver(ctx context.Context, m Memory, to []Destination, now time.Time) (Memory, []Delivery) {
	var all []Delivery
	for _, destination := range to {
		var d Delivery
		m, d = deliver(ctx, m, destination, now)
		all = append(all, d)
	}
	return m, all
}

func deliver(ctx context.Context, m Memory, to Destination, now time.Time) (Memory, Delivery) {
	d := Delivery{Destination: to.Name}
	stopped := false
	for _, n := range slices.Clone(m.Outbox) {
		way, waits := n.way(to.Name)
		switch {
		case !waits:
			continue
		case !to.Sender.Wants(n.Kind):
			m = m.told(n.ID, to.Name)
			continue
		case stopped:
			m = m.untold(n.ID, to.Name, way.Done, false)
			d.Untold++
			continue
		}
		n.PossibleRepeat, n.Waited = way.PossibleRepeat, max(0, now.Sub(n.Decided))
		key := threadKey(to.Name, n.Thread)
		so, err := to.Sender.Send(ctx, n, Receipt{Thread: m.Threads[key], Done: way.Done})
		m = m.keepThread(key, so.Thread)
		if err == nil {
			m = m.told(n.ID, to.Name)
			d.Told++
			continue
		}
		var failure *SendError
		known := errors.As(err, &failure)
		// Of an error of another kind nothing is known: it may have been delivered.
		ambiguous := !known || failure.Ambiguous
		m = m.untold(n.ID, to.Name, so.Done, ambiguous)
		d.Untold++
		if ambiguous {
			d.Ambiguous++
		}
		d.Errors = append(d.Errors, fmt.Errorf("telling %q: %w", n.ID, err))
		stopped = !known || !failure.Content
	}
	return m, d
}

// way returns a notice's way to a destination, if it still has one.
func (n Notice) way(destination string) (Way, bool) {
	at := slices.IndexFunc(n.Ways, func(w Way) bool { return w.Destination == destination })
	if at < 0 {
		return Way{}, false
	}
	return n.Ways[at], true
}

// keepThread remembers where an incident's messages stand.
func (m Memory) keepThread(key string, at Thread) Memory {
	if at == (Thread{}) || m.Threads[key] == at {
		return m
	}
	threads := maps.Clone(m.Threads)
	if threads == nil {
		threads = map[string]Thread{}
	}
	threads[key] = at
	m.Threads = threads
	return m
}
