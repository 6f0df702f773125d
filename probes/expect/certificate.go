package expect

import (
	"fmt"
	"math"
	"time"
)

// Certificate is what expectations can look at of the server's certificate. A zero
// field is not known, and has no value.
type Certificate struct {
	NotAfter        time.Time // when the first of the chain expires that is needed
	DaysLeft        float64   // until then, in days of 24 hours; negative: it has expired
	Subject, Issuer string
	Names           []string // DNS names and addresses
	Staple          string   // of an OCSP staple: good, revoked, unknown, unreadable; empty: none came
}

// values is the variable certificate.
func (c *Certificate) values() map[string]any {
	if c == nil {
		return map[string]any{}
	}
	return map[string]any{
		"not_after": c.NotAfter, "days_left": c.DaysLeft, "subject": c.Subject, "issuer": c.Issuer, "names": c.Names, "staple": c.Staple,
	}
}

func (c *Certificate) words() string {
	left := math.Floor(c.DaysLeft*10) / 10 // as the rest of perch counts: 19 days and 23 hours are not 20
	return fmt.Sprintf("certificate of %q by %q, %.1f days left", c.Subject, c.Issuer, left)
}

// OfHandshake are the variables that a handshake without a request has.
func OfHandshake() []string { return []string{"tls", "certificate", "latency"} }

// CheckHandshake is Check where nothing was asked: nothing is expected of a status. Its
// expressions speak of what a handshake has (OnHandshake).
func (s *Set) CheckHandshake(a Answer) []Failure { return s.hold(a) }

// OnHandshake returns the expressions that speak of nothing but what a handshake has,
// and those that speak of more.
func (s *Set) OnHandshake() (kept *Set, others []string) {
	kept = &Set{}
	if s == nil {
		return kept, nil
	}
	for _, e := range s.expectations {
		if e.onHandshake() {
			kept.expectations = append(kept.expectations, e)
		} else {
			others = append(others, e.expression)
		}
	}
	return kept, others
}

func (e *expectation) onHandshake() bool {
	has := map[string]bool{}
	for _, name := range OfHandshake() {
		has[name] = true
	}
	for name, used := range e.uses {
		if used && !has[name] {
			return false
		}
	}
	return true
}
