package plan

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/probes"
	"perch.example/probes/expect"
)

// BenchmarkOneProbe is a wave of perch serve: one http probe of one target.
func BenchmarkOneProbe(b *testing.B) {
	u := &url.URL{Scheme: "http", Host: "192.0.2.1", Path: "/"}
	all, _ := expect.Compile(nil)
	t := probes.Target{Name: "api", URL: u, RateLimit: 100, Share: .5, DailyLimit: 1000000, MaxConnections: 16}
	t.Probes = []probes.Spec{{
		Target: t.Name, Probe: "get", Kind: probes.KindHTTP, Method: http.MethodGet, URL: u, Expect: all, MaxBody: 1 << 20, Every: time.Second,
		Timeouts: probes.Timeouts{DNS: time.Second, Connect: time.Second, TLS: time.Second, Response: 2 * time.Second},
	}}
	c := config.Config{Name: "bench", Targets: []probes.Target{t}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(c, Options{Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
