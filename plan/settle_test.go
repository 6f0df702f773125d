package plan

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"perch.example/config"
)

// TestSettle: a run may begin later by as much as alerts.settle. The plan says
// so, and what has a deadline must keep it even then.
func TestSettle(t *testing.T) {
	settling := func(c config.Config) config.Config {
		c.Alerts.Settle = 10 * time.Second
		return c
	}
	at, after := mustPlan(t, shop(), Options{}), mustPlan(t, settling(shop()), Options{})
	if after.Wall != at.Wall || after.LongestWall != at.LongestWall+10*time.Second || after.Settle != 10*time.Second {
		t.Errorf("wall %s and %s at most, want %s and %s", after.Wall, after.LongestWall, at.Wall, at.LongestWall+10*time.Second)
	}
	var text bytes.Buffer
	if err := after.Text(&text); err != nil || !strings.Contains(text.String(), "if every timeout is used up, and 10s pass before a connection opens (alerts.settle))") {
		t.Errorf("%v\n%s", err, text.String())
	}
	for _, c := range []struct {
		deadline time.Duration
		want     string // empty: it fits
	}{
		{2*time.Minute + 12*time.Second, ""},
		{2*time.Minute + 11*time.Second, "stock-api/calendar-idle: a hold of 2m does not end within the deadline of 2m11s (less 10s for alerts.settle): holds up to 1m59.4s, or a deadline of 2m12s, or an alerts.settle of 9.4s, would fit"},
		{2*time.Minute + 1650*time.Millisecond, "stock-api/calendar-idle: a hold of 2m does not end within the deadline of 2m1.65s (less 10s for alerts.settle): holds up to 1m50s, or a deadline of 2m12s, or alerts.settle none, would fit"},
		{5 * time.Second, "stock-api/calendar-idle: a hold of 2m does not end within the deadline of 5s (less 10s for alerts.settle): a deadline of 2m12s would fit"},
	} {
		_, err := New(settling(shop()), Options{Deadline: c.deadline})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("deadline %s:\ngot  %s\nwant %s", c.deadline, got, c.want)
		}
	}
	// One after the other: the last step is what does not end in time.
	one := target("api", idle("a", 0, 30*time.Second, 31*time.Second))
	one.MaxConnections = 2
	if _, err := New(settling(of(one)), Options{Deadline: 70 * time.Second}); err == nil || !strings.Contains(err.Error(), "the deadline is 1m10s (less 10s for alerts.settle): a deadline of 1m16s, or an alerts.settle of 4.5s, would fit") {
		t.Errorf("%v", err)
	}
}

func mustPlan(t *testing.T, c config.Config, o Options) *Plan {
	t.Helper()
	p, err := New(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
