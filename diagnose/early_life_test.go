package diagnose

import (
	"math/rand/v2"
	"slices"
	"time"

	"perch.example/probes"
)

// A model of a server's idle connections over many runs. Times are since the
// first run's start.

// lifeServer is what closes connections.
type lifeServer struct {
	dice    *rand.Rand
	timeout time.Duration   // of idle connections
	tick    time.Duration   // how often it looks for them; 0: each has its timer
	phase   time.Duration   // of the tick
	mass    []time.Duration // when it closes all: a reload, a deploy; in order
	lone    int             // one connection of so many is closed early; 0: none
}

const lifeRTT = 40 * time.Millisecond

// closes returns when a connection that is idle from then on is closed, up to a
// moment; 0: it is not.
func (s *lifeServer) closes(idle, until time.Duration) time.Duration {
	end := idle + s.timeout
	if s.tick > 0 {
		end += (s.tick - (end-s.phase)%s.tick) % s.tick
	}
	if n, _ := slices.BinarySearch(s.mass, idle); n < len(s.mass) {
		end = min(end, s.mass[n])
	}
	if s.lone > 0 && s.dice.IntN(s.lone) == 0 {
		end = min(end, idle+s.upTo(until-idle))
	}
	if end > until {
		return 0
	}
	return end
}

func (s *lifeServer) upTo(most time.Duration) time.Duration {
	return time.Duration(s.dice.Int64N(int64(most)))
}

// life is a probe, run after run.
type life struct {
	keepAlive, every time.Duration
	holds            []time.Duration // in the order in which they are warmed
	late             time.Duration   // up to which a run starts late
	server           *lifeServer
	last             Last
	judged           int
	failed           []bool // of the last three runs
}

// heldFor is one rung of a run: when it was warm, reused and closed.
type heldFor struct{ hold, warm, reuse, closed time.Duration }

// firesAfter lives through runs, and returns after how many an incident would
// have fired, as alerts do that fire_after 2; 0: it would not.
func (p *life) firesAfter(runs int) int {
	for n := range runs {
		if p.fires(p.hold(n)) {
			return n + 1
		}
	}
	return 0
}

// hold plays one run's rungs, warmed apart as the plan does.
func (p *life) hold(n int) []heldFor {
	at := time.Duration(n)*p.every + p.server.upTo(p.late+time.Millisecond)
	var rungs []heldFor
	for _, h := range p.holds {
		warm := at + lifeRTT + p.server.upTo(20*time.Millisecond)
		r := heldFor{h, warm, warm + h, 0}
		r.closed = p.server.closes(r.warm-lifeRTT/2, r.reuse+lifeRTT/2)
		rungs = append(rungs, r)
		at += min(5*time.Second, p.keepAlive/10)
	}
	return rungs
}

// fires judges one run. One in which nothing ended early passes: most of a
// healthy week's are not judged, or it would take minutes.
func (p *life) fires(rungs []heldFor) bool {
	in := Input{Spec: probes.Spec{Target: "t", Probe: "p", Kind: probes.KindIdle, KeepAlive: p.keepAlive}, Last: p.last}
	p.last = Last{Seen: true}
	failed := false
	if slices.ContainsFunc(rungs, func(r heldFor) bool { return r.closed > 0 && r.closed-r.warm < p.keepAlive }) {
		for _, r := range rungs {
			in.Observations = append(in.Observations, r.observed())
		}
		failed = slices.ContainsFunc(Judge(in), func(o probes.Outcome) bool { return o.Verdict == probes.VerdictFail })
		p.last.EarlyCloses, p.last.MassCloses = EarlyCloses(in)
		p.judged++
	}
	p.failed = append(p.failed, failed)
	p.failed = p.failed[max(0, len(p.failed)-3):]
	return failed && slices.Contains(p.failed[:len(p.failed)-1], true)
}

// observed is what perch sees of a rung. A close that comes after the reuse has
// left crosses it.
func (r heldFor) observed() probes.Observation {
	age := r.closed + lifeRTT/2 - r.warm
	reason := probes.ReasonOK
	switch {
	case r.closed > 0 && age > r.hold:
		reason = probes.ReasonCrossedClose
	case r.closed > 0:
		reason = probes.ReasonIdleFIN
	}
	b := rungAt(r.warm-142*time.Millisecond, r.hold, reason)
	if reason == probes.ReasonIdleFIN {
		b.closed(max(age, time.Microsecond), probes.HowFIN)
	}
	return b.o
}
