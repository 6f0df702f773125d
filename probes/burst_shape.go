package probes

import "time"

// Shape is how an application calls an API: in bursts of Requests, which leave
// evenly over Over, through a pool of at most Connections connections; Bursts times, with
// Gap between the end of one and the start of the next.
type Shape struct {
	Requests    int // in one burst
	Over        time.Duration
	Connections int
	Bursts      int
	Gap         time.Duration
}

// Between is the time from one call of a burst to the next.
func (s Shape) Between() time.Duration {
	if s.Requests == 0 {
		return 0
	}
	return s.Over / time.Duration(s.Requests)
}

// PoolOrder says which of several idle connections a client's pool hands out.
type PoolOrder string

// The orders.
const (
	PoolLIFO   PoolOrder = "lifo"   // the one that was used last
	PoolFIFO   PoolOrder = "fifo"   // the one that has been idle for longest
	PoolOldest PoolOrder = "oldest" // the one that was opened first
)

// PoolOrders returns the orders.
func PoolOrders() []PoolOrder { return []PoolOrder{PoolLIFO, PoolFIFO, PoolOldest} }

// BurstSeen is what the calls of a burst probe met.
type BurstSeen struct {
	Shape Shape
	Order PoolOrder
	Calls []BurstCall // in the order in which they were to leave

	Ended   string // why no more calls were made, for people; empty: all were
	Refused int    // of those that were not made, the ones that the budget was asked for
}

// NotMade is how many calls of the shape were not made.
func (b BurstSeen) NotMade() int { return max(0, b.Shape.Calls()-len(b.Calls)) }

// BurstCall is one call of a burst.
type BurstCall struct {
	Burst      int    // from 1
	Number     int    // in its burst, from 1
	Connection int    // of the pool's, in the order in which they were opened, from 1
	Attempt    int    // its attempt, an index of Observation.Attempts
	Close      *Close // the close that was seen before the call, while its connection was idle; nil: none
}

// Prediction is how many of an application's calls meet a connection that the path
// has closed, by its calls' times, its client's pool, and the measured idle timeout.
type Prediction struct {
	Source      string        // where the calls' times are from: "the declared shape", "calls.txt"
	Declared    bool          // they are the probe's own shape
	Common      bool          // no client is declared: this is a common one that would meet a dead connection
	Client      string        // of the catalog
	Order       PoolOrder     // the client's
	Connections int           // of its pool
	Timeout     time.Duration // after how long idle the path ends a connection, measured
	Calls       int
	Fresh       int // calls that opened a connection
	Dead        int // calls that were given a connection that the path had closed
	Failed      int // of those, whose error reaches the application
	Gaps        int // reuses: each has a gap before it, in which its connection was idle
	InBand      int // of the gaps, those that lie in the client's danger band
}

// DeadShare is the part of the calls that meet a dead connection, 0 to 1.
func (p Prediction) DeadShare() float64 { return part(p.Dead, p.Calls) }

// FailedShare is the part of the calls that fail for the application, 0 to 1.
func (p Prediction) FailedShare() float64 { return part(p.Failed, p.Calls) }

// BandShare is the part of the gaps that lie in the danger band, 0 to 1.
func (p Prediction) BandShare() float64 { return part(p.InBand, p.Gaps) }

func part(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}
