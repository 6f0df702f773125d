package alert

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// senderFunc answers without a network.
type senderFunc func(n Notice) error

func (f senderFunc) Send(_ context.Context, n Notice, so Receipt) (Receipt, error) { return so, f(n) }

func (f senderFunc) Wants(Kind) bool { return true }

// waiting is a notice that one destination is to be told.
func waiting(n Notice) Notice {
	n.Ways = ways([]string{"slack"})
	return n
}

func TestDeliver(t *testing.T) {
	down := &SendError{Status: 404, Body: "no_service"}
	unclear := &SendError{Status: 500, Ambiguous: true}
	refused := &SendError{Status: 400, Content: true}
	tests := []struct {
		name             string
		answers          map[string]error
		tried            []string
		waiting, doubted []string
		told, ambiguous  int
	}{
		{"all told", nil, []string{"1", "2", "3"}, nil, nil, 3, 0},
		{"the first fails: the order holds", map[string]error{"1": down}, []string{"1"}, []string{"1", "2", "3"}, nil, 0, 0},
		{"the second has no clear answer", map[string]error{"2": unclear}, []string{"1", "2"}, []string{"2", "3"}, []string{"2"}, 1, 1},
		{"one is refused for what it says: the others pass", map[string]error{"2": refused}, []string{"1", "2", "3"}, []string{"2"}, nil, 2, 0},
		{"an error of another kind may hide a delivery", map[string]error{"1": errors.New("odd")}, []string{"1"}, []string{"1", "2", "3"}, []string{"1"}, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			notices := []Notice{waiting(Notice{ID: "1"}), waiting(Notice{ID: "2"}), waiting(Notice{ID: "3"})}
			var tried []string
			m := MarkSending(Memory{Outbox: notices})
			m, all := Deliver(t.Context(), m, []Destination{{Name: "slack", Sender: senderFunc(func(n Notice) error {
				tried = append(tried, n.ID)
				return tt.answers[n.ID]
			})}}, noon())
			got := all[0]
			var waiting, doubted []string
			for _, n := range m.Outbox {
				waiting = append(waiting, n.ID)
				if n.Ways[0].PossibleRepeat {
					doubted = append(doubted, n.ID)
				}
				if n.Ways[0].Sending {
					t.Errorf("%s still counts as being sent", n.ID)
				}
			}
			if !slices.Equal(tried, tt.tried) || !slices.Equal(waiting, tt.waiting) || !slices.Equal(doubted, tt.doubted) {
				t.Errorf("tried %v, waiting %v, doubted %v; want %v, %v, %v", tried, waiting, doubted, tt.tried, tt.waiting, tt.doubted)
			}
			if got.Told != tt.told || got.Untold != 3-tt.told || got.Ambiguous != tt.ambiguous || len(got.Errors) != len(tt.answers) {
				t.Errorf("delivery %+v, want told %d, ambiguous %d", got, tt.told, tt.ambiguous)
			}
		})
	}
}

// threaded is a notice of an incident's thread.
func threaded(id, thread, channel string) Notice {
	return waiting(Notice{ID: id, Thread: thread, Channel: channel})
}

// TestDeliverHoldsUpNoMoreThanItMust: an incident is told in order; others are
// held up only where they would fail, too.
func TestDeliverHoldsUpNoMoreThanItMust(t *testing.T) {
	unclear := &SendError{Status: 500, Ambiguous: true}
	tests := []struct {
		name    string
		doubted []string // in an earlier run
		answers map[string]error
		tried   []string
	}{
		{"content: its own thread waits", nil, map[string]error{"a1": &SendError{Content: true}}, []string{"a1", "b1", "b2", "c1"}},
		{"a channel: what goes there waits", nil, map[string]error{"a1": &SendError{Place: true}}, []string{"a1", "b1", "b2"}},
		{"a rate: all wait", nil, map[string]error{"a1": &SendError{RetryAfter: time.Minute}}, []string{"a1"}},
		{"access: all wait", nil, map[string]error{"b1": &SendError{Code: "invalid_auth"}}, []string{"a1", "b1"}},
		{"unclear for the first time: all wait", nil, map[string]error{"a1": unclear}, []string{"a1"}},
		{"unclear again: it alone may be the cause", []string{"a1"}, map[string]error{"a1": unclear}, []string{"a1", "b1", "b2", "c1"}},
		{"unclear again, and another one, too", []string{"a1", "b1"}, map[string]error{"a1": unclear, "b1": unclear}, []string{"a1", "b1"}},
		{"no connection, after an unclear answer", []string{"a1"}, map[string]error{"a1": &SendError{}}, []string{"a1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := Memory{Outbox: []Notice{
				threaded("a1", "a", "#stock"), threaded("b1", "b", ""), threaded("a2", "a", "#stock"), threaded("b2", "b", ""), threaded("c1", "c", "#stock"),
			}}
			for i, n := range m.Outbox {
				m.Outbox[i].Ways[0].PossibleRepeat = slices.Contains(tt.doubted, n.ID)
			}
			var tried []string
			m, all := Deliver(t.Context(), MarkSending(m), []Destination{{Name: "slack", Sender: senderFunc(func(n Notice) error {
				tried = append(tried, n.ID)
				return tt.answers[n.ID]
			})}}, noon())
			if !slices.Equal(tried, tt.tried) {
				t.Errorf("tried %v, want %v", tried, tt.tried)
			}
			if len(m.Outbox) != 5-all[0].Told || all[0].Told+all[0].Untold != 5 {
				t.Errorf("delivered %+v with %d waiting", all[0], len(m.Outbox))
			}
			for _, n := range m.Outbox {
				if n.Ways[0].Sending {
					t.Errorf("%s still counts as being sent", n.ID)
				}
			}
		})
	}
}

// wanting takes one kind only.
type wanting struct {
	senderFunc
	kind Kind
}

func (w wanting) Wants(k Kind) bool { return k == w.kind }

// TestRefresh: what is ongoing goes to those who want it, and leaves nothing.
func TestRefresh(t *testing.T) {
	for _, tt := range []struct {
		name         string
		answer       error
		tried        int
		told, untold int
		errors       int
	}{
		{"told", nil, 2, 2, 0, 0},
		{"down", &SendError{Ambiguous: true}, 1, 0, 2, 1},
		{"refused for what it says", &SendError{Content: true}, 2, 0, 2, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tried := 0
			all := Refresh(t.Context(), []Destination{
				{Name: "slack", Sender: wanting{senderFunc(func(Notice) error { t.Error("it was told"); return nil }), KindFiring}},
				{Name: "alertmanager", Sender: wanting{senderFunc(func(Notice) error { tried++; return tt.answer }), KindOngoing}},
			}, []Notice{{ID: "1"}, {ID: "2"}})
			if len(all) != 1 || all[0].Destination != "alertmanager" {
				t.Fatalf("delivered %+v, want one destination", all)
			}
			if d := all[0]; tried != tt.tried || d.Told != tt.told || d.Untold != tt.untold || len(d.Errors) != tt.errors {
				t.Errorf("tried %d, delivered %+v", tried, d)
			}
		})
	}
	if all := Refresh(t.Context(), []Destination{{Name: "alertmanager", Sender: wanting{nil, KindOngoing}}}, nil); len(all) != 0 {
		t.Errorf("delivered %+v of nothing", all)
	}
}

// TestDeliverElsewhere: what waits for a destination that cannot be tried now
// was not sent there.
func TestDeliverElsewhere(t *testing.T) {
	n := Notice{ID: "1", Ways: ways([]string{"slack", "webhook"})}
	before := MarkSending(Memory{Outbox: []Notice{n}})
	m, _ := Deliver(t.Context(), before, []Destination{{Name: "slack", Sender: senderFunc(func(Notice) error { return nil })}}, noon())
	if len(m.Outbox) != 1 || len(m.Outbox[0].Ways) != 1 || m.Outbox[0].Ways[0].Destination != "webhook" || m.Outbox[0].Ways[0].Sending {
		t.Errorf("waiting: %+v, want the way to the webhook, where nothing was sent", m.Outbox)
	}
	if !before.Outbox[0].Ways[0].Sending {
		t.Error("the memory that was passed in is another one now")
	}
}

// TestLateness: a run takes a moment to tell what it decided, and that is no
// delay to speak of.
func TestLateness(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{-time.Hour: 0, 5 * time.Millisecond: 0, 59 * time.Second: 0, time.Minute: time.Minute, time.Hour: time.Hour} {
		var got time.Duration
		Deliver(t.Context(), Memory{Outbox: []Notice{waiting(Notice{ID: "1", Decided: noon()})}}, []Destination{{Name: "slack", Sender: senderFunc(func(n Notice) error {
			got = n.Waited
			return nil
		})}}, noon().Add(took))
		if got != want {
			t.Errorf("sent %s after the decision: waited %s, want %s", took, got, want)
		}
	}
}

// TestWhatComesNext: an error says what becomes of the notice; by itself, where
// nothing is kept, it promises nothing.
func TestWhatComesNext(t *testing.T) {
	for _, tt := range []struct {
		failure   *SendError
		says, end string
	}{
		{&SendError{Status: 500, Ambiguous: true}, "sending to Slack: status 500; it may have been delivered", "; the next run repeats it, saying so"},
		{&SendError{Status: 429, RetryAfter: time.Minute}, "sending to Slack: status 429; Slack asks to wait 60 s", "; the next run sends it again"},
		{&SendError{To: "the webhook", Ambiguous: true, cause: context.DeadlineExceeded}, "sending to the webhook: no answer in time (10 s at most); it may have been delivered", "; the next run repeats it, saying so"},
	} {
		_, all := Deliver(t.Context(), Memory{Outbox: []Notice{waiting(Notice{ID: "1"})}}, []Destination{{Name: "slack", Sender: senderFunc(func(Notice) error { return tt.failure })}}, noon())
		if want := `telling "1": ` + tt.says + tt.end; tt.failure.Error() != tt.says || all[0].Errors[0].Error() != want {
			t.Errorf("%q and %q, want %q and %q", tt.failure, all[0].Errors[0], tt.says, want)
		}
	}
}
