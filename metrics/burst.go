package metrics

import (
	"slices"

	"perch.example/probes"
)

// What became of a call of a burst.
const (
	callFresh  = "fresh"  // answered, on a connection of its own
	callReused = "reused" // answered, on one of the pool's
	callDead   = "dead"   // it drew a connection that had ended
	callFailed = "failed" // for another cause
)

func callResults() []string { return []string{callFresh, callReused, callDead, callFailed} }

// Where a prediction's calls are from.
const (
	callsOfShape = "shape"
	callsOfFile  = "file"
)

// idles reports whether connections of the probe idle, so that it can measure the path.
func idles(s probes.Spec) bool { return s.Kind == probes.KindIdle || s.Kind == probes.KindBurst }

// predictedFrom lists where the calls are from of which a probe's predictions are made: for
// the declared client alone, since those for common ones are too many to be watched.
func predictedFrom(s probes.Spec) []string {
	var from []string
	if s.Client == nil {
		return nil
	}
	if s.Burst != nil {
		from = append(from, callsOfShape)
	}
	if s.Calls != "" {
		from = append(from, callsOfFile)
	}
	return from
}

func callResult(a probes.Attempt) string {
	switch {
	case a.DrewDead():
		return callDead
	case !a.OK():
		return callFailed
	case a.Connection == probes.ConnectionReused:
		return callReused
	}
	return callFresh
}

// observeBurst counts the calls of a burst.
func (m *Metrics) observeBurst(o probes.Outcome) {
	if o.Burst == nil {
		return
	}
	for _, c := range o.Burst.Calls {
		if c.Attempt >= 0 && c.Attempt < len(o.Attempts) {
			m.vectors.burstCalls.add(1, o.Target, o.Probe, callResult(o.Attempts[c.Attempt]))
		}
	}
}

// observePredictions sets what the application's calls would meet. A run that measured no
// timeout leaves what an earlier one predicted.
func (m *Metrics) observePredictions(o probes.Outcome) {
	may := predictedFrom(m.specs[o.ID()].Spec)
	for _, p := range o.Predicted {
		from := callsOfFile
		if p.Declared {
			from = callsOfShape
		}
		if slices.Contains(may, from) {
			m.vectors.predictedDead.set(p.DeadShare(), o.Target, o.Probe, from)
			m.vectors.predictedFailed.set(p.FailedShare(), o.Target, o.Probe, from)
		}
	}
}
