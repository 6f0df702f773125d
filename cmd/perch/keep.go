package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"perch.example/alert"
	"perch.example/probes"
	"perch.example/state"
)

// The sections of the state that are not its own.
const (
	sectionAlert = "alert" // alert.Memory
)

// keeper keeps what survives between runs, and lets one perch at a time use it.
type keeper interface {
	Load(context.Context) (state.Document, error)
	Save(context.Context, state.Document) error
	Close(context.Context) error
}

// load opens the state, where the config has one, and reads it.
func (p *pass) load(ctx context.Context) error {
	if p.store == nil {
		if !p.cfg.State.Kept() {
			return nil
		}
		store, err := p.openStore()
		if err != nil {
			return own(err)
		}
		p.store = store
	}
	var err error
	p.doc, err = p.store.Load(ctx)
	var aside *state.AsideError
	if errors.As(err, &aside) {
		p.problem(probes.PartState, err) // the run goes on, as the first
		return nil
	}
	if err != nil {
		p.close(ctx)
		return own(err)
	}
	p.memory = p.readMemory()
	return nil
}

func (p *pass) openStore() (keeper, error) {
	return state.OpenFile(p.cfg.State.File, state.Options{})
}

func (p *pass) close(ctx context.Context) {
	if p.store == nil {
		return
	}
	if err := p.store.Close(context.WithoutCancel(ctx)); err != nil {
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
		p.problem(probes.PartState, fmt.Errorf("reading the alert memory: %w (it starts anew)", err))
		return alert.Memory{}
	}
	return m
}

// save writes all that the run knows by now, and reports whether it is kept.
func (p *pass) save(ctx context.Context) bool {
	ctx, cancel := share(ctx)
	defer cancel()
	err := p.put()
	if err == nil {
		err = p.store.Save(ctx, p.doc)
	}
	if err != nil {
		p.problem(probes.PartState, err)
	}
	return err == nil
}

// put brings the document's sections up to date.
func (p *pass) put() error {
	memory, err := json.Marshal(p.memory)
	if err != nil {
		return fmt.Errorf("writing the alert memory: %w", err)
	}
	p.doc.SetSection(sectionAlert, memory)
	return nil
}
