package main

import (
	"context"
	"sync/atomic"
	"time"

	"perch.example/probes"
)

// flushWithin is how long finish may take once perch was told to end, before
// finish or in the middle of it: the kubelet's patience after SIGTERM is short.
const flushWithin = 4 * time.Second

func flushTime(run probes.Run) time.Duration {
	if run.CutShort != "" {
		return flushWithin
	}
	return time.Minute
}

// hurry is what shortens the stages of finish.
type hurry struct {
	signal context.Context // done: perch was told to end; a context, for AfterFunc
	since  atomic.Int64    // then, in nanoseconds of Unix; 0: it was not
}

// bounded gives finish its time, of which a signal leaves flushWithin.
func (p *pass) bounded(signal context.Context, within time.Duration) (context.Context, context.CancelFunc) {
	h := &hurry{signal: signal}
	p.hurry = h
	ctx, cancel := context.WithTimeout(context.WithoutCancel(signal), within)
	stop := context.AfterFunc(signal, func() {
		h.since.Store(time.Now().UnixNano())
		time.AfterFunc(flushWithin, cancel)
	})
	return ctx, func() {
		stop()
		cancel()
	}
}

// share gives one stage half of the time that is left: one that hangs does not
// take the others' time.
func (p *pass) share(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok || p.hurry == nil {
		return context.WithCancel(ctx)
	}
	if since := p.hurry.since.Load(); since != 0 {
		if cut := time.Unix(0, since).Add(flushWithin); cut.Before(deadline) {
			deadline = cut
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Until(deadline)/2)
	stop := context.AfterFunc(p.hurry.signal, func() { time.AfterFunc(flushWithin/2, cancel) })
	return ctx, func() {
		stop()
		cancel()
	}
}
