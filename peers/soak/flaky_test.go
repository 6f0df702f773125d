//go:build soak

package soak

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// mode is how a service behaves.
type mode int32

const (
	working mode = iota
	failing      // 503, and nothing is done
	hanging      // no answer until the client gives up
	cutting      // the connection is reset
	losing       // all is done, and the connection reset before the answer
)

func (m mode) String() string { return [...]string{"works", "fails", "hangs", "cuts", "loses"}[m] }

// flaky is a service that perch needs, and that is not always there.
type flaky struct {
	name string
	url  string
	mode atomic.Int32
	next http.Handler
}

func startFlaky(t *testing.T, name string, next http.Handler) *flaky {
	t.Helper()
	f := &flaky{name: name, next: next}
	server := httptest.NewServer(f)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	f.url = server.URL
	return f
}

func (f *flaky) set(m mode) { f.mode.Store(int32(m)) }

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch mode(f.mode.Load()) {
	case failing:
		http.Error(w, "not now", http.StatusServiceUnavailable)
	case hanging:
		_, _ = io.Copy(io.Discard, r.Body) // a server that still reads does not see its client go
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case cutting:
		panic(http.ErrAbortHandler)
	case losing:
		f.next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	default:
		f.next.ServeHTTP(w, r)
	}
}

// calmFor is longer than perch takes to tell what waited for a service that is there
// again; spansWithin, than it takes to send the spans that wait, some MiB of them.
const (
	calmFor     = 8 * time.Second
	spansWithin = 20 * time.Second
)

// troubleAndCalm has trouble for a while, and then, for as long as perch needs to send what
// waited, none; calm is called at the end of that; and so on until ctx ends.
func troubleAndCalm(ctx context.Context, t *testing.T, dice *rand.Rand, calm func(), services ...*flaky) {
	for ctx.Err() == nil {
		part, cancel := context.WithTimeout(ctx, max(15*time.Second, *soakFor/60))
		trouble(part, t, dice, services...)
		cancel()
		if pause(ctx, calmFor) {
			calm()
		}
	}
}

// trouble changes how one of the services behaves, each few seconds, as the seed
// says, until ctx ends. Then all of them work.
func trouble(ctx context.Context, t *testing.T, dice *rand.Rand, services ...*flaky) {
	defer func() {
		for _, f := range services {
			f.set(working)
		}
	}()
	for {
		f, m := services[dice.IntN(len(services))], mode(dice.IntN(4))
		f.set(m)
		t.Logf("%s: %s %s", clockTime(), f.name, m)
		if !pause(ctx, time.Duration(2+dice.IntN(5))*time.Second) {
			return
		}
	}
}

func clockTime() string { return time.Now().Format("15:04:05") }

// pause waits, and reports whether ctx lasted.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// accepting takes anything, and counts how often it took spans.
type accepting struct{ spans atomic.Int64 }

func (a *accepting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusOK)
	if r.URL.Path == "/v1/traces" {
		a.spans.Add(1)
	}
}

// awaitSpans waits until spans are taken once more.
func (a *accepting) awaitSpans(t *testing.T) {
	t.Helper()
	before := a.spans.Load()
	for until := time.Now().Add(spansWithin); a.spans.Load() == before; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Errorf("no spans came for %s to a receiver that is there", spansWithin)
			return
		}
	}
}
