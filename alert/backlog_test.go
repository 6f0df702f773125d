package alert

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// outage is a memory after the runs of a table, an hour and a half apart, of which
// nothing could be delivered.
func outage(t *testing.T, steps string, o func(int) Options) (Memory, []Notice) {
	t.Helper()
	var m Memory
	var due []Notice
	for n, run := range sequence(steps) {
		m, due = Decide(remember(t, m), at(run, n), o(n))
	}
	return m, due
}

func slowly(n int) Options {
	o := options(0)
	o.Now, o.FireAfter, o.ResolveAfter = noon().Add(time.Duration(n)*90*time.Minute), 1, 1
	return o
}

// TestBacklog: what waited for more than a day is one notice, in front; what is
// younger stays as it is.
func TestBacklog(t *testing.T) {
	_, due := outage(t, "FgFgFgFgFggggggggggF", slowly)
	// Told in time would have been openings at 0, 2, 4, 6, 8 and 19 (x 90 min).
	var got []string
	for _, n := range due {
		got = append(got, string(n.Kind))
	}
	if want := "backlog firing resolved firing resolved firing resolved firing"; strings.Join(got, " ") != want {
		t.Fatalf("due are %v, want %s", got, want)
	}
	if b := due[0].Backlog; len(b.Entries) != 2 || b.Entries[0].Ended.IsZero() || b.Entries[1].Ended.IsZero() {
		t.Errorf("the backlog holds %+v, want two that are over, the second by what is younger than a day", b.Entries)
	}
}

func TestBacklogRules(t *testing.T) {
	begin := noon()
	notice := func(name string, k Kind, hoursAgo int, change func(*Notice)) Notice {
		n := waiting(Notice{
			ID: name + " " + string(k), Kind: k, Target: name, Decided: begin.Add(-time.Duration(hoursAgo) * time.Hour), Summary: "s",
			About: []About{{Name: name, Target: name, Trouble: "it fails"}},
		})
		if change != nil {
			change(&n)
		}
		return n
	}
	doubt := func(n *Notice) { n.Ways[0].PossibleRepeat = true }
	pictured := func(n *Notice) { n.Ways[0].Done = []Part{PartMessage} }
	alsoC := func(n *Notice) { n.About = append(n.About, About{Name: "c", Target: "c", Trouble: "it fails"}) }
	elsewhere := func(n *Notice) { n.Channel = "#b" }
	twoWays := func(n *Notice) { n.Ways = ways([]string{"slack", "hook"}) }
	hookOnly := func(n *Notice) { n.Ways = ways([]string{"hook"}) }
	earlier := Backlog{Entries: []Entry{{Name: "a", What: "a: it fails", Opened: begin.Add(-50 * time.Hour)}}, More: 2, Others: 1}
	tests := []struct {
		name   string
		outbox []Notice
		want   []string // "kind destinations entries", in order
		says   string
	}{
		{"one alone, too: perhaps it is refused for what it says", []Notice{notice("a", KindFiring, 30, nil)}, []string{"backlog slack 1"}, "a: it fails: since 2026-03-01 06:00 UTC"},
		{"a sum of it would not tell it", []Notice{notice("a", KindSharper, 30, nil)}, []string{"sharper slack 0"}, ""},
		{"an earlier sum alone stays", []Notice{notice("x", KindBacklog, 30, func(n *Notice) { n.Backlog = earlier })}, []string{"backlog slack 1"}, ""},
		{"what is between a sum's own is summed up, too", []Notice{notice("a", KindSharper, 30, nil), notice("c", KindReminder, 20, nil), notice("d", KindFiring, 10, nil), notice("a", KindResolved, 1, alsoC)}, []string{"backlog slack 2", "firing slack 0"}, "2 notices of other kinds"},
		{"a day is not too long", []Notice{notice("a", KindFiring, 24, nil), notice("b", KindFiring, 24, nil)}, []string{"firing slack 0", "firing slack 0"}, ""},
		{"two are one", []Notice{notice("a", KindFiring, 30, nil), notice("a", KindResolved, 29, nil), notice("b", KindFiring, 1, nil)}, []string{"backlog slack 1", "firing slack 0"}, "a: it fails: 2026-03-01 06:00 UTC to 2026-03-01 07:00 UTC, 1 h"},
		{"only its end is late", []Notice{notice("a", KindResolved, 30, nil), notice("b", KindFiring, 29, nil)}, []string{"backlog slack 2"}, "a: it fails: over at 2026-03-01 06:00 UTC"},
		{"reminders and the like are counted", []Notice{notice("a", KindFiring, 40, nil), notice("a", KindReminder, 30, nil), notice("d", KindDigest, 30, nil)}, []string{"backlog slack 1"}, "2 notices of other kinds"},
		{"a doubt stays", []Notice{notice("a", KindFiring, 30, doubt), notice("b", KindFiring, 30, nil)}, []string{"backlog slack 2"}, "06:00 UTC (this may be a repeat)"},
		{"told but for its pictures is told", []Notice{notice("a", KindFiring, 30, pictured), notice("b", KindFiring, 30, nil)}, []string{"backlog slack 1"}, ""},
		{"the end of what it tells does not overtake it", []Notice{notice("a", KindFiring, 30, nil), notice("b", KindFiring, 30, nil), notice("c", KindFiring, 1, nil), notice("b", KindResolved, 1, nil)}, []string{"backlog slack 2", "firing slack 0"}, "b: it fails: 2026-03-01 06:00 UTC to 2026-03-02 11:00 UTC"},
		{"each channel has its own", []Notice{notice("a", KindFiring, 30, nil), notice("b", KindFiring, 30, elsewhere), notice("c", KindFiring, 30, elsewhere), notice("d", KindFiring, 30, nil)}, []string{"backlog slack 2", "backlog slack 2"}, ""},
		{"each destination has its own", []Notice{notice("a", KindFiring, 30, twoWays), notice("b", KindFiring, 30, hookOnly)}, []string{"backlog slack 1", "backlog hook 2"}, ""},
		{"what turns late is added", []Notice{notice("x", KindBacklog, 2, func(n *Notice) { n.Backlog = earlier }), notice("a", KindResolved, 25, nil)}, []string{"backlog slack 1"}, "2026-02-28 10:00 UTC to 2026-03-01 11:00 UTC"},
		{"and the doubt about the sum", []Notice{notice("x", KindBacklog, 2, func(n *Notice) { n.Backlog = earlier; doubt(n) }), notice("b", KindFiring, 25, nil)}, []string{"backlog slack 2"}, "10:00 UTC (this may be a repeat)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := options(0)
			o.Now, o.Destinations = begin, []string{"slack", "hook"}
			m, _ := Decide(Memory{Outbox: tt.outbox}, runOf(), o)
			var got []string
			var text string
			for _, n := range m.Outbox {
				var to []string
				for _, w := range n.Ways {
					to = append(to, w.Destination)
				}
				got = append(got, fmt.Sprintf("%s %s %d", n.Kind, strings.Join(to, "+"), len(n.Backlog.Entries)))
				text += Text(n)
			}
			if strings.Join(got, ", ") != strings.Join(tt.want, ", ") {
				t.Errorf("waiting: %q, want %q", got, tt.want)
			}
			if text = strings.Join(strings.Fields(text), " "); !strings.Contains(text, tt.says) {
				t.Errorf("%q is missing in\n%s", tt.says, text)
			}
		})
	}
}

// TestABacklogIsBounded: what opened and is over goes first, and is counted.
func TestABacklogIsBounded(t *testing.T) {
	var m Memory
	for n := range 200 {
		run := runOf(single(fmt.Sprint("shop", n/2), "p", probes.VerdictFail, probes.DiagnosisSlow, probes.FamilyLatency))
		if n%2 == 1 && n < 190 {
			run = runOf(single(fmt.Sprint("shop", n/2), "p", probes.VerdictPass, "", ""))
		}
		o := options(0)
		o.Now, o.FireAfter, o.ResolveAfter = noon().Add(time.Duration(n)*time.Minute), 1, 1
		m, _ = Decide(m, run, o)
	}
	o := options(0)
	o.Now = noon().Add(48 * time.Hour)
	m, due := Decide(m, runOf(), o)
	if len(due) != 1 || len(m.Outbox) != 1 {
		t.Fatalf("%d are due, want one backlog", len(due))
	}
	b, open := due[0].Backlog, 0
	for _, e := range b.Entries {
		if e.Ended.IsZero() {
			open++
		}
	}
	if len(b.Entries) != mostEntries || b.More != 40 || open != 5 {
		t.Errorf("%d entries, %d of them open, %d more; want %d, 5, 40", len(b.Entries), open, b.More, mostEntries)
	}
}

// TestRefusedForWhatItSays: after a day it is said in fewer words, once, and
// nothing of it is tried on.
func TestRefusedForWhatItSays(t *testing.T) {
	a := newTelling("slack")
	a.to["slack"].err = &SendError{Status: 422, Content: true}
	a.run(t, 0, incident(), "slack")
	a.run(t, 25*time.Hour, runOf(), "slack")
	if n := a.m.Outbox[0]; len(a.m.Outbox) != 1 || n.Kind != KindBacklog || !strings.HasPrefix(n.Summary, "For more than 24 h this could not be told here: 1 incident opened") {
		t.Fatalf("wait: %+v", a.m.Outbox)
	}
	id := a.m.Outbox[0].ID
	a.run(t, time.Hour, runOf(), "slack")
	if a.m.Outbox[0].ID != id {
		t.Error("a sum is summed up again")
	}
	a.to["slack"].err = nil
	a.run(t, time.Hour, runOf(), "slack")
	a.run(t, time.Hour, mended(), "slack")
	if got := a.to["slack"].kinds(); got != "backlog resolved" || len(a.m.Outbox) > 0 {
		t.Errorf("told %q, %d wait", got, len(a.m.Outbox))
	}
}
