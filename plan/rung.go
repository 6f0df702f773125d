package plan

import (
	"time"

	"perch.example/probes"
)

const (
	// ControlDelay is how long after the reuse its control is booked: a reuse of
	// a dead connection fails within a round trip.
	ControlDelay = 100 * time.Millisecond

	// How long the plan gives a dial (resolving and connecting), a TLS handshake
	// and an answer. Bookings are as wide, as nobody knows beforehand when within
	// them a request will leave. Wider ones would take room from all windows that
	// they touch: 48 rungs at 5/s end seconds later for each quarter of a second.
	// What takes longer leaves its booking, which only a crowded calendar minds.
	dialReach   = 200 * time.Millisecond
	tlsReach    = 250 * time.Millisecond
	answerReach = 300 * time.Millisecond
)

// Opening is how long after a step's start its first request may leave and
// still be within its booking.
func Opening(s *probes.Spec) time.Duration {
	opening := min(s.Timeouts.DNS+s.Timeouts.Connect, dialReach)
	if s.URL != nil && s.URL.Scheme == "https" {
		opening += min(s.Timeouts.TLS, tlsReach)
	}
	return opening
}

// Reach is how long after a step's start its first answer may end so that a
// reuse still leaves within its booking: at most 500 ms, with TLS 750 ms, and as
// much again where server reflection describes a gRPC method first.
func Reach(s *probes.Spec) time.Duration {
	return describing(s) + Opening(s) + min(s.Timeouts.Response, answerReach)
}

// Shape returns the bookings of a step, in time since its start: the one
// exchange of an http probe (or all that it makes on its connection), or a rung's warm-up, its reuse (which leaves a hold
// after the warm-up's answer) and its control; last, where a gRPC method is
// described by server reflection, that request, which leaves first. As a step goes on the runner
// shrinks each to its instant, which always fits. Without the hold of a rung
// (kind idle), hold is not looked at.
func Shape(s *probes.Spec, hold time.Duration) []Booking {
	shape := exchanges(s, hold)
	if s.Reflects() {
		shape = append(shape, Booking{From: 0, To: Opening(s)})
	}
	return shape
}

func exchanges(s *probes.Spec, hold time.Duration) []Booking {
	first := Booking{From: 0, To: describing(s) + Opening(s)}
	if s.Burst != nil {
		return burstBookings(s)
	}
	if s.Kind != probes.KindIdle {
		return append([]Booking{first}, following(s)...)
	}
	reuse := Booking{From: hold, To: hold + Reach(s)}
	control := Booking{From: reuse.From + ControlDelay, To: reuse.To + ControlDelay}
	return []Booking{first, reuse, control}
}

// describing is how long server reflection may take before the warm-up's
// connection is dialled: it has one of its own, which is closed by then. 0: there
// is none. Only a run's first step needs it, but nobody knows which that will be.
func describing(s *probes.Spec) time.Duration {
	if !s.Reflects() {
		return 0
	}
	return Opening(s) + min(s.Timeouts.Response, answerReach)
}
