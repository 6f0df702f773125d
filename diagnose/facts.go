package diagnose

import "perch.example/probes"

// Facts are all that a rule looks at: each a value of a small closed set, so
// that a test can walk every combination.
type Facts struct {
	Kind       probes.Kind
	Connection probes.Connection // of the attempt that decides
	Reason     probes.Reason     // of the attempt that decides, or of the cut
	Delayed    bool              // perch itself was delayed for as long as the failure took
	Exhausted  bool              // perch's own pod had no more descriptors or local ports
	Again      Again
	Control    Control
	Age        Age
	Early      Early
	Instant    bool // closed within 100 ms of the answer
	Changed    bool // two runs agree that the path's bound has moved, and this rung is to tell it
	Cause      Cause
	Expiry     Expiry
}

// Again is what a second try on another fresh connection showed.
type Again string

// What became of a second try.
const (
	AgainNotTried Again = "not tried"
	AgainOK       Again = "ok"
	AgainFailed   Again = "failed"
)

// Control is what stands behind a judgement on a reused connection.
type Control string

// Whether there was a control that worked. One that failed decides itself.
const (
	ControlOK   Control = "ok"
	ControlNone Control = "none"
)

// Age says where a close (or the reuse) lies against keep_alive.
type Age string

// The columns of the idle table.
const (
	AgeEarly  Age = "early"  // before keep_alive - tol
	AgeWithin Age = "within" // within tol of it
	AgeLonger Age = "longer" // after it, or none was given
)

// Early says what an early close looks like beside the other rungs and runs.
type Early string

// The cases of an early close, in deciding order.
const (
	EarlyOutlived Early = "a" // another rung on the same address idled longer and worked
	EarlyMass     Early = "b" // several closed at one moment, at different ages
	EarlyRepeated Early = "c" // several closed at one age, or it was early at about that age in the last run too
	EarlyOnly     Early = "d" // the probe's only rung, and no run before is known
	EarlyFirst    Early = "e" // a first sighting
)

// Expiry says how long the peer's certificates are good yet: the one of its chain
// that ends first counts.
type Expiry string

// How near their end is.
const (
	ExpiryFar      Expiry = "far" // or no TLS
	ExpiryStaple   Expiry = "far, but a client that looks at the OCSP staple may refuse it"
	ExpiryAnchor   Expiry = "far, but that of the authority in tls.ca_file, within 21 days"
	ExpirySoon     Expiry = "within 21 days"
	ExpiryImminent Expiry = "within 7 days"
)

func againValues() []Again     { return []Again{AgainNotTried, AgainOK, AgainFailed} }
func controlValues() []Control { return []Control{ControlOK, ControlNone} }
func ageValues() []Age         { return []Age{AgeEarly, AgeWithin, AgeLonger} }
func earlyValues() []Early {
	return []Early{EarlyOutlived, EarlyMass, EarlyRepeated, EarlyOnly, EarlyFirst}
}
func expiryValues() []Expiry {
	return []Expiry{ExpiryFar, ExpiryStaple, ExpiryAnchor, ExpirySoon, ExpiryImminent}
}
