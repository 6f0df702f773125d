package report

import (
	"fmt"
	"time"

	"perch.example/probes"
)

// limitJSON is how many requests a connection carried, and how it ended.
type limitJSON struct {
	Requests int     `json:"requests"`
	Age      float64 `json:"age_seconds"`
	Ended    bool    `json:"ended"`
	Told     bool    `json:"told"`
	By       string  `json:"by,omitempty"`
	Idle     float64 `json:"idle_seconds,omitempty"`
}

func newLimit(l *probes.ConnectionLimit) *limitJSON {
	if l == nil {
		return nil
	}
	return &limitJSON{Requests: l.Requests, Age: seconds(l.Age), Ended: l.Ended, Told: l.Told, By: l.By, Idle: seconds(l.Idle)}
}

// rungName names a rung: its hold, and whether its connection carried nothing before.
func rungName(o *probes.Outcome) string {
	if o.Unused {
		return age(o.Hold) + " unused"
	}
	return age(o.Hold)
}

// used are the outcomes of connections that had carried a request.
func used(outcomes []*probes.Outcome) []*probes.Outcome {
	var all []*probes.Outcome
	for _, o := range outcomes {
		if !o.Unused {
			all = append(all, o)
		}
	}
	return all
}

// unusedWords say what became of connections that never carried a request; empty:
// none were held.
func unusedWords(outcomes []*probes.Outcome) string {
	var survived, closed time.Duration
	pushed, held := 0, false
	for _, o := range outcomes {
		if !o.Unused || extent(o) == 0 {
			continue
		}
		held = true
		if a := attempt(o, probes.ConnectionReused); a != nil {
			pushed = max(pushed, a.PushedStatus)
			if a.OK() {
				survived = max(survived, extent(o))
			}
		}
		control := attempt(o, probes.ConnectionControl)
		// Where a new one fails as well, what ended the held one was no timeout.
		if o.Close != nil && (control == nil || control.OK()) && (closed == 0 || o.Close.Age < closed) {
			closed = o.Close.Age
		}
	}
	switch {
	case !held:
		return ""
	case closed > 0 && pushed > 0:
		return fmt.Sprintf("; one that never carried a request is given a %d after %s", pushed, age(closed))
	case closed > 0:
		return "; one that never carried a request is ended after " + age(closed)
	case survived > 0:
		return "; one that never carried a request lived for " + age(survived)
	}
	return "; one that never carried a request did not work"
}
