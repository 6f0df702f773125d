package runner

import (
	"context"
	"time"
)

const (
	lateEvery   = 100 * time.Millisecond
	lateSamples = 4096 // an hour's run keeps its last seven minutes
)

// lateness samples how late perch itself wakes: what it did not notice in
// time must not be blamed on the path.
type lateness struct {
	cancel  context.CancelFunc
	samples chan []time.Duration
}

func watchLateness(ctx context.Context) *lateness {
	ctx, cancel := context.WithCancel(ctx)
	l := &lateness{cancel: cancel, samples: make(chan []time.Duration, 1)}
	go l.watch(ctx)
	return l
}

func (l *lateness) watch(ctx context.Context) {
	var late ring
	timer := time.NewTimer(lateEvery)
	defer timer.Stop()
	for {
		due := time.Now().Add(lateEvery)
		timer.Reset(lateEvery)
		select {
		case <-ctx.Done():
			l.samples <- late.samples
			return
		case <-timer.C:
		}
		late.add(max(0, time.Since(due)))
	}
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

func (l *lateness) stop() []time.Duration {
	l.cancel()
	return <-l.samples
}
