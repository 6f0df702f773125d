package state

import "fmt"

// LostError says that the run's lock did not hold until its end: the API server
// could not be reached for as long as the Lease lasts, or somebody took it.
// Another perch may have run beside this one.
type LostError struct {
	Lock   string // "lease shop/perch-state"
	Holder string // who holds it now; empty: nobody, or not known
	Err    error  // why it could not be renewed; nil: it was taken
}

func (e *LostError) Error() string {
	text := fmt.Sprintf("%s was lost while the run was under way, so another perch may have run beside it", e.Lock)
	if e.Holder != "" {
		text += fmt.Sprintf(" (%q holds it now)", e.Holder)
	}
	if e.Err != nil {
		text += fmt.Sprintf(": it could not be renewed: %v", e.Err)
	}
	return text
}

func (e *LostError) Unwrap() error { return e.Err }
