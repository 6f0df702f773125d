package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/internal/slackfake"
	"perch.example/probes"
)

// within is one run's delivery that may take so long, and how long it took.
func within(t *testing.T, limit time.Duration, m Memory, to ...Destination) (Memory, []Delivery, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	begin := time.Now()
	m, all := Deliver(ctx, MarkSending(m), to, time.Now())
	return m, all, time.Since(begin)
}

func botOf(f *slackfake.Fake) Destination {
	return Destination{Name: "slack", Sender: NewSlackBot(probes.NewSecret(botToken), "#alerts", &http.Client{Transport: f.Transport()})}
}

// TestNoDestinationTakesTheOthersTime: one that hangs, or has much to take at
// its pace, leaves the others what they need in the very same run.
func TestNoDestinationTakesTheOthersTime(t *testing.T) {
	for name, prepare := range map[string]func(*slackfake.Fake){
		"Slack hangs":       func(f *slackfake.Fake) { f.Fail("chat.postMessage", 1000, slackfake.Hang()) },
		"Slack has no time": func(f *slackfake.Fake) { f.Fail("chat.postMessage", 1000, slackfake.RateLimited("1")) },
		"Slack drains":      func(*slackfake.Fake) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := workspace()
				prepare(f)
				told := 0
				hook := Destination{Name: "webhook", Sender: senderFunc(func(Notice) error { told++; return nil })}
				var m Memory
				for n := range 40 {
					m.Outbox = append(m.Outbox, Notice{ID: fmt.Sprint(n), Kind: KindDigest, Title: "digest", Ways: ways([]string{"slack", "webhook"})})
				}
				m, all, took := within(t, 2*time.Second, m, botOf(f), hook)
				if told != 40 || all[1].Told != 40 || all[1].Destination != "webhook" || took > 2*time.Second {
					t.Errorf("the webhook was told %d of 40 in %s: %+v", told, took, all)
				}
				if len(m.Outbox) != 40-all[0].Told || len(m.Outbox[0].Ways) != 1 || m.Outbox[0].Ways[0].Destination != "slack" {
					t.Errorf("%d wait, the first on its ways %+v", len(m.Outbox), m.Outbox[0].Ways)
				}
			})
		})
	}
}

// TestRefreshIsNotStarved by another destination that must hear the same.
func TestRefreshIsNotStarved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		told := 0
		all := Refresh(ctx, []Destination{{"away", hanging{}}, {"alertmanager", senderFunc(func(Notice) error { told++; return nil })}}, []Notice{{ID: "1"}, {ID: "2"}})
		if told != 2 || all[0].Untold != 2 || all[1].Told != 2 {
			t.Errorf("told %d: %+v", told, all)
		}
	})
}

// hanging never answers.
type hanging struct{}

func (hanging) Wants(Kind) bool { return true }

func (hanging) Send(ctx context.Context, _ Notice, so Receipt) (Receipt, error) {
	<-ctx.Done()
	return so, &SendError{Ambiguous: true, cause: ctx.Err()}
}

// TestPicturesComeAfterMessages: whatever Slack does with them, all is told in
// the first run, and no picture makes a notice late or a repeat.
func TestPicturesComeAfterMessages(t *testing.T) {
	for name, fault := range map[string]slackfake.Fault{"asks for patience": slackfake.RateLimited("1"), "for more": slackfake.RateLimited("12"), "hangs": slackfake.Hang()} {
		for _, method := range []string{"files.getUploadURLExternal", slackfake.MethodUpload, "files.completeUploadExternal"} {
			t.Run(name+" "+method, func(t *testing.T) {
				picturesAfter(t, 1, 0, func(f *slackfake.Fake) { f.Fail(method, 1000, fault) })
			})
		}
	}
	t.Run("works", func(t *testing.T) { picturesAfter(t, 0, 6, func(*slackfake.Fake) {}) })
}

func picturesAfter(t *testing.T, failed, pictures int, prepare func(*slackfake.Fake)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := workspace()
		prepare(f)
		var m Memory
		for n := range 3 {
			notice := charted(tale(fmt.Sprint("stock", n), KindFiring, "FIRING"))
			notice.Decided, notice.Ways = time.Now(), ways([]string{"slack"})
			m.Outbox = append(m.Outbox, notice)
		}
		_, all, took := within(t, 10*time.Second, m, botOf(f))
		if all[0].Told != 3 || took > 2*time.Second+forPictures {
			t.Errorf("told %d of 3 in %s", all[0].Told, took)
		}
		if len(all[0].Problems) != failed || len(f.Files()) != pictures {
			t.Errorf("problems %v and %d pictures, want %d and %d", all[0].Problems, len(f.Files()), failed, pictures)
		}
		for at, e := range f.Events() {
			if posted := e.What == "posted"; posted != (at < 3) {
				t.Errorf("event %d is %q", at, e.What)
			}
		}
	})
}

// TestNoPicturesWithoutMessages: where what followed did not get through,
// pictures are not tried, and that is said.
func TestNoPicturesWithoutMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.adds(charted(tale("stock-api", KindFiring, "FIRING a")), charted(tale("price-api", KindFiring, "FIRING b")), tale("media-api", KindFiring, "FIRING c"))
		posts := 0
		d.fake.Script(func(c slackfake.Call) slackfake.Fault {
			if c.Method == "chat.postMessage" {
				posts++
			}
			if posts > 2 {
				return slackfake.Status(http.StatusServiceUnavailable)
			}
			return slackfake.Fault{}
		})
		got := d.run()
		want := `telling "stock-api/connection#1 firing": its pictures were not sent, since what followed could not be delivered; and no pictures of 1 notice behind it`
		if got.Told != 2 || len(got.Problems) != 1 || got.Problems[0].Error() != want {
			t.Errorf("delivered %+v, want one problem: %s", got, want)
		}
		d.expects("posted FIRING a", "posted FIRING b")
	})
}

// TestDeliverIsCheap: a run that is cut short has seconds to mark what it told.
func TestDeliverIsCheap(t *testing.T) {
	m := openMany(1000)
	for n := range 1000 {
		notice := tale(fmt.Sprint("shop", n), KindFiring, "FIRING")
		notice.ID, notice.Thread, notice.Ways = fmt.Sprint(n), m.Incidents[n].name(), ways([]string{"slack", "webhook", "alertmanager"})
		m.Outbox = append(m.Outbox, notice)
	}
	before, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	taken := senderFunc(func(Notice) error { return nil })
	to := []Destination{{"slack", taken}, {"webhook", taken}, {"alertmanager", taken}}
	var told Memory
	allocated := testing.AllocsPerRun(1, func() { told, _ = Deliver(t.Context(), m, to, noon()) })
	// A copy of the memory for each notice would be 3,000 times 4,000 of them.
	if len(told.Outbox) != 0 || allocated > 100_000 {
		t.Errorf("%d wait; %.0f allocations for 3 times 1,000 notices", len(told.Outbox), allocated)
	}
	after, err := json.Marshal(m)
	if err != nil || string(before) != string(after) {
		t.Errorf("the memory that was passed in is another one now: %v", err)
	}
}
