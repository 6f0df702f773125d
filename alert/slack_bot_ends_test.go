package alert

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/internal/slackfake"
	"perch.example/probes"
)

// shop is perch over days: targets that fail or do not, and a Slack that is
// there or away.
type shop struct {
	*desk
	o Options
}

func newShop(t *testing.T) *shop {
	t.Helper()
	return &shop{desk: newDesk(t), o: Options{FireAfter: 1, ResolveAfter: 1, Mode: ModeNotify, Destinations: []string{"slack"}}}
}

// finds is one run that is not told yet.
func (s *shop) finds(outcomes ...probes.Outcome) {
	s.o.Now = time.Now()
	run := runOf(outcomes...)
	run.Started = s.o.Now
	s.m, _ = Decide(s.m, run, s.o)
}

func failing(target string) probes.Outcome {
	return single(target, "p", probes.VerdictFail, probes.DiagnosisUnreachable, probes.FamilyReachability)
}

func working(target string) probes.Outcome { return single(target, "p", probes.VerdictPass, "", "") }

// titles are the roots'.
func (s *shop) titles() []string {
	var all []string
	for _, m := range s.roots() {
		all = append(all, m.Title())
	}
	return all
}

func (s *shop) shows(want ...string) {
	s.t.Helper()
	if got := s.titles(); !slices.Equal(got, want) {
		s.t.Errorf("the roots say\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const twoOver = "BACKLOG: 2 incidents while notices could not be delivered"

// awayFor: a and b were told as open, and ended while Slack was away for so long.
func awayFor(t *testing.T, d time.Duration) *shop {
	t.Helper()
	s := newShop(t)
	s.finds(failing("a"), failing("b"))
	s.told(0)
	time.Sleep(5 * time.Minute)
	s.finds(working("a"), working("b"))
	time.Sleep(d)
	s.finds(working("a"), working("b"))
	return s
}

// TestBacklogEndsRoots: what a backlog ends is not shown as open for ever, and
// the evidence stays.
func TestBacklogEndsRoots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := awayFor(t, 25*time.Hour)
		s.told(0)
		s.shows("RESOLVED a (no connection can be made)", "RESOLVED b (no connection can be made)", twoOver)
		for _, m := range s.roots()[:2] {
			for _, words := range []string{"Over since 2000-01-01 00:05 UTC", "a later message, outside this thread", "The host refused the connection, twice", "Below is what was told at 2000-01-01 00:00 UTC"} {
				if !strings.Contains(string(m.Blocks), words) {
					t.Errorf("%q lacks %q: %s", m.Title(), words, m.Blocks)
				}
			}
		}
		before := len(s.fake.Calls())
		s.told(0)
		if after := len(s.fake.Calls()); after != before {
			t.Errorf("%d calls more", after-before)
		}
	})
}

// TestBacklogEndsRootsOnce: an edit that fails is made by the next run, the
// backlog is not told again for it, and one that Slack refuses is given up.
func TestBacklogEndsRootsOnce(t *testing.T) {
	for name, fault := range map[string]slackfake.Fault{"a rate": slackfake.RateLimited("300"), "away": slackfake.Status(503), "cut": slackfake.Cut()} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := awayFor(t, 25*time.Hour)
				edits := 0
				s.fake.Script(func(c slackfake.Call) slackfake.Fault {
					if c.Method == "chat.update" {
						if edits++; edits == 2 {
							return fault
						}
					}
					return slackfake.Fault{}
				})
				if got := s.run(); got.Untold != 1 || got.Ambiguous != 0 {
					t.Errorf("delivered %+v, want the backlog's second edit to be left", got)
				}
				s.finds(failing("c"))
				time.Sleep(30 * time.Hour)
				s.finds(working("c"))
				s.told(0)
				s.shows("RESOLVED a (no connection can be made)", "RESOLVED b (no connection can be made)", twoOver, "BACKLOG: 1 incident while notices could not be delivered")
				if edits != 3 { // a's, and b's twice
					t.Errorf("%d edits", edits)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := awayFor(t, 25*time.Hour)
		s.fake.Fail("chat.update", 1, slackfake.Refuse("edit_window_closed"))
		s.told(1)
		s.shows("FIRING a: no connection can be made", "RESOLVED b (no connection can be made)", twoOver)
		if !s.m.Threads["slack a/reachability#1"].Fixed {
			t.Errorf("threads %+v, want a's not to be edited again", s.m.Threads)
		}
	})
}

// TestBacklogEndsSomeOfAThread: the root says how many are left.
func TestBacklogEndsSomeOfAThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t)
		s.finds(failing("a"), failing("b"), failing("c"))
		s.told(0)
		time.Sleep(5 * time.Minute)
		s.finds(working("a"), failing("b"), failing("c"))
		time.Sleep(5 * time.Minute)
		s.finds(working("a"), working("b"), failing("c"))
		time.Sleep(25 * time.Hour)
		s.finds(working("a"), working("b"), failing("c"))
		s.told(0)
		s.shows("FIRING 1 of 3: c", twoOver)
		if text := string(s.roots()[0].Blocks); !strings.Contains(text, "2 over, the last since 2000-01-01 00:10 UTC; 1 still open.") {
			t.Errorf("the root says %s", text)
		}
	})
}

// TestAGroupKeepsItsSize: what the memory forgets was there all the same.
func TestAGroupKeepsItsSize(t *testing.T) {
	const all = 2 * mostResolved
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t)
		for step, want := range []string{"FIRING 200 targets: no connection can be made", "FIRING 150 of 200: ", "FIRING 100 of 200: ", "FIRING 50 of 200: ", "RESOLVED all 200: "} {
			var outcomes []probes.Outcome
			for n := range all {
				target := fmt.Sprintf("target-%03d", n)
				if n < all/4*step {
					outcomes = append(outcomes, working(target))
					continue
				}
				outcomes = append(outcomes, failing(target))
			}
			s.finds(outcomes...)
			s.told(0)
			if titles := s.titles(); len(titles) != 1 || !strings.HasPrefix(titles[0], want) {
				t.Errorf("step %d: the roots say %q, want %q", step, titles, want)
			}
			time.Sleep(5 * time.Minute)
		}
		if text := string(s.roots()[0].Blocks); !strings.Contains(text, "Over since ") {
			t.Errorf("the root says %s", text)
		}
	})
}
