package metrics

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"

	"perch.example/probes"
)

// many is a config of n targets, each with an http probe and a ladder of four
// rungs.
func many(t testing.TB, n int) Options {
	t.Helper()
	o := Options{Name: "shop", Vantage: "prod-tokyo", Version: "1.2.3", Destinations: []string{"slack"}}
	u := parse(t, "https://api.partner.example/v1")
	for i := range n {
		name := fmt.Sprintf("api-%d", i)
		o.Targets = append(o.Targets, probes.Target{Name: name, URL: u, RateLimit: 20, Share: 0.1, Probes: []probes.Spec{
			{Target: name, Probe: "get", Kind: probes.KindHTTP, Method: "GET", URL: u, Every: time.Minute},
			{Target: name, Probe: "idle", Kind: probes.KindIdle, Method: "GET", URL: u, KeepAlive: time.Minute, Every: time.Hour,
				Holds: []time.Duration{30 * time.Second, 55 * time.Second, 59 * time.Second, 65 * time.Second}},
		}})
	}
	return o
}

// healthy is a run of such a config; nth makes each run's times its own.
func healthy(o Options, nth int) probes.Run {
	run := probes.Run{Started: moment(), Finished: moment().Add(time.Minute)}
	for i, t := range o.Targets {
		took := func(ms int) time.Duration { return time.Duration(ms*1000+(i*37+nth*101)%5000) * time.Microsecond }
		answered := func(on probes.Connection) probes.Attempt {
			a := probes.Attempt{Connection: on, Reason: probes.ReasonOK, Status: 200, Elapsed: took(90),
				Phases: probes.Phases{Wait: took(80), Transfer: took(1)}}
			if on == probes.ConnectionFresh {
				a.Phases.DNS, a.Phases.Connect, a.Phases.TLS, a.TLSExpiry = took(2), took(20), took(45), moment()
			}
			return a
		}
		run.Outcomes = append(run.Outcomes, probes.Outcome{Target: t.Name, Probe: "get", Kind: probes.KindHTTP,
			Verdict: probes.VerdictPass, Attempts: []probes.Attempt{answered(probes.ConnectionFresh)}})
		for _, hold := range t.Probes[1].Holds {
			run.Outcomes = append(run.Outcomes, probes.Outcome{Target: t.Name, Probe: "idle", Kind: probes.KindIdle, Hold: hold,
				Verdict: probes.VerdictPass, Attempts: []probes.Attempt{answered(probes.ConnectionFresh), answered(probes.ConnectionReused)}})
		}
		run.Idle = append(run.Idle, probes.IdleResult{Target: t.Name, Probe: "idle", Survived: 65 * time.Second})
		run.Budget = append(run.Budget, probes.BudgetUse{Target: t.Name, Requests: 9})
	}
	return run
}

func sizes() []int { return []int{1, 20, 200} }

// BenchmarkNew reports what the series take of the memory before anything is
// counted.
func BenchmarkNew(b *testing.B) {
	for _, n := range sizes() {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := many(b, n)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			m := New(o)
			m.Observe(healthy(o, 0))
			runtime.GC()
			runtime.ReadMemStats(&after)
			for b.Loop() {
				New(o)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1024, "KiB-held")
			b.ReportMetric(float64(count(b, m)), "series")
		})
	}
}

func BenchmarkGather(b *testing.B) {
	for _, n := range sizes() {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := many(b, n)
			m := New(o)
			m.Observe(healthy(o, 0))
			b.ReportAllocs()
			for b.Loop() {
				all, err := m.Gatherer().Gather()
				if err != nil {
					b.Fatal(err)
				}
				for _, f := range all {
					if _, err := expfmt.MetricFamilyToText(io.Discard, f); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkSnapshot reports how many bytes a day of runs leaves to the next.
func BenchmarkSnapshot(b *testing.B) {
	for _, n := range sizes() {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := many(b, n)
			m := New(o)
			for nth := range 100 {
				m.Observe(healthy(o, nth))
			}
			b.ReportAllocs()
			var size, packed int
			for b.Loop() {
				raw, err := m.Snapshot()
				if err != nil {
					b.Fatal(err)
				}
				size, packed = len(raw), zipped(b, raw)
			}
			b.ReportMetric(float64(size), "bytes")
			b.ReportMetric(float64(packed), "gzipped-bytes")
		})
	}
}

func zipped(t testing.TB, raw []byte) int {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

func BenchmarkRestore(b *testing.B) {
	for _, n := range sizes() {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := many(b, n)
			m := New(o)
			m.Observe(healthy(o, 0))
			raw, err := m.Snapshot()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := New(o).Restore(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
