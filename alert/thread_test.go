package alert

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"perch.example/probes"
)

// openMany are incidents that are open, each in a thread whose root shows what
// was found.
func openMany(count int) Memory {
	m := Memory{Threads: map[string]Thread{}}
	for n := range count {
		i := Incident{Number: n, Target: fmt.Sprint("shop", n), Family: probes.FamilyLatency, State: StateFiring, Probes: []string{fmt.Sprintf("shop%d/p", n)}}
		m.Incidents = append(m.Incidents, i)
		m.Threads[threadKey("slack", i.name())] = Thread{Channel: "C1", Root: fmt.Sprintf("17000%05d.000100", n), Shown: &Shown{Sections: section("a", FormText, 100, []string{"b"})}}
	}
	return m
}

func shownIn(m Memory) int {
	count := 0
	for at := range maps.Values(m.Threads) {
		if at.Shown != nil {
			count++
		}
	}
	return count
}

// TestEvidenceIsForgotten when the root is brought up to date no more.
func TestEvidenceIsForgotten(t *testing.T) {
	before := openMany(3)
	before.Incidents[0].State, before.Incidents[0].Ended = StateResolved, noon()
	before.Incidents[1].State, before.Incidents[1].Ended = StateResolved, noon()
	before.Outbox = []Notice{{ID: "1", Kind: KindResolved, Thread: before.Incidents[1].name(), Decided: noon(), Ways: ways([]string{"slack"})}}
	m, _ := Decide(before, runOf(), options(1))
	for n, want := range []bool{false, true, true} { // over and told, over and to be told, open
		at, known := m.Threads[threadKey("slack", before.Incidents[n].name())]
		if !known || at.Root == "" || (at.Shown != nil) != want {
			t.Errorf("incident %d: %+v, want its evidence kept: %v", n, at, want)
		}
	}
	if shownIn(before) != 3 {
		t.Error("the memory that was passed in is changed")
	}
}

// TestEvidenceIsBounded: of many open threads the newest keep theirs.
func TestEvidenceIsBounded(t *testing.T) {
	m, _ := Decide(openMany(mostShown+10), runOf(), options(1))
	if got := shownIn(m); got != mostShown || len(m.Threads) != mostShown+10 {
		t.Fatalf("%d of %d threads keep their evidence, want %d", got, len(m.Threads), mostShown)
	}
	for n, want := range map[int]bool{0: false, 9: false, 10: true, mostShown + 9: true} {
		if at := m.Threads[threadKey("slack", m.Incidents[n].name())]; (at.Shown != nil) != want {
			t.Errorf("thread %d keeps its evidence: %v, want %v", n, !want, want)
		}
	}
}

// TestShrinkDropsEvidence before the details of what waits.
func TestShrinkDropsEvidence(t *testing.T) {
	before := openMany(3)
	before.Outbox = []Notice{{ID: "1", Decided: time.Time{}, Sections: make([]Section, 2)}}
	m, shrunk := before.Shrink()
	if !shrunk || shownIn(m) != 0 || len(m.Threads) != 3 || m.Outbox[0].isSlim() || shownIn(before) != 3 {
		t.Errorf("shrunk: %v, %d of %d threads keep their evidence", shrunk, shownIn(m), len(m.Threads))
	}
	if m, shrunk = m.Shrink(); !shrunk || !m.Outbox[0].isSlim() {
		t.Error("the next step is not the details")
	}
}
