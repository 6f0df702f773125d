package runner

import (
	"context"
	"sync"
	"time"
)

const (
	lateEvery   = 100 * time.Millisecond
	lateSamples = 4096 // an hour's run keeps its last seven minutes
	// stallFrom is how long perch must have stood still for it to be kept as a
	// stall: a stopped process, a paused machine. Servers end connections that
	// nobody uses, and timeouts pass, in such times.
	stallFrom  = 500 * time.Millisecond
	mostStalls = 64
)

// lateness samples how late perch itself wakes: what it did not notice in
// time must not be blamed on the path.
type lateness struct {
	cancel context.CancelFunc
	tick   func() // called at each sample; nil: nothing
	done   chan struct{}

	mu     sync.Mutex
	late   ring
	due    time.Time // of the next sample
	stalls []stall   // the newest
}

// stall is a time in which perch stood still.
type stall struct {
	until time.Time
	late  time.Duration
}

// watchLateness samples until ctx ends, or stop is called, and calls tick at each
// sample, where there is one.
func watchLateness(ctx context.Context, tick func()) *lateness {
	ctx, cancel := context.WithCancel(ctx)
	l := &lateness{cancel: cancel, tick: tick, done: make(chan struct{}), due: time.Now().Add(lateEvery)}
	go l.watch(ctx)
	return l
}

func (l *lateness) watch(ctx context.Context) {
	defer close(l.done)
	timer := time.NewTimer(lateEvery)
	defer timer.Stop()
	for {
		due := l.next()
		timer.Reset(time.Until(due))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		l.took(due)
		if l.tick != nil {
			l.tick()
		}
	}
}

// next says when the next sample is due: at the next whole tenth of a second, when
// probes begin, too, for a process that is awake already.
func (l *lateness) next() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.due = now.Add(lateEvery - time.Duration(now.UnixNano()%int64(lateEvery)))
	return l.due
}

// took keeps how late a sample is, which it returns; a stall by itself, too.
func (l *lateness) took(due time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	late := max(0, now.Sub(due))
	l.late.add(late)
	if late >= stallFrom {
		l.stalls = append(l.stalls[max(0, len(l.stalls)+1-mostStalls):], stall{now, late})
	}
	return late
}

// since returns the longest stall that reached beyond from; 0: none. One whose
// sample is still to come counts: whoever asks may have woken first.
func (l *lateness) since(from time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	longest := time.Since(l.due)
	for _, s := range l.stalls {
		if s.until.After(from) {
			longest = max(longest, s.late)
		}
	}
	if longest < stallFrom {
		return 0
	}
	return longest
}

// ring keeps the newest samples. The zero value is empty.
type ring struct {
	samples []time.Duration
	n       int
}

func (r *ring) add(d time.Duration) {
	if len(r.samples) < lateSamples {
		r.samples = append(r.samples, d)
	} else {
		r.samples[r.n%lateSamples] = d
	}
	r.n++
}

// take returns the samples since the last take.
func (l *lateness) take() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	samples := l.late.samples
	l.late = ring{}
	return samples
}

func (l *lateness) stop() []time.Duration {
	l.cancel()
	<-l.done
	return l.take()
}
