package alert

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/internal/slackfake"
)

// TestPartsAreNotSentTwice: a retry goes on where the last run stopped.
func TestPartsAreNotSentTwice(t *testing.T) {
	tests := []struct {
		name, method string
		fault        slackfake.Fault
		ambiguous    int
		accepted     []string // of the first run's resolve, before the rest
	}{
		{"the edit", "chat.update", slackfake.Status(http.StatusBadGateway), 0, []string{"replied RESOLVED"}},
		{"the edit, for its rate", "chat.update", slackfake.RateLimited("120"), 0, []string{"replied RESOLVED"}},
		{"the edit, cut", "chat.update", slackfake.Cut(), 0, []string{"replied RESOLVED"}},
		{"the edit, made", "chat.update", slackfake.Status(500).Accepted(), 0, []string{"replied RESOLVED", "edited RESOLVED"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				d.adds(tale("stock-api", KindFiring, "FIRING"))
				d.told(0)
				d.fake.Fail(tt.method, 1, tt.fault)
				d.adds(tale("stock-api", KindResolved, "RESOLVED"))
				if got := d.run(); got.Untold != 1 || got.Ambiguous != tt.ambiguous {
					t.Errorf("delivered %+v, want one untold, ambiguous %d", got, tt.ambiguous)
				}
				d.told(0)
				want := slices.Concat([]string{"posted FIRING"}, tt.accepted, []string{"edited RESOLVED"})
				d.expects(want...)
			})
		})
	}
}

// TestAmbiguousAnswers: what may have been delivered is repeated, once a run,
// until an answer is clear, and says so.
func TestAmbiguousAnswers(t *testing.T) {
	for name, fault := range map[string]slackfake.Fault{
		"status 500": slackfake.Status(500), "cut": slackfake.Cut(), "no answer": slackfake.Hang(),
		"internal_error": slackfake.Refuse("internal_error"), "a login page": slackfake.Status(200),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				d.adds(tale("stock-api", KindFiring, "FIRING"))
				d.fake.Fail("chat.postMessage", 2, fault.Accepted())
				for range 2 {
					if got := d.run(); got.Ambiguous != 1 || got.Untold != 1 || len(got.Errors) != 1 {
						t.Fatalf("delivered %+v, want one ambiguous", got)
					}
				}
				d.told(0)
				d.expects("posted FIRING", "posted FIRING", "posted FIRING")
				for i, m := range d.roots() {
					if says := strings.Contains(string(m.Blocks), "may be a repeat"); says != (i > 0) {
						t.Errorf("message %d says that it may be a repeat: %v", i, says)
					}
				}
			})
		})
	}
}

// TestKilledWhileSending: the memory that was saved before the sending is all
// that there is, and the repeat says so.
func TestKilledWhileSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.adds(tale("stock-api", KindFiring, "FIRING"))
		saved := MarkSending(d.m)
		d.told(0)
		d.m = saved
		for i := range d.m.Outbox {
			d.m.Outbox[i].interrupted()
		}
		d.told(0)
		d.expects("posted FIRING", "posted FIRING")
		if roots := d.roots(); !strings.Contains(string(roots[1].Blocks), "may be a repeat") {
			t.Errorf("the repeat says %s", roots[1].Blocks)
		}
	})
}

// TestRateLimited: what a 429 says is obeyed within the run, else the next one sends.
func TestRateLimited(t *testing.T) {
	tests := []struct {
		header string
		waits  time.Duration
		told   bool
	}{
		{"7", 7 * time.Second, true}, {"2.5", 2500 * ms, true}, {"", time.Second, true}, {"soon", time.Second, true},
		{"90", 0, false}, {"1e300", 0, false},
	}
	for _, tt := range tests {
		t.Run("after "+tt.header, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				n := tale("stock-api", KindDigest, "digest")
				n.Thread = ""
				d.adds(n)
				d.fake.Fail("chat.postMessage", 1, slackfake.RateLimited(tt.header))
				begin := time.Now()
				got := d.run()
				// The message after a 429 is as far from it as Slack asked for, and at least
				// as far as any two are apart.
				if waited := time.Since(begin); waited != tt.waits || got.Told == 1 != tt.told || got.Ambiguous != 0 {
					t.Errorf("waited %s, delivered %+v; want %s, told: %v", waited, got, tt.waits, tt.told)
				}
			})
		})
	}
}

// TestMessagesAreApart: Slack takes about one a second to a channel. What does
// not fit into the run waits for the next one.
func TestMessagesAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		for i := range 100 {
			n := tale("stock-api", KindDigest, fmt.Sprintf("digest %d", i))
			n.ID, n.Thread = n.Title, ""
			d.adds(n)
		}
		got := d.run()
		if got.Told != 60 || got.Untold != 40 || len(got.Errors) != 1 || got.Ambiguous != 0 {
			t.Errorf("delivered %+v, want 60 in the run's minute", got)
		}
		calls := d.fake.Calls()
		for i := range calls[1:] {
			if apart := calls[i+1].At.Sub(calls[i].At); apart < time.Second {
				t.Errorf("calls %d and %d are %s apart", i+1, i+2, apart)
			}
		}
		d.told(0)
	})
}
