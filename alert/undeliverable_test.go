package alert

import (
	"testing"
	"time"
)

// TestWithNoDestinationNothingWaits: what nobody can be told is dropped, and
// counted; with a destination nothing is.
func TestWithNoDestinationNothingWaits(t *testing.T) {
	var m Memory
	for n, run := range sequence("FF") {
		m, _ = Decide(m, at(run, n), options(n))
	}
	if same, dropped := DropUndeliverable(m, []string{"slack"}); dropped != 0 || len(same.Outbox) != 1 {
		t.Errorf("with a destination %d are dropped", dropped)
	}
	m.Muted = append(m.Muted, Notice{ID: "an end"})
	empty, dropped := DropUndeliverable(m, nil)
	if dropped != 2 || len(empty.Outbox)+len(empty.Muted) != 0 {
		t.Fatalf("%d are dropped, %d and %d wait", dropped, len(empty.Outbox), len(empty.Muted))
	}
	if len(m.Outbox) != 1 || !m.Incidents[0].Announced {
		t.Error("the memory that was passed in changed")
	}
	if _, dropped := DropUndeliverable(empty, nil); dropped != 0 {
		t.Errorf("of nothing %d are dropped", dropped)
	}
	o := options(2)
	o.Destinations = nil
	quiet, shown := Decide(empty, at(runs()['F'], 2), o)
	if len(shown) != 0 || len(quiet.Outbox) != 0 {
		t.Errorf("with no destination %+v is shown again", shown)
	}
	if _, told := Decide(quiet, at(runs()['F'], 3), options(3)); len(told) != 1 || told[0].Kind != KindFiring {
		t.Errorf("once there is a destination it is told as %+v, want its opening", told)
	}
}

// TestWhatMayHaveArrivedIsNotToldAgain as opened, after it was dropped.
func TestWhatMayHaveArrivedIsNotToldAgain(t *testing.T) {
	var m Memory
	for n, run := range sequence("FF") {
		m, _ = Decide(m, at(run, n), options(n))
	}
	m, _ = DropUndeliverable(MarkSending(m), nil)
	if _, told := Decide(m, at(runs()['F'], 2), options(2)); len(told) != 0 {
		t.Errorf("told again: %+v", told)
	}
}

// TestADroppedBacklogIsUntold: what it told as opened, and is still, may be told
// anew; what may have arrived before, not.
func TestADroppedBacklogIsUntold(t *testing.T) {
	m, due := away(t, 9*time.Hour, nil, six("cf"), six("cf"), six("cf"), six("cf"))
	if got := list(due); got != "backlog cf, reminder c, reminder f" {
		t.Fatalf("due are %s", got)
	}
	m.Outbox[0].Backlog.Entries[1].PossibleRepeat = true
	m, dropped := DropUndeliverable(m, nil)
	o := options(0)
	o.Now = noon().Add(30 * time.Hour)
	run := six("cf")
	run.Started = o.Now
	_, told := Decide(m, run, o)
	if got := list(told); dropped != 3 || got != "firing c" {
		t.Errorf("%d are dropped, and then told %q", dropped, got)
	}
}
