package state

import (
	"testing"
	"time"
)

// What is reserved stands in the copy alone: the run goes on to count what it
// really sends.
func TestReservedLeavesTheDocumentAlone(t *testing.T) {
	now := at("2026-03-01T10:00:00Z")
	var d Document
	d.AddRequests("api", now, 5)
	d.AddSent("api", 1, now.Add(-time.Hour))
	r := d.Reserved(Reservation{Most: map[string]int{"api": 7, "new": 2, "idle": 0}, Now: now, Last: now.Add(time.Minute)})
	if got := r.RequestsToday("api", now); got != 12 {
		t.Errorf("%d requests reserved, want 12", got)
	}
	if got := r.Sent["new"]; got.Requests != 2 || !got.At.Equal(now.Add(time.Minute)) {
		t.Errorf("reserved %+v", got)
	}
	if _, there := r.Sent["idle"]; there {
		t.Error("nothing was reserved as if it had been sent")
	}
	if got := d.RequestsToday("api", now); got != 5 || d.Sent["api"].Requests != 1 || len(d.Sent) != 1 {
		t.Errorf("the document itself changed: %d requests, %+v", got, d.Sent)
	}
}

func TestBudgetIsPruned(t *testing.T) {
	now := at("2026-03-01T10:00:00Z")
	var d Document
	d.AddSent("old", 1, now.Add(-2*longestMemory))
	d.AddSent("kept", 1, now.Add(-time.Hour))
	d.AddSent("nothing", 0, now)
	d.SetLeaveAlone("over", now)
	d.SetLeaveAlone("still", now.Add(time.Hour))
	d.SetLeaveAlone("absurd", now.Add(2*longestMemory))
	d.SetLeaveAlone("not asked", time.Time{})
	for range 3 {
		d.Prune(nil, now)
	}
	if len(d.Sent) != 1 || d.Sent["kept"].Requests != 1 {
		t.Errorf("kept %+v", d.Sent)
	}
	if len(d.LeaveAlone) != 1 || !d.LeaveAlone["still"].Equal(now.Add(time.Hour)) {
		t.Errorf("kept %v", d.LeaveAlone)
	}
}

func TestNegativeSentIsCorrupt(t *testing.T) {
	d := Document{Sent: map[string]Sent{"api": {Requests: -1}}}
	if err := d.check(); err == nil {
		t.Error("a document that switches a limit off was taken")
	}
}
