package plan

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"perch.example/config"
)

// TestSettle: a run may begin later by as much as alerts.settle. The plan says
// so; a deadline that has no room for all of it shortens it.
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
		deadline, want time.Duration
	}{
		{10 * time.Minute, 10 * time.Second},
		{at.Wall + 10*time.Second, 10 * time.Second},
		{at.Wall + 9*time.Second, 9 * time.Second},
		{at.Wall, 0},
	} {
		p := mustPlan(t, settling(shop()), Options{Deadline: c.deadline})
		noted := strings.Contains(strings.Join(p.Notes, "\n"), "alerts.settle is ")
		if p.Settle != c.want || noted != (c.want < 10*time.Second) || p.LongestWall != at.LongestWall+c.want {
			t.Errorf("deadline %s: settle %s, longest wall %s, want %s; notes %q", c.deadline, p.Settle, p.LongestWall, c.want, p.Notes)
		}
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
