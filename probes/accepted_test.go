package probes

import (
	"testing"
	"time"
)

func TestLastDay(t *testing.T) {
	for until, want := range map[time.Time]string{
		time.Date(2027, 4, 1, 0, 0, 0, 0, time.UTC):                              "2027-03-31",
		time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC):                              "2026-12-31",
		time.Date(2027, 3, 31, 15, 0, 0, 0, time.UTC):                            "2027-03-31T15:00:00Z",
		time.Date(2027, 4, 1, 9, 0, 0, 0, time.FixedZone("Tokyo", 9*3600)):       "2027-03-31",
		time.Date(2027, 4, 1, 0, 0, 0, 0, time.FixedZone("Tokyo", 9*3600)):       "2027-03-31T15:00:00Z",
		time.Date(2027, 4, 1, 0, 0, 0, 500_000_000, time.UTC).Round(time.Second): "2027-04-01T00:00:01Z",
	} {
		if got := (Accepted{Until: until}).LastDay(); got != want {
			t.Errorf("%s: %s, want %s", until, got, want)
		}
	}
}
