package k8s

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"perch.example/plan"
)

func TestEnds(t *testing.T) {
	const s, m = time.Second, time.Minute
	for _, c := range []struct{ longest, wait, gap, deadline, active, late time.Duration }{
		{157 * s, 0, 10 * m, 210 * s, 330 * s, 120 * s}, // the base
		{157 * s, 0, 5 * m, 210 * s, 295 * s, 120 * s},  // no room for all of it
		{157 * s, 0, 4 * m, 210 * s, 235 * s, 120 * s},
		{157 * s, 0, 3 * m, 0, 0, 0}, // 157 + 20 + 5 is more
		{157 * s, 0, 182 * s, 157 * s, 177 * s, 91 * s},
		{21 * s, 0, m, 30 * s, 55 * s, 30 * s},
		{35 * s, 0, m, 35 * s, 55 * s, 30 * s},
		{35*s + 1, 0, m, 0, 0, 0},
		{21 * s, 0, 24 * time.Hour, 30 * s, 150 * s, 120 * s},
		{6 * time.Hour, 0, 8 * time.Hour, 7*time.Hour + 30*m, 7*time.Hour + 32*m, 120 * s},
		{157 * s, 30 * s, 10 * m, 240 * s, 360 * s, 120 * s}, // the base, SidecarWait a sidecar
		{5 * s, 30 * s, m, 35 * s, 55 * s, 30 * s},
		{5*s + 1, 30 * s, m, 0, 0, 0}, // 6 + 30 + 20 + 5 is more
	} {
		got, fits := endsOf(c.longest, c.wait, c.gap)
		if fits != (c.active > 0) || fits && got != (ends{c.deadline, c.active, c.late}) {
			t.Errorf("a run of %s each %s: %+v, fits %t, want %+v", c.longest, c.gap, got, fits, c)
		}
	}
}

// TestTheOrderOfEnds: for each run and each schedule that is not refused, the plan
// ends before --deadline, that before the Job's, and that before the next run.
func TestTheOrderOfEnds(t *testing.T) {
	for longest := time.Second; longest < 25*time.Hour; longest += longest/7 + 333*time.Millisecond {
		for n, gap := range intervals() {
			wait := time.Duration(n%2) * SidecarWait
			e, fits := endsOf(longest, wait, gap)
			if fits != (longest <= gap-wait-leastBeyond-beforeNext) {
				t.Fatalf("%s each %s: fits is %t", longest, gap, fits)
			}
			if fits && (e.deadline < wait+longest || e.active < e.deadline+leastBeyond || e.active+beforeNext > gap || e.late < 30*time.Second || e.late >= gap) {
				t.Fatalf("%s each %s: %+v", longest, gap, e)
			}
		}
	}
}

// TestTheWaitForASidecarIsSaid where it is what makes a schedule too tight.
func TestTheWaitForASidecarIsSaid(t *testing.T) {
	b := &maker{plan: &plan.Plan{Every: time.Minute, Wall: time.Second, LongestWall: 21 * time.Second},
		o: Options{Path: &Path{Sidecar: &Sidecar{Ready: "http://127.0.0.1:15021/healthz/ready"}}}}
	b.ends(schedule{gap: time.Minute})
	const want = "and with 30s to wait for the sidecar, 20s to start, save and tell, and 5s before the next, that is more than the schedule's 1m: want every: 2m, --schedule 2m or --kind deployment"
	if refused := fmt.Sprint(b.refused); !strings.Contains(refused, want) {
		t.Errorf("%s, want %q", refused, want)
	}
	b.o.Path.Sidecar.Ready, b.refused = "", nil // none is waited for
	if b.ends(schedule{gap: time.Minute}); len(b.refused) > 0 {
		t.Errorf("without a wait: %v", b.refused)
	}
}

func TestWallTimeIsSaid(t *testing.T) {
	const s, m = time.Second, time.Minute
	for _, c := range []struct {
		every, wall, longest, gap time.Duration
		note, refused             string
	}{
		{every: 10 * m, wall: 4 * m, longest: 5 * m, gap: 10 * m},
		{every: 10 * m, wall: 241 * s, longest: 5 * m, gap: 10 * m, note: "a run takes 4m1s, which is 40.2% of the shortest every, 10m: above 40%, --kind deployment"},
		{every: 10 * m, wall: 5 * m, longest: 6 * m, gap: 15 * m, note: "50% of the shortest every, 10m"},
		{every: 0, wall: 5 * m, longest: 6 * m, gap: 10 * m, note: "50% of the schedule's 10m"},
		{every: 10 * m, wall: 9 * m, longest: 595 * s, gap: 10 * m,
			refused: "a run takes 9m, 9m55s if every timeout is used up, and with 20s to start, save and tell, and 5s before the next, that is more than the schedule's 10m: want every: 12m, --schedule 12m or --kind deployment"},
		{every: 0, wall: 9 * m, longest: 595 * s, gap: 10 * m, refused: "want --schedule 12m or --kind deployment"},
		{every: 0, wall: 23 * time.Hour, longest: 24 * time.Hour, gap: 24 * time.Hour, refused: "the schedule's 24h: want --kind deployment"},
	} {
		b := &maker{plan: &plan.Plan{Every: c.every, Wall: c.wall, LongestWall: c.longest}}
		b.ends(schedule{gap: c.gap})
		notes, refused := strings.Join(b.notes, "\n"), fmt.Sprint(b.refused)
		if (notes == "") != (c.note == "") || !strings.Contains(notes, c.note) {
			t.Errorf("%+v: notes %q", c, notes)
		}
		if (len(b.refused) == 0) != (c.refused == "") || !strings.Contains(refused, c.refused) {
			t.Errorf("%+v: refused %s", c, refused)
		}
	}
}
