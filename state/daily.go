package state

import (
	"maps"
	"time"
)

// Daily is how many requests went to a target on a UTC day.
type Daily struct {
	Day      string `json:"day"` // 2006-01-02
	Requests int    `json:"requests"`
}

const dayFormat = time.DateOnly

func dayOf(t time.Time) string { return t.UTC().Format(dayFormat) }

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
	name, have := dayOf(day), d.Daily[target]
	if have.Day < name {
		if have.Requests > 0 {
			d.keepBefore(target, have)
		}
		have = Daily{Day: name}
	}
	have.Requests = addUp(have.Requests, n)
	d.Daily[target] = have
}

func (d *Document) keepBefore(target string, have Daily) {
	if d.DailyBefore == nil {
		d.DailyBefore = map[string]Daily{}
	}
	d.DailyBefore[target] = have
}

// RequestsToday returns how many requests went to a target on now's UTC day. A
// count of a later day (a run's clock was ahead) holds for today as well.
func (d Document) RequestsToday(target string, now time.Time) int {
	today, count := dayOf(now), 0
	for _, have := range []Daily{d.Daily[target], d.DailyBefore[target]} {
		if have.Day >= today {
			count = addUp(count, have.Requests)
		}
	}
	return count
}

// pruneDaily forgets the days that are over. A run over midnight has counted
// tomorrow's already; what lies further ahead was counted by a clock that was
// ahead, so it was sent today at the latest, and counts as that: else it would
// limit for as long as that clock was wrong.
func (d *Document) pruneDaily(now time.Time) {
	earliest, latest, known := d.Clocks.span(now)
	if !known {
		return
	}
	today, over, ahead := dayOf(now), dayOf(earliest), dayOf(latest.Add(24*time.Hour))
	for target, have := range d.Daily {
		if have.Day > ahead {
			sent := d.RequestsToday(target, now)
			delete(d.DailyBefore, target)
			d.Daily[target] = Daily{Day: today, Requests: sent}
		}
	}
	isOver := func(_ string, have Daily) bool { return have.Day < over }
	maps.DeleteFunc(d.Daily, isOver)
	maps.DeleteFunc(d.DailyBefore, isOver)
}
