package alert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Destination is one place where notices go.
type Destination struct {
	Name   string // in the outbox, in metrics: "slack", "webhook", "alertmanager"; without blanks
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
	Conversation // its incident's
	Done         []Part
	// Ends are the other conversations in which incidents that the notice ends
	// were told: a backlog has none of its own.
	Ends []Conversation
	// Problems are what failed beside the notice itself: they are said, and not
	// tried again.
	Problems []error
}

// Conversation is a thread, and the incidents that it tells.
type Conversation struct {
	Name   string // of the thread, as notices have it; empty: none
	Thread Thread // where it stands; zero: nowhere yet
	// Open and Over are the names of its incidents' targets, as far as they are remembered.
	Open, Over []string
	// Ended are the names of the incidents that the notice ends here, in Receipt.Ends.
	Ended []string
}

// incidents counts those that the thread tells, the forgotten ones, too.
func (c *Conversation) incidents() int { return max(len(c.Open)+len(c.Over), c.Thread.Size) }

func (r *Receipt) did(p Part) bool { return slices.Contains(r.Done, p) }

func (r *Receipt) done(parts ...Part) {
	for _, p := range parts {
		if !r.did(p) {
			r.Done = append(r.Done, p)
		}
	}
}

// Delivery is how the notices of one run went to one destination.
type Delivery struct {
	Destination string
	Told        int
	Untold      int // refused, or not tried after another was not delivered
	Ambiguous   int // of Untold: may have been delivered all the same
	Errors      []error
	Problems    []error // what failed beside notices that were told: to be said, and that is all
}

// Deliver sends what waits in the outbox to each destination, and returns the
// memory without what was told. Save the memory with MarkSending before, and
// save the returned one after.
//
// An incident is always told in order: when a notice cannot be delivered, what
// follows in its thread waits, too. Across incidents the order holds for as
// long as it holds up nobody for ever: a destination that is down, or refuses
// perch itself, stops all; a notice that is refused for what it says or for its
// channel does not stop the others, nor does one that had no clear answer in an
// earlier run already. A destination is not tried further after two failures
// that say nothing about the notice itself.
//
// The destinations are told at the same time, so that none takes the others'
// time: each Sender is used by one goroutine.
func Deliver(ctx context.Context, m Memory, to []Destination, now time.Time) (Memory, []Delivery) {
	m = m.clone()
	places := placesOf(m.Incidents)
	rounds := make([]round, len(to))
	atOnce(len(to), func(at int) {
		r := &rounds[at]
		*r = round{to: to[at], places: places, before: m.Threads, threads: map[string]Thread{}, marks: make([]mark, len(m.Outbox))}
		r.deliver(ctx, m.Outbox, now)
	})
	var deliveries []Delivery
	for at := range rounds {
		m.mark(rounds[at].to.Name, rounds[at].marks)
		m.keepThreads(rounds[at].threads)
		deliveries = append(deliveries, rounds[at].delivery)
	}
	m.untried(to)
	m.Outbox = slices.DeleteFunc(m.Outbox, func(n Notice) bool { return len(n.Ways) == 0 })
	return m, deliveries
}

// untried says of what waits for other destinations, those whose secret could
// not be read, that nothing was sent to them.
func (m *Memory) untried(to []Destination) {
	for _, n := range m.Outbox {
		for w, way := range n.Ways {
			if !slices.ContainsFunc(to, func(d Destination) bool { return d.Name == way.Destination }) {
				n.Ways[w].Sending = false
			}
		}
	}
}

// onTime is how long a run may take to tell what it decided.
const onTime = time.Minute

// lateness is how long a notice had to wait for a later run; 0: it did not.
func lateness(n Notice, now time.Time) time.Duration {
	if waited := now.Sub(n.Decided); waited >= onTime {
		return waited
	}
	return 0
}

// judged is what is known of a failure. Of an error of another kind nothing is
// known: the notice may have been delivered.
func judged(err error) *SendError {
	var failure *SendError
	if errors.As(err, &failure) {
		return failure
	}
	return &SendError{Ambiguous: true, cause: err}
}

// next says what becomes of a notice that was not delivered.
func (e *SendError) next() string {
	if e.Ambiguous {
		return "the next run repeats it, saying so"
	}
	return "the next run sends it again"
}

// heldUp is what waits for the next run, after failures in this one.
type heldUp struct {
	all      bool
	failures int // that said nothing about the notice itself
	threads  map[string]bool
	names    map[string]bool // incidents of what was not told: a backlog has no thread, and what follows of them waits, too
	channels map[string]bool // that were refused, as notices name them
}

func (h *heldUp) holds(n Notice) bool {
	return h.all || n.Thread != "" && h.threads[n.Thread] || h.channels[n.Channel] ||
		slices.ContainsFunc(n.names(), func(name string) bool { return h.names[name] })
}

// after decides what a failure holds up.
func (h *heldUp) after(n Notice, way Way, e *SendError) {
	if h.threads == nil {
		h.threads, h.names, h.channels = map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	h.threads[n.Thread] = true
	for _, name := range n.names() {
		h.names[name] = true
	}
	switch {
	case e.Content:
	case e.Place:
		h.channels[n.Channel] = true
	case e.Ambiguous && way.PossibleRepeat && h.failures == 0:
		// Perhaps the other side cannot take this very notice: another one shows.
		h.failures++
	default:
		h.all = true
	}
}

// Refresh tells what is ongoing to the destinations that must hear it in each
// run, at the same time. It uses no outbox: what fails is told by the next run.
// Call it after Deliver: the end of an earlier incident, told late, must not
// have the last word.
func Refresh(ctx context.Context, to []Destination, ongoing []Notice) []Delivery {
	to = slices.DeleteFunc(slices.Clone(to), func(d Destination) bool { return !d.Sender.Wants(KindOngoing) })
	if len(ongoing) == 0 || len(to) == 0 {
		return nil
	}
	deliveries := make([]Delivery, len(to))
	atOnce(len(to), func(at int) { deliveries[at] = refresh(ctx, to[at], ongoing) })
	return deliveries
}

// atOnce does n things at the same time, and returns when all are done. The
// last is the caller's own: one alone needs no goroutine.
func atOnce(n int, do func(at int)) {
	var others sync.WaitGroup
	for at := range n - 1 {
		others.Go(func() { do(at) })
	}
	if n > 0 {
		do(n - 1)
	}
	others.Wait()
}

func refresh(ctx context.Context, to Destination, ongoing []Notice) Delivery {
	d := Delivery{Destination: to.Name}
	for at, n := range ongoing {
		_, err := to.Sender.Send(ctx, n, Receipt{})
		if err == nil {
			d.Told++
			continue
		}
		d.Errors = append(d.Errors, fmt.Errorf("telling %q: %w", n.ID, err))
		if !judged(err).Content {
			d.Untold += len(ongoing) - at
			break
		}
		d.Untold++
	}
	return d
}

// way returns a notice's way to a destination, if it still has one.
func (n Notice) way(destination string) (Way, bool) {
	at := slices.IndexFunc(n.Ways, func(w Way) bool { return w.Destination == destination })
	if at < 0 {
		return Way{}, false
	}
	return n.Ways[at], true
}
