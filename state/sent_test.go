package state

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"
)

func sentAt(now time.Time, offsets ...time.Duration) Sent {
	var all []Left
	for _, off := range offsets {
		all = append(all, Left{1, now.Add(off)})
	}
	return sentOf(all)
}

// What is known grows by each run, whatever the order of the clocks.
func TestAddSentAddsUp(t *testing.T) {
	now := at("2026-03-01T10:00:00Z")
	var d Document
	for _, off := range []time.Duration{0, time.Minute, -time.Minute} {
		d.AddSent("api", 1, now.Add(off))
	}
	d.AddSent("api", 0, now.Add(time.Hour))
	want := []Left{{1, now.Add(-time.Minute)}, {1, now}, {1, now.Add(time.Minute)}}
	if got := d.Sent["api"]; !reflect.DeepEqual(got.Instants(), want) || got.Requests != 3 || !got.At.Equal(now.Add(time.Minute)) {
		t.Errorf("known are %+v", got)
	}
	d.KeepSent("api", 2)
	if got := d.Sent["api"].Instants(); !reflect.DeepEqual(got, want[1:]) {
		t.Errorf("kept are %+v, want the last two", got)
	}
	d.AddSent("api", math.MaxInt, now.Add(time.Minute))
	if got := d.Sent["api"]; got.Requests != math.MaxInt || got.Instants()[0].Requests != 1 {
		t.Errorf("more than fits: %+v", got)
	}
	d.KeepSent("api", 3)
	if got := d.Sent["api"].Instants(); len(got) != 1 || got[0].Requests != 3 {
		t.Errorf("kept of many are %+v, want three of the last instant", got)
	}
	d.KeepSent("none", 3)
	if _, there := d.Sent["none"]; there {
		t.Error("what was never sent is known")
	}
}

// However many there are, the file stays small, and nothing counts too early.
func TestSentIsBounded(t *testing.T) {
	now := at("2026-03-01T10:00:00Z")
	var d Document
	for i := range 100 {
		d.AddSent("api", 1, now.Add(time.Duration(i)*time.Millisecond))
	}
	got := d.Sent["api"].Instants()
	if len(got) != mostInstants || got[0].Requests != 100-mostInstants+1 || d.Sent["api"].Requests != 100 {
		t.Fatalf("kept are %+v", got)
	}
	if oldest := now.Add((100 - mostInstants) * time.Millisecond); !got[0].At.Equal(oldest) {
		t.Errorf("what was joined counts at %s, want the latest of its instants, %s", got[0].At, oldest)
	}
}

// A state of the version before says how many left by one instant; and it can
// read this one's.
func TestSentOfBefore(t *testing.T) {
	now := at("2026-03-01T10:00:00Z")
	var old Sent
	must(t, json.Unmarshal([]byte(`{"requests":3,"at":"2026-03-01T10:00:00Z"}`), &old))
	if got := old.Instants(); !reflect.DeepEqual(got, []Left{{3, now}}) {
		t.Errorf("read as %+v", got)
	}
	text, err := json.Marshal(sentAt(now, -time.Minute, 0))
	must(t, err)
	var asBefore struct {
		Requests int
		At       time.Time
	}
	must(t, json.Unmarshal(text, &asBefore))
	if asBefore.Requests != 2 || !asBefore.At.Equal(now) {
		t.Errorf("a perch of the version before reads %+v, want all at the last instant", asBefore)
	}
}

// What a killed run reserved beyond its end, or a clock that was ahead noted,
// limits from now on, once.
func TestBoundSent(t *testing.T) {
	now := at("2026-03-01T10:00:00Z")
	d := Document{Sent: map[string]Sent{"api": sentAt(now, -time.Minute, time.Hour), "other": sentAt(now, -time.Hour)}}
	before := d.clone()
	d.BoundSent(now)
	if !reflect.DeepEqual(d.Sent["api"].Instants(), []Left{{1, now.Add(-time.Minute)}, {1, now}}) || !reflect.DeepEqual(d.Sent["other"], before.Sent["other"]) {
		t.Errorf("bounded to %+v", d.Sent)
	}
	if !before.Sent["api"].At.Equal(now.Add(time.Hour)) {
		t.Error("another's document was changed")
	}
	// This clock is behind: what the last run's said holds.
	d = Document{Sent: map[string]Sent{"api": sentAt(now, -time.Second)}, Clocks: Clocks{Last: now, Before: now.Add(-time.Hour)}}
	d.BoundSent(now.AddDate(-1, 0, 0))
	if got := d.Sent["api"].At; !got.Equal(now.Add(-time.Second)) {
		t.Errorf("one wrong clock moved what was sent to %s", got)
	}
}

// What two sent after the same base counts all, and once.
func TestMergeSent(t *testing.T) {
	now := at("2026-03-01T10:00:00Z")
	reserved := func(s Sent, n int, off time.Duration) Sent {
		return sentOf(append(s.Instants(), Left{n, now.Add(off)}))
	}
	for _, tt := range []struct {
		name                     string
		base, mine, theirs, want Sent
	}{
		{"both sent on", sentAt(now, 0), sentAt(now, 0, 2), sentAt(now, 0, 1), sentAt(now, 0, 1, 2)},
		{"at the same instant", sentAt(now, 0), sentAt(now, 0, 1), sentAt(now, 0, 1), sentAt(now, 0, 1, 1)},
		{"both began", Sent{}, sentAt(now, 1), sentAt(now, 0), sentAt(now, 0, 1)},
		{"one forgot what is over", sentAt(now, 0, 1), sentAt(now, 1, 3), sentAt(now, 0, 1, 2), sentAt(now, 1, 2, 3)},
		{"a reservation was taken back", reserved(sentAt(now, 0), 9, time.Hour), sentAt(now, 0, 1), reserved(sentAt(now, 0, 2), 9, time.Hour), sentAt(now, 0, 1, 2)},
	} {
		for _, got := range []Sent{mergeSent(tt.base, tt.mine, tt.theirs), mergeSent(tt.base, tt.theirs, tt.mine)} {
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
			}
		}
	}
}

func TestNegativeEarlierIsCorrupt(t *testing.T) {
	d := Document{Sent: map[string]Sent{"api": {Requests: 1, Earlier: []Left{{Requests: -1}}}}}
	if err := d.check(); err == nil {
		t.Error("a document that switches a limit off was taken")
	}
}
