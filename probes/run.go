package probes

import (
	"net/netip"
	"slices"
	"time"
)

// Run is everything that one pass found: what every sink consumes.
type Run struct {
	Version  string // of perch
	Name     string // the config's
	Vantage  string
	RunID    string
	Seed     uint64
	Started  time.Time
	Finished time.Time
	CutShort string // why the run was cut short; empty: it was not
	Outcomes []Outcome
	Idle     []IdleResult
	Clients  []ClientOutcome // perch idle: what the common clients would meet on the measured path; nil: nothing was measured
	Budget   []BudgetUse
	NotDue   []string        // "target/probe" that were not due
	Problems []Problem       // what perch itself could not do
	Delays   []time.Duration // perch's own lateness samples during the run, bounded
	Tokens   map[string]int  // OAuth2 token requests that left, by the endpoint's host
	Settled  []Settled       // what failed while perch's own network was coming up, and was tried again

	// Incidents are the state's after this run: those that are not over, and
	// those that ended in it.
	Incidents []Incident
	// Notices say that some wait, or why none is sent, a sentence each without its
	// full stop; nil: there is nothing to say.
	Notices []string
}

// Verdict is incomplete if the run was cut short, else the worst of fail,
// incomplete, degraded, pass. A run without anything to judge is a pass; an
// outcome without a known verdict counts as incomplete.
func (r Run) Verdict() Verdict {
	if r.CutShort != "" {
		return VerdictIncomplete
	}
	worst := VerdictPass
	for _, o := range r.Outcomes {
		v := o.Verdict
		if !slices.Contains(Verdicts(), v) {
			v = VerdictIncomplete
		}
		if badness(v) > badness(worst) {
			worst = v
		}
	}
	return worst
}

func badness(v Verdict) int {
	return slices.Index([]Verdict{VerdictSkipped, VerdictPass, VerdictDegraded, VerdictIncomplete, VerdictFail}, v)
}

// IdleResult sums up a probe's ladder. Zero durations are unknown.
type IdleResult struct {
	Target, Probe string
	Survived      time.Duration // longest idle age that worked
	Died          time.Duration // shortest idle age that did not
	Measured      time.Duration // least idle age of a close, where one was seen
	Advertised    time.Duration // Keep-Alive: timeout=N
	How           HowClosed     // empty: nothing died
	Address       netip.Addr    // addresses: all: the one that it is about, where others were held as well; else zero
}

// BudgetUse is what a target's budget was and how much of it was used.
type BudgetUse struct {
	Target         string
	LimitPerSecond float64
	Requests       int
	PeakPerSecond  float64
	Waited         time.Duration // at the last gate; it should be 0
	Denied         int           // requests that were not sent: the budget refused them, or their burst ended early

	Last       []time.Time // when the last requests left, the oldest first: at most Allowed of them
	Allowed    int         // requests in a window of the budget
	LeaveAlone time.Time   // until when the API asked to be left alone (Retry-After); zero: it did not
}

// Settled are the connections to a target that could not be opened within
// `settle` of the start, and were tried again without being counted.
type Settled struct {
	Target string
	Times  int
	Reason Reason        // of the last of them
	After  time.Duration // from the start to the last of them
}

// Problem is something that perch itself could not do.
type Problem struct {
	Part Part
	Text string
}

// Part is a part of perch that can fail.
type Part string

// The parts.
const (
	PartConfig   Part = "config"
	PartState    Part = "state"
	PartPush     Part = "push"
	PartNotices  Part = "notices"
	PartInternal Part = "internal"
)

// Parts returns the closed set.
func Parts() []Part {
	return []Part{PartConfig, PartState, PartPush, PartNotices, PartInternal}
}
