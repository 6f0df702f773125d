//go:build linux

package wire_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"perch.example/probes/wire"
)

func BenchmarkHeldPlain(b *testing.B) { benchmarkHeld(b, "plain", 10_000) }
func BenchmarkHeldTLS(b *testing.B)   { benchmarkHeld(b, "tls", 10_000) }
func BenchmarkHeldH2C(b *testing.B)   { benchmarkHeld(b, "h2c", 2_000) }
func BenchmarkHeldH2(b *testing.B)    { benchmarkHeld(b, "h2", 2_000) }

// benchmarkHeld measures what held connections keep resident: warmed in one
// goroutine, held in a small one of its own, as probes do it.
func benchmarkHeld(b *testing.B, kind string, connections int) {
	protocol := wire.SpeakHTTP1
	if strings.HasPrefix(kind, "h2") {
		protocol = wire.SpeakH2
	}
	port, config := elsewhere(b, kind)
	for b.Loop() {
		before := resident(b)
		ctx, cancel := context.WithCancel(b.Context())
		var warming, holding sync.WaitGroup
		slots := make(chan struct{}, 64)
		request := get(b)
		for i := range connections {
			slots <- struct{}{}
			holding.Add(1)
			warming.Go(func() {
				defer func() { <-slots }()
				c, e := wire.Open(ctx, wire.Options{Host: loopback(i), Port: port, TLS: config, Protocol: protocol, Connect: time.Minute, Handshake: time.Minute})
				if c == nil {
					b.Errorf("opening: %s", e.Error)
					holding.Done()
					return
				}
				if r, e := c.Exchange(ctx, wire.Request{HTTP: request, Timeout: time.Minute}); r.Status != 200 {
					b.Errorf("warming: %s", e.Error)
				}
				go func() {
					defer holding.Done()
					c.Hold(ctx, time.Now().Add(time.Hour), false)
					_ = c.Close()
				}()
			})
		}
		warming.Wait()
		time.Sleep(100 * time.Millisecond) // the last of them come to rest
		b.ReportMetric(float64(resident(b)-before)/float64(connections)/1024, "KiB/conn")
		cancel()
		holding.Wait()
	}
	b.ReportMetric(0, "ns/op") // says nothing here
}

// loopback returns one of many loopback addresses: one alone would run out of
// ports.
func loopback(i int) string { return fmt.Sprintf("127.1.%d.%d", i>>8&0xff, i&0xff) }

// resident returns the process's resident memory, in bytes, with nothing to
// collect.
func resident(b *testing.B) int64 {
	b.Helper()
	debug.FreeOSMemory()
	debug.FreeOSMemory() // pools let go at the second collection
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(statm))[1], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// BenchmarkFreshProbe is to be compared with BenchmarkBareLoop, by processor
// time: cpu-us/op.
func BenchmarkFreshProbe(b *testing.B) {
	port, _ := elsewhere(b, "plain")
	request := get(b)
	cpu := cpuTime(b)
	i := 0
	for b.Loop() {
		i++
		c, e := wire.Open(b.Context(), wire.Options{Host: loopback(i), Port: port, Connect: time.Minute})
		if c == nil {
			b.Fatal(e.Error)
		}
		if r, e := c.Exchange(b.Context(), wire.Request{HTTP: request, Timeout: time.Minute}); r.Status != 200 {
			b.Fatal(e.Error)
		}
		_ = c.Close()
	}
	b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/float64(b.N), "cpu-us/op")
}

// BenchmarkBareLoop is the least that a probe can do: dial, write, read, close.
func BenchmarkBareLoop(b *testing.B) {
	port, _ := elsewhere(b, "plain")
	request := get(b)
	cpu := cpuTime(b)
	i := 0
	for b.Loop() {
		i++
		c, err := net.Dial("tcp", net.JoinHostPort(loopback(i), port))
		if err != nil {
			b.Fatal(err)
		}
		if err := request.Write(c); err != nil {
			b.Fatal(err)
		}
		r, err := http.ReadResponse(bufio.NewReader(c), request)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			b.Fatal(err)
		}
		_ = r.Body.Close()
		_ = c.Close()
	}
	b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/float64(b.N), "cpu-us/op")
}

// cpuTime returns the processor time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
