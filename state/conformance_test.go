package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// full has something in every field.
func full() Document {
	d := sample()
	d.Name = "shop"
	now := at("2026-03-01T10:00:00Z")
	d.AddRequests("shop", now.AddDate(0, 0, -1), 5)
	d.AddRequests("shop", now, 6)
	d.Clocks = Clocks{Last: now, Before: now.Add(-5 * time.Minute)}
	d.AddSent("stock-api", 3, now)
	d.AddSent("stock-api", 1, now.Add(-time.Second))
	d.SetLeaveAlone("stock-api", now.Add(time.Hour))
	d.SetBracket("stock-api/calendar-idle", Bracket{
		Survived: 59 * time.Second, Died: 61 * time.Second, Measured: 60001 * time.Millisecond, Advertised: time.Minute, How: "fin", At: now,
		Spread: time.Millisecond, Tries: 1, Runs: 3, TCPKeepAlive: time.Second, Way: "8f14e45fceea167a", Twice: 62 * time.Second, Looked: now, Other: &Bracket{Measured: 30 * time.Second, At: now},
		Suspect: &Bracket{Survived: time.Second, Died: 2 * time.Second, How: "silent", At: now}, Without: &Bracket{Died: 3 * time.Second, At: now},
	})
	d.SetVerdict("stock-api/calendar", "fail", now)
	closes := d.EarlyCloses["stock-api/calendar-idle"]
	d.SetEarlyCloses("stock-api/calendar-idle", closes, map[time.Duration]time.Duration{61 * time.Second: 31 * time.Second})
	d.SetSection("silences", json.RawMessage(`{"a1":{"match":"stock-api/*"}}`))
	return d
}

func TestFullIsFull(t *testing.T) {
	v := reflect.ValueOf(full())
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("nothing in %s: the conformance suite would not notice its loss", v.Type().Field(i).Name)
		}
	}
}

func TestEverythingIsKept(t *testing.T) {
	conform(t, func(t *testing.T, s site) {
		first, d := s.begin(t)
		if !reflect.DeepEqual(d, Document{Version: version}) {
			t.Errorf("the first run starts with %+v, want an empty document", d)
		}
		must(t, first.Save(t.Context(), full()))
		must(t, first.Close(t.Context()))
		must(t, first.Close(t.Context())) // again: nothing
		second, d := s.begin(t)
		if !reflect.DeepEqual(d, full()) {
			t.Errorf("the second run starts with\n%+v, want\n%+v", d, full())
		}
		looked, err := s.read(t.Context())
		if err != nil || !reflect.DeepEqual(looked, full()) {
			t.Errorf("a look at it: %+v, %v", looked, err)
		}
		if first.Warning() != "" {
			t.Errorf("a small document is warned of: %s", first.Warning())
		}
		must(t, second.Close(t.Context()))
	})
}

// An edit is not lost by the run that it came into, at any of its steps, nor
// the run's work by the edit.
func TestEditsDuringARun(t *testing.T) {
	conform(t, func(t *testing.T, s site) {
		now := at("2026-03-01T10:00:00Z")
		silence := func(id string) {
			t.Helper()
			must(t, s.edit(t.Context(), func(d *Document) error {
				kept := map[string]int{}
				if raw := d.Sections["silences"]; raw != nil {
					must(t, json.Unmarshal(raw, &kept))
				}
				kept[id] = 1
				text, err := json.Marshal(kept)
				d.SetSection("silences", text)
				return err
			}))
		}
		silence("before")
		run, d := s.begin(t)
		silence("loaded")
		must(t, run.Reserve(t.Context(), Reservation{Most: map[string]int{"api": 100}, Now: now, Last: now.Add(time.Minute)}))
		silence("reserved")
		d.AddRequests("api", now, 3)
		d.MarkRun("api/a", now)
		must(t, run.Save(t.Context(), d))
		silence("saved")
		d.AddRequests("api", now, 4)
		d.SetSection("alert", json.RawMessage(`{"sent":true}`))
		must(t, run.Save(t.Context(), d))
		must(t, run.Save(t.Context(), d)) // nothing new: nothing lost
		must(t, run.Close(t.Context()))
		_, got := s.begin(t)
		if want := `{"before":1,"loaded":1,"reserved":1,"saved":1}`; string(got.Sections["silences"]) != want {
			t.Errorf("silences %s, want %s", got.Sections["silences"], want)
		}
		if n := got.RequestsToday("api", now); n != 7 || len(got.Due) != 1 || string(got.Sections["alert"]) != `{"sent":true}` {
			t.Errorf("the run's work: %d requests, want 7; %+v", n, got)
		}
	})
}

func TestManyEditsAtOnce(t *testing.T) {
	conform(t, func(t *testing.T, s site) {
		now := at("2026-03-01T10:00:00Z")
		run, d := s.begin(t)
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				err := s.edit(t.Context(), func(d *Document) error {
					d.MarkRun(fmt.Sprintf("api/%d", i), now)
					d.AddRequests("api", now, 1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		d.AddRequests("api", now, 100)
		must(t, run.Save(t.Context(), d))
		all.Wait()
		d.AddRequests("api", now, 100)
		must(t, run.Save(t.Context(), d))
		got, err := s.read(t.Context())
		must(t, err)
		if len(got.Due) != 20 || got.RequestsToday("api", now) != 220 {
			t.Errorf("%d of 20 edits are left, %d of 220 requests", len(got.Due), got.RequestsToday("api", now))
		}
		must(t, run.Close(t.Context()))
	})
}

func TestAnEditsErrorChangesNothing(t *testing.T) {
	conform(t, func(t *testing.T, s site) {
		run, _ := s.begin(t)
		must(t, run.Save(t.Context(), full()))
		no := errors.New("no such silence")
		err := s.edit(t.Context(), func(d *Document) error { d.Due = nil; return no })
		if !errors.Is(err, no) {
			t.Errorf("editing: %v, want the edit's own error", err)
		}
		if d, err := s.read(t.Context()); err != nil || !reflect.DeepEqual(d, full()) {
			t.Errorf("after it: %+v, %v", d, err)
		}
		must(t, run.Close(t.Context()))
	})
}

func TestUnusableContentIsKeptAside(t *testing.T) {
	for name, tt := range map[string]struct {
		content []byte
		newer   bool
	}{
		"cut short": {pack(t, `{"version":1}`)[:12], false},
		"zeros":     {make([]byte, 4096), false},
		"newer":     {pack(t, `{"version":99}`), true},
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, func(t *testing.T, s site) {
				s.put(tt.content)
				advice := map[bool]string{false: "keeps it aside", true: "upgrade this perch"}[tt.newer]
				if err := s.edit(t.Context(), func(*Document) error { return nil }); err == nil || !strings.Contains(err.Error(), advice) {
					t.Errorf("editing it: %v, want a refusal that says %q", err, advice)
				}
				if _, err := s.read(t.Context()); err == nil || tt.newer != strings.Contains(err.Error(), "upgrade this perch") {
					t.Errorf("reading it: %v, want an error, with what to do", err)
				}
				run := s.mustOpen(t)
				d, err := run.Load(t.Context())
				var aside *AsideError
				if !errors.As(err, &aside) || aside.Newer != tt.newer || aside.Path != s.path || !strings.Contains(err.Error(), aside.Aside) {
					t.Fatalf("loading: %v, want an AsideError", err)
				}
				if !reflect.DeepEqual(d, Document{Version: version}) {
					t.Errorf("goes on with %+v, want an empty document", d)
				}
				must(t, run.Save(t.Context(), full()))
				if kept := s.stand(aside.Aside); !reflect.DeepEqual(kept, tt.content) {
					t.Errorf("%q holds %q, want %q", aside.Aside, kept, tt.content)
				}
				// Damaged once more, in the middle of the run.
				s.put(tt.content)
				err = run.Save(t.Context(), full())
				if !errors.As(err, &aside) || !reflect.DeepEqual(s.stand(aside.Aside), tt.content) {
					t.Errorf("saving over it: %v, want an AsideError", err)
				}
				if d, err := s.read(t.Context()); err != nil || !reflect.DeepEqual(d, full()) {
					t.Errorf("after it stands %+v, %v", d, err)
				}
				must(t, run.Close(t.Context()))
			})
		})
	}
}

// Somebody makes the place by hand (touch): that is no state yet.
func TestAnEmptyPlaceIsNoStateYet(t *testing.T) {
	conform(t, func(t *testing.T, s site) {
		s.put([]byte{})
		if d, err := s.read(t.Context()); err != nil || !d.Empty() {
			t.Errorf("reading it: %+v, %v", d, err)
		}
		run, d := s.begin(t)
		if !d.Empty() {
			t.Errorf("a run starts with %+v", d)
		}
		must(t, run.Save(t.Context(), full()))
		s.put([]byte{}) // emptied in the middle of a run, as if it were taken away
		must(t, run.Save(t.Context(), full()))
		must(t, run.Close(t.Context()))
		if d, err := s.read(t.Context()); err != nil || !reflect.DeepEqual(d, full()) {
			t.Errorf("after the run stands %+v, %v", d, err)
		}
		s.put([]byte{})
		must(t, s.edit(t.Context(), func(d *Document) error { d.MarkRun("api/a", time.Now()); return nil }))
		if d, err := s.read(t.Context()); err != nil || len(d.Due) != 1 {
			t.Errorf("after an edit stands %+v, %v", d, err)
		}
	})
}

// Who takes the state away in the middle of a run gets the run's.
func TestTakenAwayDuringARun(t *testing.T) {
	conform(t, func(t *testing.T, s site) {
		run, _ := s.begin(t)
		must(t, run.Save(t.Context(), full()))
		s.put(nil)
		d := full()
		d.MarkRun("another/probe", at("2026-03-01T11:00:00Z"))
		must(t, run.Save(t.Context(), d))
		if got, err := s.read(t.Context()); err != nil || !reflect.DeepEqual(got, d) {
			t.Errorf("stands %+v, %v", got, err)
		}
		must(t, run.Close(t.Context()))
	})
}

func TestSaveOnlyWhatWasLoaded(t *testing.T) {
	conform(t, func(t *testing.T, s site) {
		s.put(pack(t, `{"version":1}`))
		run := s.mustOpen(t)
		if err := run.Save(t.Context(), full()); err == nil || !strings.Contains(err.Error(), "not loaded") {
			t.Errorf("saving before loading: %v", err)
		}
		if d, err := s.read(t.Context()); err != nil || len(d.Due) != 0 {
			t.Errorf("it was replaced: %+v, %v", d, err)
		}
		must(t, run.Close(t.Context()))
		if err := run.Save(t.Context(), full()); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("saving after closing: %v", err)
		}
		if err := run.Reserve(t.Context(), Reservation{}); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("reserving after closing: %v", err)
		}
		if _, err := run.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("loading after closing: %v", err)
		}
	})
}

func TestTooLarge(t *testing.T) {
	conform(t, func(t *testing.T, s site) {
		run, d := s.begin(t)
		must(t, run.Save(t.Context(), full()))
		d.SetSection("alert", noise(9<<20))
		err := run.Save(t.Context(), d)
		var large *TooLargeError
		if !errors.As(err, &large) || large.Size <= large.Limit || large.Largest != `section "alert"` || !strings.Contains(err.Error(), s.path) {
			t.Fatalf("saving too much: %v, want a TooLargeError", err)
		}
		if got, err := s.read(t.Context()); err != nil || !reflect.DeepEqual(got, full()) {
			t.Errorf("after it stands %+v, %v", got, err)
		}
		d = full()
		d.SetVerdict("a/b", "pass", at("2026-03-01T10:00:00Z"))
		must(t, run.Save(t.Context(), d)) // the smaller one
		if got, err := s.read(t.Context()); err != nil || !reflect.DeepEqual(got, d) {
			t.Errorf("after the smaller one stands %+v, %v", got, err)
		}
		must(t, run.Close(t.Context()))
	})
}

// A run that is killed after any of its steps leaves a state that the next one
// reads, with nothing lost that was saved, and no request given back.
func TestKilledAfterAnyStep(t *testing.T) {
	now := at("2026-03-01T10:00:00Z")
	const most, sent = 100, 7
	for steps := range 6 {
		conform(t, func(t *testing.T, s site) {
			run, d := s.begin(t)
			d.AddRequests("api", now, 5)
			must(t, run.Save(t.Context(), d))
			must(t, run.Close(t.Context()))

			run, d = s.begin(t)
			for step, do := range []func(){
				func() {
					must(t, run.Reserve(t.Context(), Reservation{Most: map[string]int{"api": most}, Now: now, Last: now.Add(time.Minute)}))
				},
				func() { d.AddRequests("api", now, sent); d.MarkRun("api/a", now) },
				func() { must(t, run.Save(t.Context(), d)) },
				func() { d.SetSection("alert", json.RawMessage(`{"told":true}`)) },
				func() { must(t, run.Save(t.Context(), d)) },
			} {
				if step < steps {
					do()
				}
			}
			s.crash(run)
			next, d := s.begin(t)
			want := 5
			switch {
			case steps >= 3:
				want += sent
			case steps >= 1:
				want += most
			}
			if got := d.RequestsToday("api", now); got < want || got > want+most {
				t.Errorf("killed after %d steps: %d requests are counted, want %d, or what was reserved more", steps, got, want)
			}
			if d.Due["api/a"].IsZero() == (steps >= 3) || (d.Sections["alert"] == nil) == (steps >= 5) {
				t.Errorf("killed after %d steps: %+v", steps, d)
			}
			must(t, next.Close(t.Context()))
		})
	}
}

// Killed again and again before it saves, it counts each run, and the first
// that saves makes all of it last.
func TestReservationsAddUp(t *testing.T) {
	now := at("2026-03-01T10:00:00Z")
	conform(t, func(t *testing.T, s site) {
		for range 3 {
			run, _ := s.begin(t)
			must(t, run.Reserve(t.Context(), Reservation{Most: map[string]int{"api": 10}, Now: now, Last: now.Add(time.Minute)}))
			s.crash(run)
		}
		run, d := s.begin(t)
		if got := d.RequestsToday("api", now); got != 30 {
			t.Errorf("%d requests are counted after three runs, want 30", got)
		}
		must(t, run.Reserve(t.Context(), Reservation{Most: map[string]int{"api": 10}, Now: now, Last: now.Add(time.Minute)}))
		d.AddRequests("api", now, 4)
		if got := d.Sent["api"]; got.Requests != 30 {
			t.Errorf("%+v, want the 30 that three runs may have sent", got)
		}
		d.AddSent("api", 1, now.Add(2*time.Minute))
		d.KeepSent("api", 1)
		must(t, run.Save(t.Context(), d))
		must(t, run.Close(t.Context()))
		next, d := s.begin(t)
		if got := d.RequestsToday("api", now); got != 34 || d.Sent["api"].Requests != 1 {
			t.Errorf("%d requests are counted, %+v last, want 34 and 1", got, d.Sent)
		}
		must(t, next.Close(t.Context()))
	})
}

// noise is JSON that does not pack.
func noise(size int) json.RawMessage {
	text := make([]byte, size/2)
	state := uint64(1)
	for i := range text {
		state = state*6364136223846793005 + 1442695040888963407
		text[i] = byte(state >> 56)
	}
	return json.RawMessage(fmt.Sprintf(`"%x"`, text))
}
