package diagnose

import (
	"cmp"
	"net/netip"
	"slices"

	"perch.example/probes"
)

// ladders cuts an idle probe's rungs into a ladder for each of a host's addresses:
// each may be another server, with a timeout of its own. One where they were with
// one address, or with whichever the resolver gave.
func ladders(in Input) []Input {
	var order []netip.Addr
	by := map[netip.Addr][]probes.Observation{}
	if in.Spec.Kind == probes.KindIdle {
		for _, o := range in.Observations {
			a := addressOf(o.Attempts)
			if by[a] == nil {
				order = append(order, a)
			}
			by[a] = append(by[a], o)
		}
	}
	if len(order) < 2 {
		return []Input{in}
	}
	var all []Input
	for _, a := range order {
		one := in
		one.Observations, one.Last.Bound = by[a], Bound{} // the bound that runs agree on is of one path
		all = append(all, one)
	}
	return all
}

// addressOf is the address that a step was for; zero: as the resolver said, or it
// was not tried.
func addressOf(attempts []probes.Attempt) netip.Addr {
	if len(attempts) == 0 {
		return netip.Addr{}
	}
	return attempts[0].Address
}

// byHold puts the outcomes of several ladders in the order of one, and says of each
// with which address it was.
func byHold(outcomes []probes.Outcome) []probes.Outcome {
	for i := range outcomes {
		if a := addressOf(outcomes[i].Attempts); a.IsValid() {
			outcomes[i].Message = a.String() + ": " + outcomes[i].Message
		}
	}
	used := func(o probes.Outcome) int {
		if o.Unused {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(outcomes, func(a, b probes.Outcome) int {
		return cmp.Or(cmp.Compare(used(a), used(b)), cmp.Compare(a.Hold, b.Hold), a.Started.Compare(b.Started))
	})
	return outcomes
}

// telling is the ladder that an idle probe's result is about: of a host's addresses
// that whose connections ended at the least idle age. several says that there were
// others.
func telling(in Input) (l *ladder, several bool) {
	in = in.perCall()
	l = newLadder(in)
	all := ladders(in)
	if len(all) < 2 {
		return l, false
	}
	for _, one := range all {
		other := newLadder(one)
		if died := other.idle.Died; died > 0 && (!several || died < l.idle.Died) {
			l, several = other, true
		}
	}
	return l, several
}
