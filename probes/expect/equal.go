package expect

import "slices"

// Equal reports whether both expect the same, as it is written.
func (s *Set) Equal(other *Set) bool {
	return slices.EqualFunc(s.all(), other.all(), func(a, b *expectation) bool { return a.expression == b.expression })
}

func (s *Set) all() []*expectation {
	if s == nil {
		return nil
	}
	return s.expectations
}
