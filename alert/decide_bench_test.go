package alert

import (
	"fmt"
	"testing"
	"time"

	"perch.example/probes"
)

// BenchmarkDecide is a run of 1,000 open incidents with 10,000 outcomes: one in
// which nothing new is to be told, one that reminds, and one that is told after
// a day's outage.
func BenchmarkDecide(b *testing.B) {
	var outcomes []probes.Outcome
	for n := range 10_000 {
		o := single(fmt.Sprintf("target-%04d", n/10), fmt.Sprint("p", n%10), probes.VerdictFail, diagnoses()[n/10%3], probes.FamilyReachability)
		o.Notice.Channel = fmt.Sprint("#c", n/10%50)
		outcomes = append(outcomes, o)
	}
	run := runOf(outcomes...)
	o := options(0)
	o.FireAfter, o.RemindEvery, o.Destinations = 1, 12*time.Hour, []string{"slack", "webhook"}
	m, _ := Decide(Memory{}, at(run, 0), o)
	told := m.clone()
	told.Outbox = nil
	for _, c := range []struct {
		name  string
		m     Memory
		later time.Duration
	}{{"steady", told, time.Minute}, {"reminders", told, 13 * time.Hour}, {"after an outage", m, 25 * time.Hour}} {
		b.Run(c.name, func(b *testing.B) {
			o.Now, run.Started = noon().Add(c.later), noon().Add(c.later)
			for b.Loop() {
				Decide(c.m, run, o)
			}
		})
	}
}
