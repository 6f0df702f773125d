package metrics

import "time"

// What of perch serve alone is told: perch run makes none of these series.

// Reloaded says how perch serve took its config: at its start, and at each
// change of its files. at is when a good one was taken in; of a bad one it does
// not count, for the one before it stays.
func (m *Metrics) Reloaded(ok bool, at time.Time) {
	m.Whole(func() {
		m.vectors.reloadSuccessful.set(bit(ok))
		if ok {
			m.vectors.reloadedAt.set(seconds(at))
		}
	})
}

// Leads says whether this replica of perch serve is the one that probes. Where
// no state elects one, it is not called.
func (m *Metrics) Leads(leads bool) { m.vectors.leader.set(bit(leads)) }

// Missed counts ticks of a probe that fell out of its schedule. One that is no
// longer in the config counts nothing.
func (m *Metrics) Missed(target, probe string, ticks int) {
	if m.vectors.ticksMissed.has(target, probe) {
		m.vectors.ticksMissed.add(float64(ticks), target, probe)
	}
}

// NewStandby makes what a replica shows that waits for its turn: which perch it
// is, and what Reloaded and Leads say. The series of the probes are the
// leader's; two of each would count double.
func NewStandby(o Options) *Metrics {
	m := newMetrics(o)
	m.createBuildInfo(o)
	m.Leads(false)
	return m
}
