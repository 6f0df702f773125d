package probes

import "time"

// Accepted is a finding that is known and lived with: it fires only outside of
// it. The zero value accepts nothing.
type Accepted struct {
	Diagnosis Diagnosis
	// IdleFrom and IdleTo bound the idle age at which it is accepted, both ends
	// included; both 0: at any age.
	IdleFrom, IdleTo time.Duration
	Until            time.Time // from then on it is accepted no more
	Reason           string
}

// Covers reports whether a finding at an idle age (0: none is known) is within
// the bounds, whatever the day.
func (a Accepted) Covers(d Diagnosis, idle time.Duration) bool {
	if d == "" || a.Diagnosis != d {
		return false
	}
	if a.IdleFrom == 0 && a.IdleTo == 0 {
		return true
	}
	return idle > 0 && a.IdleFrom <= idle && idle <= a.IdleTo
}

// LastDay says until when it is accepted, as people say it: the last day, or the
// moment where that is not the end of a day in UTC.
func (a Accepted) LastDay() string {
	until := a.Until.UTC()
	if day := until.Truncate(24 * time.Hour); day.Equal(until) {
		return day.AddDate(0, 0, -1).Format(time.DateOnly)
	}
	return until.Format(time.RFC3339)
}
