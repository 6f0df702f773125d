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
	unkept  string               // why what a wave may send is not in the state; empty: it is
	due     map[string]time.Time // by when each loop must have gone on
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
	h.trouble, h.unkept = "", "" // a save has what was reserved, too
	if unsaved != nil {
		h.trouble = "the state could not be saved, and nothing is told: " + unsaved.Error()
	}
}

// setReserved takes over why what a wave may send could not be kept beforehand; nil:
// it was.
func (h *health) setReserved(unkept error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unkept = ""
	if unkept != nil {
		h.unkept = "what may be sent could not be reserved in the state: " + unkept.Error()
	}
}

// expect says by when a loop will have gone on.
func (h *health) expect(loop string, by time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.due[loop] = by
}

// unready says why perch is not ready; empty: it is.
func (h *health) unready() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase != "" {
		return h.phase
	}
	return cmp.Or(h.trouble, h.unkept)
}

// stuck names a loop that did not go on in time; empty: all do.
func (h *health) stuck(now time.Time) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, loop := range slices.Sorted(maps.Keys(h.due)) {
		if by := h.due[loop]; now.After(by) {
			return fmt.Sprintf("the loop of what runs %s is stuck: it should have gone on by %s", loop, by.UTC().Format(time.RFC3339))
		}
	}
	return ""
}
