//go:build peers

package main

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"perch.example/plan"
	"perch.example/probes"
)

// A model of servers, and of what perch sees of them on the wire: what the
// runner would yield, without a wire.

// window is a time that a thing lasts.
type window struct{ from, to time.Time }

func (w window) holds(at time.Time) bool { return !at.Before(w.from) && at.Before(w.to) }

// troubleKind is a way in which a server goes wrong for a while.
type troubleKind string

const (
	troubleShort       troubleKind = "short"       // what is idle for a quarter of its timeout is closed at its next tick
	troubleDown        troubleKind = "down"        // it refuses connections
	troubleCertificate troubleKind = "certificate" // it shows one that is not valid
	troubleLimited     troubleKind = "limited"     // it answers 429
	troubleSlow        troubleKind = "slow"        // it takes 3 s for each answer
)

// family is the incident's that people are to hear of.
func (k troubleKind) family() probes.Family {
	return map[troubleKind]probes.Family{
		troubleShort: probes.FamilyConnection, troubleDown: probes.FamilyReachability, troubleCertificate: probes.FamilyCertificate,
		troubleLimited: probes.FamilyLimits, troubleSlow: probes.FamilyLatency,
	}[k]
}

// trouble is one of a server's.
type trouble struct {
	window
	kind troubleKind
}

// server is what stands behind a target.
type server struct {
	dice     *rand.Rand
	rtt      time.Duration
	timeout  time.Duration // of idle connections
	tick     time.Duration // how often it looks for them
	phase    time.Duration // of the tick
	mass     []time.Time   // when it closes all connections: a reload, a deploy; in order
	away     []window      // when it refuses connections, for seconds: a deploy
	late     []window      // when it answers too late, for seconds: a collection of garbage
	lone     int           // one held connection of so many is closed early
	troubles []trouble     // in order; no two at once
}

// newServer makes one that ticks, reloads twice an hour, is deployed once a day,
// closes a connection early now and then, and answers late now and then.
func newServer(dice *rand.Rand, timeout, tick time.Duration, week window) *server {
	s := &server{
		dice: dice, rtt: time.Duration(1+dice.IntN(150)) * time.Millisecond, timeout: timeout, tick: tick,
		phase: time.Duration(dice.Int64N(int64(tick))), lone: 400,
	}
	for at := week.from; at.Before(week.to); at = at.Add(30 * time.Minute) {
		s.mass = append(s.mass, at.Add(s.upTo(30*time.Minute)))
	}
	for day := week.from; day.Before(week.to); day = day.Add(24 * time.Hour) {
		deploy := day.Add(s.upTo(24 * time.Hour))
		s.mass = append(s.mass, deploy)
		s.away = append(s.away, window{deploy, deploy.Add(time.Second + s.upTo(9*time.Second))})
	}
	for at := week.from.Add(s.upTo(8 * time.Hour)); at.Before(week.to); at = at.Add(time.Hour + s.upTo(8*time.Hour)) {
		s.late = append(s.late, window{at, at.Add(10 * time.Second)})
	}
	slices.SortFunc(s.mass, time.Time.Compare)
	return s
}

func (s *server) upTo(most time.Duration) time.Duration {
	return time.Duration(s.dice.Int64N(int64(most)))
}

// suffer adds a trouble. One that brings the server down closes its connections.
func (s *server) suffer(t trouble) {
	s.troubles = append(s.troubles, t)
	if t.kind == troubleDown {
		s.mass = append(s.mass, t.from)
		slices.SortFunc(s.mass, time.Time.Compare)
	}
}

func (s *server) troubled(at time.Time) troubleKind {
	for _, t := range s.troubles {
		if t.holds(at) {
			return t.kind
		}
	}
	return ""
}

func within(all []window, at time.Time) bool {
	return slices.ContainsFunc(all, func(w window) bool { return w.holds(at) })
}

// closes returns when a connection that is idle from then on is closed, up to a
// moment; zero: it is not.
func (s *server) closes(idle, until time.Time) time.Time {
	var at time.Time
	earlier := func(t time.Time) {
		if t.After(idle) && !t.After(until) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	for t := idle.Truncate(s.tick).Add(s.phase - s.tick); !t.After(until); t = t.Add(s.tick) {
		if age := t.Sub(idle); age >= s.timeout || age >= s.timeout/4 && s.troubled(t) == troubleShort {
			earlier(t)
			break
		}
	}
	if n, _ := slices.BinarySearchFunc(s.mass, idle, time.Time.Compare); n < len(s.mass) {
		earlier(s.mass[n])
	}
	if s.dice.IntN(s.lone) == 0 {
		earlier(idle.Add(s.upTo(until.Sub(idle))))
	}
	return at
}

// exchange is one request and what comes of it.
func (s *server) exchange(on probes.Connection, at time.Time) probes.Attempt {
	a := probes.Attempt{
		Connection: on, Reason: probes.ReasonOK, Method: "GET", Status: 200, Proto: "HTTP/1.1", Started: at,
		Elapsed: s.rtt + 2*time.Millisecond + s.upTo(20*time.Millisecond), RTT: s.rtt, DelayKnown: true,
		RequestBytes: 200, ResponseBytes: 900, Remote: netip.MustParseAddrPort("192.0.2.7:443"),
	}
	none := func(r probes.Reason) {
		a.Reason, a.Status, a.Proto, a.RequestBytes, a.ResponseBytes, a.Elapsed, a.Started = r, 0, "", 0, 0, s.rtt, time.Time{}
	}
	kind, fresh := s.troubled(at), on != probes.ConnectionReused
	switch {
	case fresh && (kind == troubleDown || within(s.away, at)):
		none(probes.ReasonRefused)
	case fresh && kind == troubleCertificate:
		none(probes.ReasonCertificate)
	case kind == troubleLimited:
		a.Reason, a.Status = probes.ReasonRateLimited, 429
	case kind == troubleSlow || within(s.late, at) && s.dice.IntN(3) == 0:
		a.Reason, a.Elapsed = probes.ReasonSlow, 3*time.Second
	}
	return a
}

// play is what the runner would yield for a step.
func (s *server) play(step plan.Step, start time.Time) probes.Observation {
	start = start.Add(step.Start + s.upTo(2*time.Millisecond))
	o := probes.Observation{
		Target: step.Spec.Target, Probe: step.Spec.Probe, Kind: step.Spec.Kind, Hold: step.Hold,
		Started: start, Ended: start, Path: probes.Path{TCPEnds: probes.TCPEndsPeer},
	}
	add := func(a probes.Attempt, at time.Time) {
		a.Number = len(o.Attempts) + 1
		o.Attempts = append(o.Attempts, a)
		o.Ended = at.Add(a.Elapsed)
	}
	add(s.exchange(probes.ConnectionFresh, start), start)
	if step.Spec.Kind == probes.KindHTTP {
		if o.Attempts[0].Reason == probes.ReasonRefused && step.Spec.Retry.Attempts > 1 {
			again := o.Ended.Add(step.Spec.Retry.Backoff)
			add(s.exchange(probes.ConnectionFresh, again), again)
		}
		return o
	}
	if !o.Attempts[0].OK() {
		return o
	}
	warm := o.Ended
	reuse := warm.Add(step.Hold)
	a := s.reuse(&o, warm, reuse)
	add(a, reuse)
	if !a.OK() && a.Status == 0 {
		control := o.Ended.Add(plan.ControlDelay)
		add(s.exchange(probes.ConnectionControl, control), control)
	}
	return o
}

// reuse is the request on a held connection. An end travels for half a round
// trip: one that comes after the request has left crosses it.
func (s *server) reuse(o *probes.Observation, warm, at time.Time) probes.Attempt {
	half := s.rtt / 2
	a := s.exchange(probes.ConnectionReused, at)
	a.IdleTime, a.Served = at.Sub(warm), 1
	closed := s.closes(warm.Add(-half), at.Add(half))
	if closed.IsZero() {
		return a
	}
	a.Reason, a.Status, a.Proto, a.ResponseBytes, a.Elapsed = probes.ReasonIdleFIN, 0, "", 0, 300*time.Microsecond
	seen := closed.Add(half)
	if seen.After(at) {
		a.Reason, a.Elapsed = probes.ReasonCrossedClose, s.rtt
		return a
	}
	age := max(time.Microsecond, seen.Sub(warm))
	a.Queued = true
	o.Close = &probes.Close{Age: age, AfterReply: age, At: seen, How: probes.HowFIN, Resolution: 100 * time.Microsecond}
	return a
}
