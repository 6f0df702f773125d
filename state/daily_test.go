package state

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"
)

func TestRequestsADay(t *testing.T) {
	evening, morning := at("2026-03-01T23:59:00Z"), at("2026-03-02T00:01:00Z")
	inTokyo := time.FixedZone("JST", 9*3600)
	var d Document
	d.AddRequests("a", evening, 3)
	d.AddRequests("a", evening.In(inTokyo), 4) // already the 2nd there, still the 1st in UTC
	d.AddRequests("b", evening, 1)
	d.AddRequests("a", evening, 0)
	if got := d.RequestsToday("a", evening.In(inTokyo)); got != 7 {
		t.Errorf("requests on the first day: %d, want 7", got)
	}
	if got := d.RequestsToday("a", morning); got != 0 {
		t.Errorf("requests after midnight: %d, want 0", got)
	}
	d.AddRequests("a", morning, 2)
	if got := d.RequestsToday("a", morning); got != 2 {
		t.Errorf("requests on the second day: %d, want 2", got)
	}
	d.AddRequests("a", evening, 5) // reported late, or the clock was set back: too strict, never too loose
	if got := d.RequestsToday("a", morning); got != 7 {
		t.Errorf("requests after a late report: %d, want 7", got)
	}
	if got := d.RequestsToday("a", evening); got != 14 { // both days' count
		t.Errorf("requests with the clock set back: %d, want 14", got)
	}
}

// However much is reserved or counted, no count becomes negative: that would
// switch the limit off, and make the state a corrupt one.
func TestCountsStayAtTheirBound(t *testing.T) {
	now := at("2026-03-01T10:00:00Z")
	var d Document
	d.AddRequests("api", now, 3)
	d.AddRequests("api", now, math.MaxInt)
	d.AddRequests("api", now.Add(24*time.Hour), math.MaxInt)
	if got := d.RequestsToday("api", now); got != math.MaxInt {
		t.Errorf("%d requests, want the most there is", got)
	}
	r := d.Reserved(Reservation{Most: map[string]int{"api": math.MaxInt}, Now: now, Last: now})
	if err := r.check(); err != nil {
		t.Errorf("with a reservation on top: %v", err)
	}
}

// One run's clock is wrong. Once it is right again, every limit holds as before:
// too strictly at most.
func TestAClockThatJumpedForOneRun(t *testing.T) {
	now := at("2026-03-01T12:00:00Z")
	right := func(d *Document) { d.Prune([]string{"api/get"}, now.Add(-time.Hour)) }
	for runs, before := range []func(*Document){func(*Document) {}, right, func(d *Document) { right(d); right(d) }} {
		t.Run(fmt.Sprintf("after %d runs", runs), func(t *testing.T) { testOneWrongClock(t, now, before) })
	}
}

func testOneWrongClock(t *testing.T, now time.Time, before func(*Document)) {
	until := now.Add(24 * time.Hour)
	for name, wrong := range map[string]time.Time{
		"ten days ahead": now.AddDate(0, 0, 10), "two years ahead": now.AddDate(2, 0, 0), "tomorrow": now.AddDate(0, 0, 1), "back to the epoch": time.Unix(0, 0),
	} {
		for _, sends := range []int{0, 5} { // also where the wrong run sends nothing there
			var d Document
			run := func(when time.Time, n int) {
				d.AddRequests("api", when, n)
				d.AddSent("api", n, when)
				d.Prune([]string{"api/get"}, when)
			}
			before(&d)
			d.AddRequests("api", now, 4900)
			d.SetLeaveAlone("api", until)
			run(wrong, sends)
			for minute := range 8 {
				later := now.Add(time.Duration(minute+1) * time.Minute)
				want := 4900 + sends + minute
				if got := d.RequestsToday("api", later); got < want || got > want+sends {
					t.Errorf("%s, %d sent: after %d runs with the right clock %d requests count, want %d", name, sends, minute, got, want)
				}
				if !d.LeaveAlone["api"].Equal(until) {
					t.Errorf("%s: after %d runs it is left alone until %s, want %s", name, minute, d.LeaveAlone["api"], until)
				}
				run(later, 1)
			}
			run(now.AddDate(0, 0, 1), 1)
			run(now.AddDate(0, 0, 1), 1)
			if got := d.RequestsToday("api", now.AddDate(0, 0, 2)); got != 0 {
				t.Errorf("%s: %d requests count two days later: the wrong clock limits for ever", name, got)
			}
		}
	}
}

// What is over is forgotten in the end: by three runs.
func TestDaysThatAreOverAreForgotten(t *testing.T) {
	now := at("2026-03-01T23:59:00Z")
	var d Document
	d.AddRequests("api", now, 3)
	d.AddRequests("gone", now, 3)
	for range 4 {
		d.Prune(nil, now)
		now = now.Add(2 * time.Minute)
		d.AddRequests("api", now, 1)
	}
	want := map[string]Daily{"api": {"2026-03-02", 4}}
	if !reflect.DeepEqual(d.Daily, want) || len(d.DailyBefore) != 0 {
		t.Errorf("kept are %v and %v, want %v", d.Daily, d.DailyBefore, want)
	}
}

// A run that was killed yesterday says nothing of today; two of today add up.
func TestReservationsOfTwoDays(t *testing.T) {
	evening, morning := at("2026-03-01T23:59:00Z"), at("2026-03-02T00:01:00Z")
	r := (*Reservation)(nil).plus(Reservation{Most: map[string]int{"api": 300}, Now: evening, Last: evening})
	r = r.plus(Reservation{Most: map[string]int{"api": 7}, Now: morning, Last: morning})
	if r.Most["api"] != 7 || !r.Now.Equal(morning) {
		t.Errorf("after midnight %+v are reserved, want today's 7", r)
	}
	if d := (Document{}).Reserved(*r); d.Sent["api"].Requests != 307 || d.RequestsToday("api", morning) != 7 {
		t.Errorf("after midnight %+v may have been sent and %d count today, want 307 and 7", d.Sent, d.RequestsToday("api", morning))
	}
	r = r.plus(Reservation{Most: map[string]int{"api": math.MaxInt}, Now: morning, Last: morning})
	if r.Most["api"] != math.MaxInt {
		t.Errorf("two of today: %+v", r)
	}
	r = r.plus(Reservation{Most: map[string]int{"new": 1}, Now: evening, Last: evening}) // a clock was set back
	if r.Most["api"] != math.MaxInt || !r.Now.Equal(morning) {
		t.Errorf("with the clock set back %+v", r)
	}
}

func TestMergeDailyBeforeAndClocks(t *testing.T) {
	now := at("2026-03-01T12:00:00Z")
	base := Document{Clocks: Clocks{Last: now}}
	mine, theirs := base, base
	mine.DailyBefore = map[string]Daily{"later": {"2026-03-02", 1}, "more": {"2026-03-01", 5}, "mine": {"2026-03-01", 1}}
	theirs.DailyBefore = map[string]Daily{"later": {"2026-03-01", 9}, "more": {"2026-03-01", 4}}
	mine.Clocks = Clocks{Last: now.Add(time.Hour), Before: now}
	want := mine.DailyBefore
	for _, sides := range [][2]Document{{mine, theirs}, {theirs, mine}} {
		got, err := merge(base, sides[0], sides[1], Options{})
		must(t, err)
		if !reflect.DeepEqual(got.DailyBefore, want) || got.Clocks != mine.Clocks {
			t.Errorf("merged to %+v, %+v", got.DailyBefore, got.Clocks)
		}
	}
}
