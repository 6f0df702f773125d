package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"perch.example/lab"
)

// buildBinary builds perch as the Dockerfile does.
func buildBinary(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "perch")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, ".").CombinedOutput(); err != nil {
		b.Fatalf("building perch: %v\n%s", err, out)
	}
	return path
}

// BenchmarkStartToFirstDial is the time from the process's start to the first
// connection that it opens (aim: under 50 ms).
func BenchmarkStartToFirstDial(b *testing.B) {
	path := buildBinary(b)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	config := filepath.Join(b.TempDir(), "perch.yaml")
	writeFile(b, config, strings.ReplaceAll(oneProbe, "${URL}", "http://"+ln.Addr().String()))
	for b.Loop() {
		cmd := exec.Command(path, "run", "--config", config)
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		conn, err := ln.Accept()
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		_ = conn.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		b.StartTimer()
	}
}

// BenchmarkRunOf200Targets reports the resident memory and the CPU of one run
// of 200 targets, each with an http probe and a ladder (aim: under 32 MiB).
func BenchmarkRunOf200Targets(b *testing.B) {
	benchmarkRun(b, "metrics: {max_series: 100000}\n")
}

// BenchmarkRunThatPushesAndRemembers is the same run as a CronJob makes it: it
// reads the state, pushes twice and saves, each time all that it measures.
func BenchmarkRunThatPushesAndRemembers(b *testing.B) {
	gateway := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // what is cut off fails the push, and so the run
	}))
	defer gateway.Close()
	benchmarkRun(b, fmt.Sprintf("vantage: bench\nmetrics: {max_series: 100000, push: {url: %q}}\nstate: {file: %q}\n",
		gateway.URL, filepath.Join(b.TempDir(), "state")))
}

// benchmarkRun runs 200 targets with those settings, in processes of their own:
// the largest resident memory of one is reported, and its CPU.
func benchmarkRun(b *testing.B, settings string) {
	path := buildBinary(b)
	server, err := lab.Start(b.Context(), "healthy", lab.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	var text strings.Builder
	text.WriteString("version: 1\nname: big\n" + settings + "targets:\n")
	for i := range 200 {
		fmt.Fprintf(&text, "  - {name: api-%d, url: %q, probes: [{name: get, kind: http, path: /}, {name: hold, kind: idle, path: /, holds: [3s, 6s]}]}\n", i, server.URL())
	}
	config := filepath.Join(b.TempDir(), "perch.yaml")
	writeFile(b, config, text.String())
	var rss int64
	var cpu time.Duration
	for b.Loop() {
		cmd := exec.Command(path, "run", "--config", config)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		rss = max(rss, usage.Maxrss)
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	b.ReportMetric(float64(rss)/1024, "MiB-resident")
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
}
