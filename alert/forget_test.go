package alert

import (
	"testing"
	"time"

	"perch.example/probes"
)

// TestForgottenThreads go with their incidents, not before.
func TestForgottenThreads(t *testing.T) {
	m, told := decideAll(options, incident(), incident())
	key := threadKey("slack", told[1][0].Thread)
	m.Threads = map[string]Thread{key: {Channel: "C1", Root: "1"}, threadKey("slack", "gone/latency#9"): {Channel: "C1", Root: "2"}}
	m, _ = Decide(m, incident(), options(2))
	if _, kept := m.Threads[key]; !kept || len(m.Threads) != 1 {
		t.Errorf("while it is open the threads are %v", m.Threads)
	}
	m, _ = Decide(m, mended(), options(3))
	m, _ = Decide(m, mended(), options(4))
	if len(m.Threads) != 1 || len(m.Open()) != 0 {
		t.Errorf("when it is over the threads are %v", m.Threads)
	}
	m.Outbox = nil
	o := options(5)
	o.Now = o.Now.Add(8 * 24 * time.Hour)
	if m, _ = Decide(m, mended(), o); len(m.Threads) != 0 {
		t.Errorf("when it is forgotten the threads are %v", m.Threads)
	}
}

// TestShrink drops what is over, then details; what is open or waits stays.
func TestShrink(t *testing.T) {
	var m Memory
	o := options(0)
	o.FireAfter, o.ResolveAfter = 1, 1
	for n := range 9 {
		for _, target := range []string{"a", "b"} {
			v := probes.VerdictFail
			if n%2 == 1 {
				v = probes.VerdictPass
			}
			o.Now = noon().Add(time.Duration(n) * 2 * time.Hour)
			m, _ = Decide(m, runOf(single(target, "p", v, probes.DiagnosisSlow, probes.FamilyLatency)), o)
		}
	}
	waiting, open, resolved := len(m.Outbox), len(m.Open()), m.resolved()
	if waiting != 18 || open != 2 || resolved != 8 {
		t.Fatalf("%d wait, %d are open, %d over; want 18, 2, 8", waiting, open, resolved)
	}
	before := m
	steps := 0
	for {
		smaller, shrunk := m.Shrink()
		if !shrunk {
			break
		}
		m = smaller
		if steps++; steps == 1 && (m.resolved() != 4 || m.Incidents[0].Number != 5) {
			t.Errorf("the first step left %d that are over, the oldest #%d; want 4 and #5", m.resolved(), m.Incidents[0].Number)
		}
		if steps > 20 {
			t.Fatal("it never ends")
		}
	}
	if len(m.Outbox) != waiting || len(m.Open()) != open || m.resolved() != 0 || !m.Outbox[17].isSlim() {
		t.Errorf("%d wait, %d are open, %d over; want %d, %d, 0", len(m.Outbox), len(m.Open()), m.resolved(), waiting, open)
	}
	if before.resolved() != resolved || before.Outbox[0].isSlim() {
		t.Error("the memory that was passed in is changed")
	}
}
