package alert

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"perch.example/probes"
)

// before is a memory that the last version wrote: an opening without a clear
// answer, one that was being sent, a resolve that waits, one incident of each
// state.
func before(t *testing.T) Memory {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "memory-before.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m Memory
	if err := json.Unmarshal(content, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestTheFormatBefore: nothing of it is lost, and its doubts are kept.
func TestTheFormatBefore(t *testing.T) {
	m := before(t)
	type waiting struct {
		id              string
		sending, repeat bool
	}
	var got []waiting
	for _, n := range m.Outbox {
		if len(n.Ways) != 1 || n.Ways[0].Destination != "slack" {
			t.Fatalf("%s has the ways %+v, want one to slack", n.ID, n.Ways)
		}
		got = append(got, waiting{n.ID, n.Ways[0].Sending, n.Ways[0].PossibleRepeat})
	}
	want := []waiting{{"stock-api/connection#1 firing", false, true}, {"price-api/latency#2 firing", true, true}, {"stock-api/connection#1 resolved", false, false}}
	if !slices.Equal(got, want) {
		t.Errorf("waiting %+v, want %+v", got, want)
	}
	if len(m.Incidents) != 3 || m.Count != 3 || m.Incidents[1].State != StateFiring || !m.Incidents[1].Announced {
		t.Errorf("incidents %+v", m.Incidents)
	}
	next, due := Decide(m, runOf(), options(5))
	if len(due) != 3 || !due[0].PossibleRepeat || !due[1].PossibleRepeat || due[2].PossibleRepeat || due[0].Waited != 20*time.Minute {
		t.Errorf("due %+v", due)
	}
	// Its open incident is known to people: no second opening, no sharper evidence
	// of what they were told, and its end comes into the same conversation.
	slow := single("price-api", "quote", probes.VerdictFail, probes.DiagnosisSlow, probes.FamilyLatency)
	fine := single("price-api", "quote", probes.VerdictPass, "", "")
	for n, o := range []probes.Outcome{slow, fine, fine} {
		next, due = Decide(next, at(runOf(o), 6+n), options(6+n))
	}
	if len(due) != 4 || due[3].ID != "price-api/latency#2 resolved" || due[3].Thread != "price-api/latency#2" {
		t.Errorf("due at its end %+v", due)
	}
}

// TestAnotherDestination: what waits for one that the config no longer has
// goes to those that it has, if it was told nowhere.
func TestAnotherDestination(t *testing.T) {
	m := Memory{Outbox: []Notice{
		{ID: "1", Decided: noon(), Ways: []Way{{Destination: "slack", PossibleRepeat: true}}},
		{ID: "2", Decided: noon(), Ways: []Way{{Destination: "slack"}, {Destination: "hook"}}},
		{ID: "3", Decided: noon(), Ways: []Way{{Destination: "hook"}}},
	}}
	o := options(0)
	o.Destinations = []string{"hook", "bell"}
	if got := m.Unaddressed(o.Destinations); len(got) != 1 || got["slack"] != 2 {
		t.Errorf("unaddressed %v, want 2 of slack", got)
	}
	m, _ = Decide(m, runOf(), o)
	if got := m.Unaddressed(o.Destinations); len(got) != 0 {
		t.Errorf("unaddressed still %v", got)
	}
	want := [][]Way{{{Destination: "hook", PossibleRepeat: true}, {Destination: "bell", PossibleRepeat: true}}, {{Destination: "hook"}}, {{Destination: "hook"}}}
	for i, n := range m.Outbox {
		if !slices.EqualFunc(n.Ways, want[i], func(a, b Way) bool {
			return a.Destination == b.Destination && a.PossibleRepeat == b.PossibleRepeat
		}) {
			t.Errorf("%s goes %+v, want %+v", n.ID, n.Ways, want[i])
		}
	}
}

// FuzzMemory decides upon memories that perch did not write: never a panic, and
// what comes out can be kept, shown and read again.
func FuzzMemory(f *testing.F) {
	for n, seed := range []string{ // short: the fuzzer takes long to shorten what it finds
		`{"count":2,"incidents":[{"number":1,"target":"a","family":"connection","state":"firing","probes":["a/calendar-idle"],"since":"2026-03-02T11:00:00Z","last":"2026-03-02T11:55:00Z","fired":"2026-03-02T11:05:00Z","runs":[true,true],"announced":true}],"outbox":[{"id":"a/connection#1 firing","kind":"firing","target":"a","decided":"2026-03-02T11:05:00Z","sending":true}]}`,
		`{"incidents":[{"number":1,"target":"b","family":"connection","state":"resolved","fired":"2026-03-02T11:30:00Z","ended":"2026-03-02T11:40:00Z"},{"number":2,"target":"b","family":"connection","state":"firing","probes":["b/x"],"runs":null,"flapping":["2026-03-02T12:00:00Z"],"thread":"early_close#1","heard":"2026-03-01T12:00:00Z","known":["slow"],"silenced":{"reason":"r"}},{"state":"odd"}]}`,
		`{"outbox":[{},{"kind":"backlog"},{"kind":"backlog","backlog":{"entries":[{"name":"a"}],"more":-1},"ways":[{"destination":"slack","done":["message"]},{}]}],"muted":[{"about":[{"probes":["b/x"]}]}]}`,
		`{"threads":{"":{"shown":{}},"a b c":{},"slack a/connection#1":{"root":"1","fixed":true,"shown":{"sections":[{"lines":["a"]}]}}},"digest":{"day":"0","items":[{"until":"2026-03-04T00:00:00Z"},{"runs":3}],"more":2}}`,
	} {
		f.Add([]byte(seed), uint8(n))
	}
	f.Fuzz(func(t *testing.T, content []byte, n uint8) {
		var m Memory
		if json.Unmarshal(content, &m) != nil {
			return
		}
		o := options(int(n))
		o.RemindEvery, o.Known = time.Hour, []string{"a/calendar-idle"}
		o.Silences = []Silence{{Match: "b*", Until: o.Now.Add(time.Hour)}}
		if n%2 == 0 {
			o.Known = nil
		}
		for _, run := range []probes.Run{fleet("ab", "a", "b", "c", "stock-api"), mended(), fleet("", "a", "b", "c")} {
			var due []Notice
			m, due = Decide(m, run, o)
			for _, notice := range append(due, Ongoing(m, run, o)...) {
				texts(t, Blocks(notice))
				_ = Text(notice)
			}
			m = MarkSending(m)
			o.Now = o.Now.Add(25 * time.Hour)
		}
		if content, err := json.Marshal(m); err != nil {
			t.Fatal(err)
		} else if err := json.Unmarshal(content, &m); err != nil {
			t.Fatalf("%v: %s", err, content)
		}
		for shrunk := true; shrunk; {
			m, shrunk = m.Shrink()
		}
	})
}
