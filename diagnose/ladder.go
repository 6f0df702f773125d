package diagnose

import (
	"cmp"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

const (
	// instantClose is how soon after an answer a close says that the answer
	// should have carried Connection: close.
	instantClose = 100 * time.Millisecond
	// oneMoment is how near closes lie that have one cause outside of idleness.
	oneMoment = time.Second
	// againWithin is how soon another fresh exchange of the probe counts as a
	// second try of a control that failed.
	againWithin = 10 * time.Second
)

// ladder is a probe's observations, read once.
type ladder struct {
	in    Input
	rungs []rungView // in the order of hold and start
	idle  probes.IdleResult
	ends  []time.Duration // idle ages of the closes that follow idle age, ascending
	bound Bound           // for the next run
	// change is what two runs agree on that has moved; nil: nothing has.
	change *change

	closed []int                            // of rungs, those whose connection was seen to close
	died   []int                            // those that ended
	lived  map[netip.AddrPort]time.Duration // by remote address, the longest idle age that a connection survived
	ending *clients.Path                    // nil: path was not asked yet
}

// rungView is one observation and what is judged of it.
type rungView struct {
	obs     probes.Observation
	warm    *probes.Attempt
	reuse   *probes.Attempt // nil: the warm-up failed, or it is not an idle rung
	control *probes.Attempt
}

func newLadder(in Input) *ladder {
	l := &ladder{in: in, rungs: make([]rungView, 0, len(in.Observations))}
	for _, o := range in.Observations {
		if o.Unused != in.unused {
			continue
		}
		l.rungs = append(l.rungs, rungView{
			obs:     o,
			warm:    first(o, probes.ConnectionFresh),
			reuse:   o.Attempt(probes.ConnectionReused),
			control: made(o.Attempt(probes.ConnectionControl)),
		})
	}
	slices.SortStableFunc(l.rungs, func(a, b rungView) int {
		return cmp.Or(cmp.Compare(a.obs.Hold, b.obs.Hold), a.obs.Started.Compare(b.obs.Started))
	})
	if !held(in.Spec.Kind) {
		return l
	}
	l.index()
	l.ends = l.idleEnds()
	l.idle = l.result()
	if in.Spec.Kind == probes.KindBurst {
		return l // what a search finds out over many runs is a ladder's
	}
	l.learn()
	l.idle = l.narrowest(l.idle)
	return l
}

// index notes what each rung is compared with: a burst has up to a thousand.
func (l *ladder) index() {
	l.lived = map[netip.AddrPort]time.Duration{}
	for i := range l.rungs {
		r := &l.rungs[i]
		if r.obs.Close != nil {
			l.closed = append(l.closed, i)
		}
		if r.ended() {
			l.died = append(l.died, i)
		}
		if r.worked() {
			l.lived[r.reuse.Remote] = max(l.lived[r.reuse.Remote], r.reuseAge())
		}
	}
}

// made returns the attempt if it was made whole; one that was skipped, cut
// short or broken by perch itself is none.
func made(a *probes.Attempt) *probes.Attempt {
	if a == nil || !slices.Contains(failures(), a.Reason) && !answered(a) {
		return nil
	}
	return a
}

// first returns the first attempt on that kind of connection, or nil. One that was
// made again with another token gives way to that: so does an application whose
// token has ended.
func first(o probes.Observation, c probes.Connection) *probes.Attempt {
	var found *probes.Attempt
	for i := range o.Attempts {
		a := &o.Attempts[i]
		if a.Connection != c {
			continue
		}
		if found = a; !a.Renewed {
			break
		}
	}
	return found
}

// tolerance is how far from an age still counts as that age: 5%, at least
// 100 ms, at most 1 s.
func tolerance(age time.Duration) time.Duration {
	return min(max(age/20, 100*time.Millisecond), time.Second)
}

// tol is the tolerance of the probe's keep_alive, or of age where none is
// given.
func (l *ladder) tol(age time.Duration) time.Duration {
	if l.in.Spec.KeepAlive > 0 {
		return tolerance(l.in.Spec.KeepAlive)
	}
	return tolerance(age)
}

// ageOf places a rung against keep_alive.
func (l *ladder) ageOf(r rungView) Age {
	want, age := l.in.Spec.KeepAlive, r.age()
	switch {
	case want <= 0:
		return AgeLonger
	case age+r.readLate() < want-tolerance(want):
		return AgeEarly
	case age <= want+tolerance(want):
		return AgeWithin
	}
	return AgeLonger
}

// age is the idle age of the close where one was seen, else of the reuse.
func (r rungView) age() time.Duration {
	if r.obs.Close != nil {
		return r.obs.Close.Age
	}
	return r.reuseAge()
}

// readLate is by how much perch may have begun to count the idle age too late:
// it had not read the answer that had come. 0: in time, or unknown.
func (r rungView) readLate() time.Duration {
	if r.warm == nil || !r.warm.DelayKnown {
		return 0
	}
	return r.warm.Delay
}

// reuseAge is the real idle time before the reuse.
func (r rungView) reuseAge() time.Duration {
	if r.reuse != nil && r.reuse.IdleTime > 0 {
		return r.reuse.IdleTime
	}
	return r.obs.Hold
}

// worked reports whether the reused connection was alive: it carried a whole answer,
// whatever that says.
func (r *rungView) worked() bool {
	if !r.whole() {
		return false
	}
	return !slices.Contains(unanswered(), r.reuse.Reason) || r.carried() && r.reuse.Reason != probes.ReasonProxyUpstreamReset
}

// ended reports whether the reused connection failed where a fresh one worked. One that
// was seen to close needs no more than that a fresh one was answered at all.
func (r *rungView) ended() bool {
	if !r.whole() || !slices.Contains(unanswered(), r.reuse.Reason) || r.carried() {
		return false
	}
	return answered(r.control) || r.obs.Close != nil && heard(r.control)
}

// carried reports whether the reuse was given a whole answer to its request, though not
// the expected one: then it says nothing of how long connections may idle. A 408 does.
func (r *rungView) carried() bool {
	return r.reuse != nil && r.obs.Close == nil && aboutAnswers(r.reuse.Reason) && r.reuse.Status != http.StatusRequestTimeout
}

// goesOn reports whether nothing says that a connection which carried such an answer
// ended with it, nor that it was the wrong one to ask on.
func (r *rungView) goesOn() bool {
	a := r.reuse
	return r.carried() && a.Reason != probes.ReasonProxyUpstreamReset && !a.CloseAfter && a.Goaway == nil && a.Status != http.StatusMisdirectedRequest
}

// heard reports whether an attempt got a whole answer of a service that is well, if
// perhaps not the expected one.
func heard(a *probes.Attempt) bool {
	return answered(a) || a != nil && a.Status > 0 && !a.Reason.Unwell()
}

func (r *rungView) whole() bool { return r.obs.Cut == "" && r.reuse != nil }

// answered reports whether an attempt ended in a whole, expected answer. That
// a control's answer ends its connection does not make it worse.
func answered(a *probes.Attempt) bool {
	return a != nil && (a.Reason == probes.ReasonOK || a.Reason == probes.ReasonNoKeepAlive)
}

// instant reports whether the connection was closed right after its answer.
// Both ages must say so: one that is not known is zero.
func (r rungView) instant() bool {
	c := r.obs.Close
	if c == nil || c.How == probes.HowSilent || r.obs.Unused { // there was no answer
		return false
	}
	return c.AfterReply <= instantClose && c.Age <= instantClose
}

// recoveredAt returns another fresh exchange of the probe that worked within
// 10 s after t, or nil. After a whole answer a burst's reused calls count, too:
// the connection has nothing to do with it.
func (l *ladder) recoveredAt(t time.Time, answer bool) *probes.Attempt {
	if l.in.whole != nil {
		return recoveredIn(l.in.whole, t, answer)
	}
	for i := range l.rungs {
		if a := recoveredIn(l.rungs[i].obs.Attempts, t, false); a != nil {
			return a
		}
	}
	return nil
}

func recoveredIn(attempts []probes.Attempt, t time.Time, reused bool) *probes.Attempt {
	for i := range attempts {
		a := &attempts[i]
		if a.Connection == probes.ConnectionReused && !reused || !answered(a) {
			continue
		}
		if a.Started.After(t) && a.Started.Sub(t) <= againWithin {
			return a
		}
	}
	return nil
}

// endOf is when an attempt ended.
func endOf(o probes.Observation, a probes.Attempt) time.Time {
	if a.Started.IsZero() {
		return o.Ended
	}
	return a.Started.Add(a.Elapsed)
}
