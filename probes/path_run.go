package probes

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// trips are the smallest round trips to one address: TCP's, and what the TLS
// peer took to be heard. The zero value: none was measured.
type trips struct{ rtt, heard time.Duration }

// SettlePaths looks again at the paths of a whole run's observations, which it
// changes in place. A proxy that gave itself away by time alone may have been a
// peer that was busy at that moment: one quick exchange with the same address,
// in any step of the run, proves that nothing as slow stands in between.
func SettlePaths(all []Observation) {
	best := map[netip.AddrPort]trips{}
	for _, o := range all {
		for _, a := range o.Attempts {
			rtt, heard := roundTrips([]Attempt{a})
			b := best[a.Remote]
			best[a.Remote] = trips{smallest(rtt, b.rtt), smallest(heard, b.heard)}
		}
	}
	for i := range all {
		all[i].Path = settled(all[i], best)
	}
}

// settled is the observation's path by what the whole run saw of its addresses.
func settled(o Observation, best map[netip.AddrPort]trips) Path {
	p := o.Path
	at := slices.IndexFunc(p.By, func(by string) bool { return strings.HasPrefix(by, byTrip) })
	if at < 0 {
		return p
	}
	var run trips
	for _, a := range o.Attempts {
		b := best[a.Remote]
		run = trips{smallest(run.rtt, b.rtt), smallest(run.heard, b.heard)}
	}
	if endsNearer(run.rtt, run.heard) {
		return p
	}
	p.TCPRTT, p.Hello = run.rtt, run.heard
	p.Via = slices.Delete(slices.Clone(p.Via), at, at+1)
	p.By = slices.Delete(slices.Clone(p.By), at, at+1)
	if len(p.Via) == 0 { // a name in the answer's headers still counts
		p.TCPEnds = TCPEndsPeer
	}
	return p
}
