package plan

import (
	"strings"
	"testing"
	"time"
)

// What earlier runs sent leaves a step no room before the deadline: it is
// skipped, and says why. The others keep their places, and the run its length.
func TestNoRoomBeforeTheDeadline(t *testing.T) {
	full, free := target("full", exchange("a", 0)), target("free", exchange("b", 0))
	full.RateLimit, full.Share = 5./3600, 1
	c := of(full, free)
	used := map[string][]Sent{"full": {{1, 10 * time.Minute}, {1, time.Minute}}}
	p := mustPlan(t, c, Options{Seed: 1, Deadline: 4 * time.Minute, Sent: used})
	if len(p.Steps) != 2 || p.Wall > 4*time.Minute {
		t.Fatalf("%d steps in %s", len(p.Steps), p.Wall)
	}
	for _, s := range p.Steps {
		switch s.Spec.Target {
		case "free":
			if s.NoRoom != "" || s.Warm == 0 {
				t.Errorf("it has room: %+v", s)
			}
		case "full":
			if !strings.Contains(s.NoRoom, "earlier runs have used the budget of 2 requests in 24m: there is room in 15m12s") || s.Warm != 0 {
				t.Errorf("%q, slot %d", s.NoRoom, s.Warm)
			}
			if gap := p.Calendar("full").Earliest(0, At(0)); gap.Round(time.Second) != 15*time.Minute+12*time.Second {
				t.Errorf("what is skipped is still booked: the next gap is %s from now", gap)
			}
		}
	}
	if notes := strings.Join(p.Notes, "\n"); strings.Contains(notes, "waits") && strings.Contains(notes, "since earlier runs") {
		t.Errorf("nothing waits: %s", notes)
	}

	p = mustPlan(t, c, Options{Seed: 1, Sent: used})
	if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "full: waits 15m12s, since earlier runs have used the budget of 2 requests in 24m") {
		t.Errorf("without a deadline it waits, and that is not said: %q", notes)
	}
	for _, s := range p.Steps {
		if s.NoRoom != "" {
			t.Errorf("without a deadline it is skipped: %q", s.NoRoom)
		}
	}
}

// Where nothing says how often runs come, the plan says how often they may. One
// with an every is refused.
func TestHowOftenRunsMayCome(t *testing.T) {
	said := func(limit float64, every time.Duration) string {
		one := target("api", exchange("a", every))
		one.RateLimit, one.Share = 1, limit
		p, err := New(of(one), Options{Seed: 1})
		if err != nil {
			return err.Error()
		}
		return strings.Join(p.Notes, "\n")
	}
	if got := said(5./3600, 0); !strings.Contains(got, "api: a run sends up to 1 request of what has no every, and the budget (2 in any 24m) gives that each 12m") {
		t.Errorf("12 runs an hour are not warned of: %q", got)
	}
	if got := said(1, 0); strings.Contains(got, "gives that each") {
		t.Errorf("a run a second may come: %q", got)
	}
	if got := said(5./3600, 5*time.Minute); !strings.Contains(got, "every 12m") {
		t.Errorf("12 an hour where 5 are allowed: %q", got)
	}
}
