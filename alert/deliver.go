package alert

import (
	"context"
	"errors"
	"fmt"
)

// Sender tells a notice to one destination. Its errors are *SendError where
// more is known than that it failed.
type Sender interface {
	Send(ctx context.Context, n Notice) error
}

// Delivery is how the notices of one run went out.
type Delivery struct {
	Told      int
	Untold    int // refused, or not tried after another was not delivered
	Ambiguous int // of Untold: may have been delivered all the same
	Errors    []error
}

// Deliver sends notices in order and returns the memory without those that
// were told. It stops at the first that cannot be delivered, so that the order
// holds, unless that one was refused for what it says: it must not block the
// others for ever. Save the memory with MarkSending on all of them before, and
// save the returned one after.
func Deliver(ctx context.Context, m Memory, notices []Notice, to Sender) (Memory, Delivery) {
	var d Delivery
	stopped := false
	for _, n := range notices {
		if stopped {
			m = MarkUntold(m, n, false)
			d.Untold++
			continue
		}
		err := to.Send(ctx, n)
		if err == nil {
			m = MarkTold(m, n)
			d.Told++
			continue
		}
		var failure *SendError
		known := errors.As(err, &failure)
		// Of an error of another kind nothing is known: it may have been delivered.
		ambiguous := !known || failure.Ambiguous
		m = MarkUntold(m, n, ambiguous)
		d.Untold++
		if ambiguous {
			d.Ambiguous++
		}
		d.Errors = append(d.Errors, fmt.Errorf("telling %q: %w", n.ID, err))
		stopped = !known || !failure.Content
	}
	return m, d
}
