package diagnose

import (
	"slices"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// CallTimes are the times of an application's calls.
type CallTimes struct {
	Source string         // where they are from, for people
	Shape  int            // they are what a burst probe declares: so many calls each time; 0: they are not
	Calls  []clients.Call // one whose Took is negative takes as long as perch's own calls did
}

const (
	// mostRepeats is how often a declared shape is repeated, each `every` once: what an
	// application's first bursts open tells little of those after it.
	mostRepeats = 10
	// mostShaped bounds the calls of a declared shape and its repeats.
	mostShaped = 20_000
)

// DeclaredTimes are the calls that a burst probe declares, repeated as its schedule says;
// false: it is none. The first calls of each repetition are made at a time, as many as the
// pool has connections: the budget spreads them, and an application's overlap. They use what
// the repetition before left in the pool, alive or dead, and open what is missing.
func DeclaredTimes(spec probes.Spec) (CallTimes, bool) {
	if spec.Burst == nil || spec.Burst.Calls() <= 0 {
		return CallTimes{}, false
	}
	shape := *spec.Burst
	n, repeats := min(shape.Calls(), mostShaped), 1
	if spec.Every > shape.Lasts() {
		repeats = min(max(1, mostShaped/n), mostRepeats)
	}
	times := CallTimes{Source: "the declared shape", Shape: n}
	for r := range repeats {
		for i := range n {
			times.Calls = append(times.Calls, clients.Call{At: time.Duration(r)*spec.Every + shape.Offset(i), Took: -1})
		}
	}
	return times, true
}

// Predict says how many of an application's calls meet a connection that the path has
// closed: through the declared client's pool, or where none is declared, through that of
// each common one that would meet any. Nothing is predicted without a timeout that was
// measured, nor over HTTP/2, where calls share a connection.
func Predict(in Input, path clients.Path, times ...CallTimes) []probes.Prediction {
	var all []probes.Prediction
	took := UsualTime(in.Observations)
	for _, t := range times {
		calls := slices.Clone(t.Calls)
		for i := range calls {
			if calls[i].Took < 0 {
				calls[i].Took = took
			}
		}
		for _, decl := range in.clients() {
			p, ok := clients.Predict(calls, clients.Pool{Client: decl, Connections: in.pool(), Method: in.Spec.Method, Filled: t.Shape}, path)
			if p.Source, p.Declared, p.Common = t.Source, t.Shape > 0, in.Spec.Client == nil; ok && (in.Spec.Client != nil || p.Dead > 0) {
				all = append(all, p)
			}
		}
	}
	return all
}

// clients are the declared one, or all that are common.
func (in Input) clients() []probes.Client {
	if in.Spec.Client != nil {
		return []probes.Client{*in.Spec.Client}
	}
	return clients.Common()
}

// pool is how many connections the application's pool has; 0: as many as its calls need.
func (in Input) pool() int {
	if in.Spec.Burst != nil {
		return in.Spec.Burst.Connections
	}
	return in.Spec.Pool
}

// UsualTime is how long an answer took, in the median; 0: there was none.
func UsualTime(observed []probes.Observation) time.Duration {
	var took []time.Duration
	for _, o := range observed {
		for _, a := range o.Attempts {
			if a.OK() {
				took = append(took, a.Elapsed)
			}
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}
