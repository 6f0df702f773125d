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
	// EarlyCloses holds, per "target/probe", for each rung (by its hold) that
	// was closed too early in the last run, the idle age of that close.
	EarlyCloses map[string]map[time.Duration]time.Duration `json:"early_closes,omitempty"`
	// MassCloses holds likewise those that were closed at one moment with others.
	MassCloses map[string]map[time.Duration]time.Duration `json:"mass_closes,omitempty"`
	// Sent holds, per target, what left to it last: it counts in the next run's
	// first windows of the budget.
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

// Daily is how many requests went to a target on a UTC day.
type Daily struct {
	Day      string `json:"day"` // 2006-01-02
	Requests int    `json:"requests"`
}

const dayFormat = time.DateOnly

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

// AddRequests counts n requests that were sent to a target on day's UTC day.
// Requests of an earlier day than the one that is counted (a run over midnight
// that reports late, a clock set back) are added to it: a limit may be kept too
// strictly, never too loosely.
func (d *Document) AddRequests(target string, day time.Time, n int) {
	if n <= 0 {
		return
	}
	if d.Daily == nil {
		d.Daily = map[string]Daily{}
	}
	name, have := day.UTC().Format(dayFormat), d.Daily[target]
	if have.Day < name {
		have = Daily{Day: name}
	}
	have.Requests += n
	d.Daily[target] = have
}

// RequestsToday returns how many requests went to a target on now's UTC day. A
// count of a later day (the clock was set back) holds for today as well.
func (d Document) RequestsToday(target string, now time.Time) int {
	have := d.Daily[target]
	if have.Day < now.UTC().Format(dayFormat) {
		return 0
	}
	return have.Requests
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
	d.Due, d.Daily = maps.Clone(d.Due), maps.Clone(d.Daily)
	d.EarlyCloses, d.MassCloses = maps.Clone(d.EarlyCloses), maps.Clone(d.MassCloses)
	d.Sent, d.LeaveAlone = maps.Clone(d.Sent), maps.Clone(d.LeaveAlone)
	d.Brackets, d.Verdicts = maps.Clone(d.Brackets), maps.Clone(d.Verdicts)
	d.Sections = maps.Clone(d.Sections)
	return d
}

// Prune forgets probes that are no longer configured and daily counts that say
// nothing about today. known are the "target/probe" of the whole config, not
// only of what ran. A removed target's count of today stays: a config that
// takes it out and puts it in again must not win a second daily limit.
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

	// A run over midnight has counted tomorrow's already; what lies further ahead
	// was counted by a wrong clock and would limit for as long as that was wrong.
	today, tomorrow := now.UTC().Format(dayFormat), now.UTC().AddDate(0, 0, 1).Format(dayFormat)
	maps.DeleteFunc(d.Daily, func(_ string, have Daily) bool {
		return have.Day < today || have.Day > tomorrow
	})
}
