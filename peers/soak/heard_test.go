//go:build soak

package soak

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"perch.example/alert"
)

// heard is what the webhook was told. It is an http.Handler.
type heard struct {
	mu        sync.Mutex
	incidents map[string]told // by name: what was said last
	broken    []string
}

type told = alert.DocumentIncident

func (h *heard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // killed while it sent: nothing was told
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.incidents == nil {
		h.incidents = map[string]told{}
	}
	var d alert.Document
	if err := json.Unmarshal(body, &d); err != nil {
		h.broken = append(h.broken, fmt.Sprintf("%v: %.300s", err, body))
		return
	}
	for _, i := range d.Incidents {
		if h.incidents[i.Name].Ended.IsZero() { // what is said to be over stays over
			h.incidents[i.Name] = i
		}
	}
	w.WriteHeader(http.StatusOK)
}

// open are the incidents that were told, and whose end was not.
func (h *heard) open() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []string
	for name, i := range h.incidents {
		if i.Ended.IsZero() {
			all = append(all, name)
		}
	}
	return all
}

// count is how many incidents were told. What was no notice is an error.
func (h *heard) count(t *testing.T) int {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.broken {
		t.Errorf("the webhook got what is no notice: %s", b)
	}
	return len(h.incidents)
}

// checkTold: of each long outage an incident was told that was open in it.
func (h *heard) checkTold(t *testing.T, outages []outage) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range outages {
		found := false
		for _, i := range h.incidents {
			found = found || i.Target == o.target && i.Since.Before(o.to) && !i.Ended.Before(o.from)
		}
		if !found {
			t.Errorf("%s failed %d requests from %s to %s, and nobody was told; told were %+v", o.target, o.complained, o.from, o.to, h.incidents)
		}
	}
}
