package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"perch.example/alert"
	"perch.example/probes"
	"perch.example/state"
)

// The sections of the state that are not its own.
const (
	sectionAlert    = "alert"    // alert.Memory
	sectionMetrics  = "metrics"  // metrics.Metrics.Snapshot
	sectionSilences = "silences" // silences
)

// How long the state may take before the first request and after the last one.
// In between finish has its own time.
const (
	reserveWithin = 10 * time.Second
	closeWithin   = 3 * time.Second
)

// keeper keeps what survives between runs, and lets one perch at a time use it.
type keeper interface {
	Load(context.Context) (state.Document, error)
	Reserve(context.Context, state.Reservation) error
	Save(context.Context, state.Document) error
	Warning() string // after a Save; empty: nothing needs care
	Close(context.Context) error
}

// load opens the state, where the config has one, and reads it.
func (p *pass) load(ctx context.Context) error {
	if p.store == nil {
		if !p.cfg.State.Kept() {
			return nil
		}
		store, err := openState(ctx, p.sys, p.cfg, p.turn)
		if err != nil {
			return own(err)
		}
		p.store = store
	}
	var err error
	p.doc, err = p.store.Load(ctx)
	var aside *state.AsideError
	switch {
	case errors.As(err, &aside):
		p.problem(probes.PartState, err) // the run goes on, as the first
		p.doc.Name = p.cfg.Name
		return nil
	case err != nil:
		p.close(ctx)
		return own(err)
	}
	p.doc.BoundSent(p.sys.clock())
	if err := p.adopt(); err != nil {
		p.close(ctx)
		return err
	}
	p.past = surelyPast(p.doc, p.sys.clock())
	p.memory = p.readMemory()
	if p.silenced, err = silencesOf(p.doc); err != nil {
		p.problem(probes.PartState, err) // what could be read mutes
	}
	return nil
}

func (p *pass) close(ctx context.Context) {
	if p.store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	if err := p.store.Close(ctx); err != nil {
		p.log.Error("closing the state", "error", err)
	}
	p.store = nil
}

func (p *pass) readMemory() alert.Memory {
	raw := p.doc.Sections[sectionAlert]
	if len(raw) == 0 {
		return alert.Memory{}
	}
	var m alert.Memory
	if err := json.Unmarshal(raw, &m); err != nil {
		p.problem(probes.PartState, fmt.Errorf("reading the alert memory: %w (it starts anew; what stood there is kept as section %q)", err, p.setAside(sectionAlert)))
		return alert.Memory{}
	}
	return m
}

// unreadable is in the names of sections that hold what could not be read.
const unreadable = ".unreadable-"

// setAside keeps a section that cannot be read under another name, which it
// returns, in place of an earlier one: the section itself is written anew.
func (p *pass) setAside(section string) string {
	raw := p.doc.Sections[section]
	p.dropAside(section)
	name := section + unreadable + p.sys.clock().UTC().Format("20060102T150405Z")
	p.doc.SetSection(name, raw)
	return name
}

// dropAside forgets what was set aside of a section; empty: of all. It reports
// whether there was any.
func (p *pass) dropAside(section string) bool {
	found := false
	for name := range p.doc.Sections {
		if of, _, aside := strings.Cut(name, unreadable); aside && (section == "" || of == section) {
			p.doc.SetSection(name, nil)
			found = true
		}
	}
	return found
}

// save writes all that the run knows by now, and reports whether it is kept.
func (p *pass) save(ctx context.Context) bool {
	ctx, cancel := p.share(ctx)
	defer cancel()
	err := p.put()
	if err == nil {
		err = p.saveSmaller(ctx)
	}
	// What stood there was damaged, and is kept aside: this stands there now. A
	// turn that was lost is no such case, though this is saved: another perch may
	// be telling and pushing what it knows.
	var aside *state.AsideError
	var lost *state.LostError
	saved := err == nil || errors.As(err, &aside) && !errors.As(err, &lost)
	p.unsaved = nil
	if !saved {
		p.unsaved = err
	}
	if err != nil {
		p.problem(probes.PartState, err)
	}
	if warning := p.store.Warning(); warning != "" && saved {
		p.log.Warn("state", "warning", warning)
	}
	return saved
}

// saveSmaller saves, and where the state is too large, drops what is needed
// least until it fits.
func (p *pass) saveSmaller(ctx context.Context) error {
	before := len(p.memory.Incidents)
	for {
		err := p.store.Save(ctx, p.toSave())
		var large *state.TooLargeError
		if !errors.As(err, &large) {
			return err
		}
		smaller, done := p.memory.Shrink()
		if !done {
			if !p.dropAside("") {
				return err
			}
			p.log.Warn("the state is too large: the sections that could not be read, and were kept, are dropped", "error", err)
			continue
		}
		p.log.Warn("the state is too large: what is needed least is dropped", "error", err, "incidents", before, "kept", len(smaller.Incidents))
		p.memory = smaller
		if err := p.put(); err != nil {
			return err
		}
	}
}

// put brings the document's sections up to date.
func (p *pass) put() error {
	memory, err := json.Marshal(p.memory)
	if err != nil {
		return fmt.Errorf("writing the alert memory: %w", err)
	}
	p.doc.SetSection(sectionAlert, memory)
	if p.measures() {
		snapshot, err := p.metrics.Snapshot()
		if err != nil {
			return fmt.Errorf("writing the metrics: %w", err)
		}
		p.doc.SetSection(sectionMetrics, snapshot)
	}
	p.putUnsent()
	if p.silenced == nil {
		return nil // they could not be read
	}
	return p.silenced.put(&p.doc, p.past)
}
