package alert

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// round is one destination's part of a delivery. What the rounds share they
// only read.
type round struct {
	to       Destination
	places   places
	before   map[string]Thread // where the conversations stood
	threads  map[string]Thread // where those stand that this round took up
	marks    []mark            // by place in the outbox
	pictured []picturedNotice  // that were told, in order
	delivery Delivery
}

// mark is what a round says of a notice that was due in it.
type mark struct {
	due, told bool
	done      []Part
	ambiguous bool // it may have been delivered all the same
}

// deliver sends what waits for the destination, and then its pictures: none of
// them takes the time of a message.
func (r *round) deliver(ctx context.Context, outbox []Notice, now time.Time) {
	r.delivery.Destination = r.to.Name
	var waits heldUp
	for at, n := range outbox {
		way, due := n.way(r.to.Name)
		switch {
		case !due:
		case !r.to.Sender.Wants(n.Kind):
			r.marks[at] = mark{due: true, told: true}
		case waits.holds(n):
			r.marks[at] = mark{due: true, done: way.Done}
			r.delivery.Untold++
		default:
			n.PossibleRepeat, n.Waited = way.PossibleRepeat, lateness(n, now)
			var failure *SendError
			if r.marks[at], failure = r.send(ctx, n, way); failure != nil {
				waits.after(n, way, failure)
			}
		}
	}
	r.illustrate(ctx, waits.all)
}

// send sends one notice. The failure is what is known of why it was not told.
func (r *round) send(ctx context.Context, n Notice, way Way) (mark, *SendError) {
	so, err := r.to.Sender.Send(ctx, n, r.receipt(n, way))
	for _, c := range append(so.Ends, so.Conversation) {
		if c.Name != "" && c.Thread != (Thread{}) {
			r.threads[threadKey(r.to.Name, c.Name)] = c.Thread
		}
	}
	d := &r.delivery
	for _, problem := range so.Problems {
		d.Problems = append(d.Problems, fmt.Errorf("telling %q: %w", n.ID, problem))
	}
	if err == nil {
		d.Told++
		if n.hasPictures() {
			r.pictured = append(r.pictured, picturedNotice{n, so.Thread})
		}
		return mark{due: true, told: true}, nil
	}
	failure := judged(err)
	d.Untold++
	if failure.Ambiguous {
		d.Ambiguous++
	}
	d.Errors = append(d.Errors, fmt.Errorf("telling %q: %w; %s", n.ID, err, failure.next()))
	return mark{due: true, done: so.Done, ambiguous: failure.Ambiguous}, failure
}

// receipt is how far a notice has come on its way.
func (r *round) receipt(n Notice, way Way) Receipt {
	so := Receipt{Done: slices.Clone(way.Done)}
	if n.Thread != "" {
		so.Conversation = r.conversation(n.Thread)
	}
	for _, e := range n.Backlog.Entries {
		thread, known := r.places.thread[e.Name]
		if !known || e.Ended.IsZero() {
			continue
		}
		at := slices.IndexFunc(so.Ends, func(c Conversation) bool { return c.Name == thread })
		if at < 0 {
			at, so.Ends = len(so.Ends), append(so.Ends, r.conversation(thread))
		}
		so.Ends[at].Ended = append(so.Ends[at].Ended, e.Name)
	}
	return so
}

func (r *round) conversation(thread string) Conversation {
	key := threadKey(r.to.Name, thread)
	at, changed := r.threads[key]
	if !changed {
		at = r.before[key]
	}
	return Conversation{Name: thread, Thread: at, Open: r.places.open[thread], Over: r.places.over[thread]}
}

// places are where incidents are told, and who is told of where.
type places struct {
	thread     map[string]string   // by incident
	open, over map[string][]string // targets by thread
}

func placesOf(incidents []Incident) places {
	p := places{thread: map[string]string{}, open: map[string][]string{}, over: map[string][]string{}}
	for _, i := range incidents {
		thread := i.thread()
		p.thread[i.name()] = thread
		switch i.State {
		case StateFiring:
			p.open[thread] = append(p.open[thread], i.Target)
		case StateResolved:
			p.over[thread] = append(p.over[thread], i.Target)
		case StatePending: // nobody was told
		}
	}
	return p
}

// Illustrator is a Sender that has pictures of what it tells.
type Illustrator interface {
	// Illustrate shows a notice's pictures in the thread where it was told. What
	// fails is not tried again.
	Illustrate(ctx context.Context, n Notice, at Thread) error
}

// picturedNotice is a notice that was told and has pictures, and where.
type picturedNotice struct {
	notice Notice
	at     Thread
}

// forPictures is the time that all pictures of a run may take at a destination.
const forPictures = 3 * time.Second

// illustrate shows the pictures of what was told, up to the first that fails:
// they are best effort. down says that not even messages get through.
func (r *round) illustrate(ctx context.Context, down bool) {
	to, can := r.to.Sender.(Illustrator)
	if !can {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, forPictures)
	defer cancel()
	for at, p := range r.pictured {
		err := error(errNoPictures{})
		if !down {
			err = to.Illustrate(ctx, p.notice, p.at)
		}
		if err == nil {
			continue
		}
		err = fmt.Errorf("telling %q: %w", p.notice.ID, err)
		if left := len(r.pictured) - at - 1; left > 0 {
			err = fmt.Errorf("%w; and no pictures of %s behind it", err, counted(left, "notice"))
		}
		r.delivery.Problems = append(r.delivery.Problems, err)
		return
	}
}

// errNoPictures says why pictures were not tried.
type errNoPictures struct{}

func (errNoPictures) Error() string {
	return "its pictures were not sent, since what followed could not be delivered"
}
