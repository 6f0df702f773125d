package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	calllog "perch.example/diagnose/calls"
	"perch.example/plan"
)

// sourceOf names a file of calls, and says what of it is not as it was written.
func sourceOf(name string, log calllog.Log) string {
	text := filepath.Base(name)
	if said := aboutCalls(log); len(said) > 0 {
		text += " (" + strings.Join(said, "; ") + ")"
	}
	return text
}

// aboutCalls is what one should know who trusts what follows from a file of calls.
func aboutCalls(log calllog.Log) []string {
	var said []string
	if log.Skipped > 0 {
		said = append(said, fmt.Sprintf("%d of its %d lines say no call, the first is line %d", log.Skipped, log.Lines, log.Bad))
	}
	if log.Dropped > 0 {
		said = append(said, fmt.Sprintf("of %d calls those of its last %d lines with one", len(log.Calls)+log.Dropped, len(log.Calls)))
	}
	if log.Spread {
		said = append(said, "times in whole seconds, whose calls are spread evenly over them")
	}
	if log.NoUnit > 0 {
		said = append(said, fmt.Sprintf("how long %d calls took is said without a unit that is sure, and not used", log.NoUnit))
	}
	if log.Failed > 0 {
		said = append(said, "how long "+count(log.Failed, "call", "calls")+" took that failed is not used")
	}
	if log.Took >= 0 {
		said = append(said, tookWords(log.Took)+" a call in the median")
	}
	return said
}

// tookWords writes how long a call took: "0.3 ms", "1.25 s".
func tookWords(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.3g s", d.Seconds())
}

// checkCalls adds to a plan what its files of calls hold. One that a run could not read is
// an error, since the run would send its requests and predict nothing. places are the
// config's: where each probe is written.
func checkCalls(p *plan.Plan, places map[string]string) error {
	var logs callLogs
	var wrong []error
	told := map[string]bool{}
	for _, step := range p.Steps {
		s := step.Spec
		if s.Calls == "" || told[s.Calls] {
			continue
		}
		told[s.Calls] = true
		log, err := logs.read(s.Calls)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %s: calls: %w", cmp.Or(places[s.ID()], p.From), s.ID(), err))
			continue
		}
		p.Notes = append(p.Notes, fmt.Sprintf("%s: calls: %s from %s on, in %s", s.ID(),
			count(len(log.Calls), "call", "calls"), log.First.Format(time.RFC3339), sourceOf(s.Calls, log)))
	}
	return errors.Join(wrong...)
}
