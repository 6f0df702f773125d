package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// health is what /healthz and /readyz answer from.
type health struct {
	mu      sync.Mutex
	phase   string               // why perch is not ready; empty: it is
	trouble string               // why the state is not; empty: it is
	due     map[string]time.Time // by when each probe, and what takes in what they find, must have gone on
}

func newHealth() *health {
	return &health{phase: "the state is not open yet", due: map[string]time.Time{}}
}

// setWaiting says why perch is not ready yet.
func (h *health) setWaiting(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.phase = why
}

func (h *health) setReady() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.phase = ""
}

// whenDone makes perch not ready once ctx ends, and returns when that was; the
// zero time: it did not yet.
func (h *health) whenDone(ctx context.Context) func() time.Time {
	var at time.Time
	context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.phase, at = "perch is stopping", time.Now()
	})
	return func() time.Time {
		h.mu.Lock()
		defer h.mu.Unlock()
		return at
	}
}

// setState takes over why the state could not be saved; nil: it could.
func (h *health) setState(unsaved error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trouble = ""
	if unsaved != nil {
		h.trouble = "the state could not be saved, and nothing is told: " + unsaved.Error()
	}
}

// expect says by when a probe will have gone on.
func (h *health) expect(id string, by time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.due[id] = by
}

// forget says that nothing is expected of it any more.
func (h *health) forget(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.due, id)
}

// unready says why perch is not ready; empty: it is.
func (h *health) unready() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return cmp.Or(h.phase, h.trouble)
}

// stuck names a probe that did not go on in time; empty: all do.
func (h *health) stuck(now time.Time) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(h.due)) {
		if by := h.due[id]; now.After(by) {
			return fmt.Sprintf("%s is stuck: it should have gone on by %s", id, by.UTC().Format(time.RFC3339))
		}
	}
	return ""
}
