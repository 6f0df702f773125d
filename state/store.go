package state

import (
	"encoding/json"
	"fmt"
	"time"
)

// Options say what a store cannot know by itself.
type Options struct {
	// Merge joins, by the section's name, what two writers made of it. A section
	// without one is joined key by key, where it is a JSON object.
	Merge map[string]Merge
}

// Merge joins a section that both sides changed since base: mine is this
// perch's, theirs what another one wrote meanwhile. base is nil when both made
// it anew. The answer must hold what each side added. It must not keep its
// arguments, and an error fails the Save, so that nothing is lost by guessing.
type Merge func(base, mine, theirs json.RawMessage) (json.RawMessage, error)

// Reservation is what a run may send at most. It is kept before the first
// request leaves, for the case that the run is killed: see Document.Reserved.
type Reservation struct {
	Most map[string]int `json:"most"` // requests, by target
	Now  time.Time      `json:"now"`  // the run's start; its UTC day is the one that counts them
	Last time.Time      `json:"last"` // when the last of them leaves at the latest
	// Before is what runs of an earlier UTC day reserved: it counts in windows, not
	// on the day.
	Before map[string]int `json:"before,omitempty"`
	// Due is when probes run, by target/probe: a run that is killed counts as one in
	// which they did. perch serve alone says so, whose ticks each have a time.
	Due map[string]time.Time `json:"due,omitempty"`
}

// AsideError says that what stands in the store could not be used, is kept
// under a new name, and that the run goes on with an empty document.
type AsideError struct {
	Path  string // what was expected: a file, or "configmap shop/perch-state"
	Aside string // where its content is now: a file, or a key of the same ConfigMap
	Newer bool   // a later version of perch wrote it; else it is corrupt
	Err   error  // what is wrong with it
	// GivenUp is the oldest copy of a ConfigMap's, which this one took the room of.
	GivenUp string
}

func (e *AsideError) Error() string {
	text := fmt.Sprintf("reading state %q: %v; it is kept as %q, and this run starts with nothing remembered: "+
		"no open incidents, no due times, no requests counted today", e.Path, e.Err, e.Aside)
	if e.GivenUp != "" {
		text += fmt.Sprintf("; the older copy %q is given up for it", e.GivenUp)
	}
	return text
}

func (e *AsideError) Unwrap() error { return e.Err }

// LockedError says that another perch uses the state.
type LockedError struct {
	Path   string // the state's file, or "configmap shop/perch-state"
	Lock   string // the lock's file, or "lease shop/perch-state"
	Holder string // "pid 12 on host a, since 2026-01-02T03:04:05Z"; empty: not known
	Hint   string // what to do beyond waiting; empty: nothing
}

func (e *LockedError) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "its process is not known"
	}
	text := fmt.Sprintf("locking state %q: another perch uses it (%s)", e.Path, holder)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// TooLargeError says that a document is beyond its store's bound. Nothing was
// written: what stood there stays. A smaller document can be saved after it.
type TooLargeError struct {
	Size, Limit int    // bytes, as the store counts them: JSON in a file, packed in a ConfigMap
	Largest     string // the part that takes the most room: `section "alert"`, "due times"
	Beside      string // the keys of others that leave so little room in a ConfigMap; empty: none
}

func (e *TooLargeError) Error() string {
	if e.Beside != "" {
		return fmt.Sprintf("%d bytes are more than the %d that others leave here; move what is not perch's (%s) to a ConfigMap of its own", e.Size, e.Limit, e.Beside)
	}
	return fmt.Sprintf("%d bytes are more than the %d allowed; the largest part is %s", e.Size, e.Limit, e.Largest)
}
