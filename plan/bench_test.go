package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

// One target, 500 rungs of random holds at 20/s.
func BenchmarkPlace500Rungs(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	spec := idle("ladder", 0)
	for range 500 {
		spec.Holds = append(spec.Holds, 2*time.Second+time.Duration(r.IntN(358_000))*time.Millisecond)
	}
	spec.KeepAlive = 100 * time.Millisecond // rungs need hardly be apart
	one := target("api", spec)
	one.Share, one.MaxConnections = 1, 2000
	benchmark(b, of(one))
}

// The same hold 500 times at 1/s: the calendar is full from the first to the last.
func BenchmarkPlace500RungsCrowded(b *testing.B) {
	spec := idle("ladder", 0)
	for range 500 {
		spec.Holds = append(spec.Holds, time.Minute)
	}
	one := target("api", spec)
	one.MaxConnections = 2000
	benchmark(b, of(one))
}

// 200 targets, each with an exchange and a ladder of ten rungs.
func BenchmarkPlan200Targets(b *testing.B) {
	var targets []probes.Target
	for i := range 200 {
		one := target(fmt.Sprint("t", i), exchange("get", 10*time.Minute), idle("ladder", 10*time.Minute))
		one.MaxConnections = 32
		targets = append(targets, one)
	}
	benchmark(b, of(targets...))
}

func benchmark(b *testing.B, c config.Config) {
	b.ReportAllocs()
	var p *Plan
	for b.Loop() {
		var err error
		if p, err = New(c, Options{Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(p.Steps)), "steps")
	b.ReportMetric((p.Wall - p.LongestHold).Seconds(), "s-after-longest-hold")
}
