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
	ring := make([]time.Duration, 0, 64)
	timer := time.NewTimer(lateEvery)
	defer timer.Stop()
	for n := 0; ; n++ {
		due := time.Now().Add(lateEvery)
		timer.Reset(lateEvery)
		select {
		case <-ctx.Done():
			l.samples <- ring
			return
		case <-timer.C:
		}
		late := max(0, time.Since(due))
		if len(ring) < lateSamples {
			ring = append(ring, late)
		} else {
			ring[n%lateSamples] = late
		}
	}
}

func (l *lateness) stop() []time.Duration {
	l.cancel()
	return <-l.samples
}
