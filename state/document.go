// Package state keeps what must survive between runs: due times, daily request
// counts, what was measured of idle timeouts, last verdicts, and the memory of
// others, which it holds as bytes without looking inside. One document is kept
// in a file or in a ConfigMap.
package state

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"
)

// Document is everything that survives. The zero value is an empty one; maps
// may be nil, and the methods that write make them.
type Document struct {
	// Version is the format's; Save writes the current one whatever stands here.
	Version int `json:"version"`
	// Name is the config's whose state it is; empty: not known (the format
	// before).
	Name string `json:"name,omitempty"`
	// Due holds, per "target/probe", when the run started in which the probe was
	// last run. It is the run's start, not the step's: the spread moves a step
	// within the run, and that must not make the probe early or late next time.
	Due map[string]time.Time `json:"due,omitempty"`
	// Daily holds the requests that were sent to each target on one UTC day.
	Daily map[string]Daily `json:"daily,omitempty"`
	// DailyBefore holds what Daily held of an earlier day, before a run counted on
	// a later one: that run's clock may have been wrong.
	DailyBefore map[string]Daily `json:"daily_before,omitempty"`
	// Clocks holds what the clocks of the last two runs said.
	Clocks Clocks `json:"clocks,omitzero"`
	// EarlyCloses holds, per "target/probe", for each rung (by its hold) that
	// was closed too early in the last run, the idle age of that close.
	EarlyCloses map[string]map[time.Duration]time.Duration `json:"early_closes,omitempty"`
	// MassCloses holds likewise those that were closed at one moment with others.
	MassCloses map[string]map[time.Duration]time.Duration `json:"mass_closes,omitempty"`
	// Sent holds, per target, what left to it last, in all runs: it counts in the
	// next run's first windows of the budget.
	Sent map[string]Sent `json:"sent,omitempty"`
	// LeaveAlone holds, per target, until when it asked to be left alone.
	LeaveAlone map[string]time.Time `json:"leave_alone,omitempty"`
	// Brackets holds, per "target/probe", what is known of its idle timeout.
	Brackets map[string]Bracket `json:"brackets,omitempty"`
	// Verdicts holds, per "target/probe", what its last whole run came to.
	Verdicts map[string]LastVerdict `json:"verdicts,omitempty"`
	// Sections belong to whoever wrote them ("alert"); here they are only bytes.
	Sections map[string]json.RawMessage `json:"sections,omitempty"`
}

// Empty reports whether nothing was ever kept: there is no state yet, or it was
// reset.
func (d Document) Empty() bool {
	d.Version = 0
	return reflect.ValueOf(d).IsZero()
}

// MarkRun remembers that a probe ran in the run that started then.
func (d *Document) MarkRun(id string, started time.Time) {
	if d.Due == nil {
		d.Due = map[string]time.Time{}
	}
	d.Due[id] = started.UTC()
}

// IsDue reports whether a probe that is to run at every interval is to run now.
// It is due a little early, by a tenth of every and at most 30 s: a CronJob's
// start jitters by seconds, and a run that comes 2 s early must not be skipped
// for a whole interval. What never ran, has no interval, or ran in what is now
// the future (the clock was set back) is due.
func (d Document) IsDue(id string, every time.Duration, now time.Time) bool {
	last, known := d.Due[id]
	if !known || every <= 0 || now.Before(last) {
		return true
	}
	return now.Sub(last) >= every-min(every/10, 30*time.Second)
}

// SetEarlyCloses replaces what is known of a probe's early closes by those of
// the run that just ended: of single connections, and of several at once. None
// forgets the probe's.
func (d *Document) SetEarlyCloses(id string, early, mass map[time.Duration]time.Duration) {
	setCloses(&d.EarlyCloses, id, early)
	setCloses(&d.MassCloses, id, mass)
}

func setCloses(all *map[string]map[time.Duration]time.Duration, id string, closes map[time.Duration]time.Duration) {
	if len(closes) == 0 {
		delete(*all, id)
		return
	}
	if *all == nil {
		*all = map[string]map[time.Duration]time.Duration{}
	}
	(*all)[id] = maps.Clone(closes)
}

// SetSection keeps the bytes of a section, which must be JSON, under its
// owner's name; none removes it.
func (d *Document) SetSection(name string, content json.RawMessage) {
	if len(content) == 0 {
		delete(d.Sections, name)
		return
	}
	if d.Sections == nil {
		d.Sections = map[string]json.RawMessage{}
	}
	d.Sections[name] = slices.Clone(content)
}

// clone returns a copy that shares nothing that the setters change.
func (d Document) clone() Document {
	d.Due = maps.Clone(d.Due)
	d.Daily, d.DailyBefore = maps.Clone(d.Daily), maps.Clone(d.DailyBefore)
	d.EarlyCloses, d.MassCloses = maps.Clone(d.EarlyCloses), maps.Clone(d.MassCloses)
	d.Sent, d.LeaveAlone = maps.Clone(d.Sent), maps.Clone(d.LeaveAlone)
	d.Brackets, d.Verdicts = maps.Clone(d.Brackets), maps.Clone(d.Verdicts)
	d.Sections = maps.Clone(d.Sections)
	return d
}

// Prune forgets probes that are no longer configured, and what says nothing any
// more. It is called once a run, at its end. known are the "target/probe" of the
// whole config, not only of what ran. A removed target's count of today stays: a
// config that takes it out and puts it in again must not win a second daily
// limit. Nothing is forgotten by one clock alone: see Clocks.
func (d *Document) Prune(known []string, now time.Time) {
	keep := make(map[string]bool, len(known))
	for _, id := range known {
		keep[id] = true
	}
	maps.DeleteFunc(d.Due, func(id string, _ time.Time) bool { return !keep[id] })
	for _, closes := range []map[string]map[time.Duration]time.Duration{d.EarlyCloses, d.MassCloses} {
		maps.DeleteFunc(closes, func(id string, _ map[time.Duration]time.Duration) bool { return !keep[id] })
	}
	d.pruneVerdicts(keep)
	d.pruneBudget(now)
	d.pruneDaily(now)
	d.Clocks = Clocks{Last: now.UTC(), Before: d.Clocks.Last}
}
