package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/state"
)

// keepSilence is how long a silence that is over is still listed.
const keepSilence = 7 * 24 * time.Hour

// silence is one that the state keeps.
type silence struct {
	alert.Silence
	By string `json:"by,omitempty"` // who added it
	// unread is what stands in the state where it cannot be read: it mutes
	// nothing, and stays there until somebody ends it.
	unread json.RawMessage
}

// silences are those of the state, by id: what two perches add at once is
// joined id by id.
type silences map[string]silence

// silencesOf reads the state's section. With an error come those that could be
// read, the others among them as they stand; nil: none could.
func silencesOf(d state.Document) (silences, error) {
	kept := silences{}
	raw := d.Sections[sectionSilences]
	if len(raw) == 0 {
		return kept, nil
	}
	var entries map[string]json.RawMessage // null is none
	if err := json.Unmarshal(raw, &entries); err != nil {
		return nil, fmt.Errorf("reading the silences: %w (the section %q stays as it is, and mutes nothing)", err, sectionSilences)
	}
	var problems []error
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		var s silence
		if err := json.Unmarshal(entries[id], &s); err != nil {
			s = silence{unread: entries[id]}
			problems = append(problems, fmt.Errorf("reading the silence %q: %w (it mutes nothing; perch silence expire %s removes it)", id, err, id))
		}
		s.ID = id
		kept[id] = s
	}
	return kept, errors.Join(problems...)
}

// surelyPast returns an instant that is over by the clock, and by those of the
// last two runs: one that is far ahead forgets no silence. Zero: fewer runs are
// known, and nothing is forgotten yet.
func surelyPast(d state.Document, now time.Time) time.Time {
	for _, said := range []time.Time{d.Clocks.Last, d.Clocks.Before} {
		if said.Before(now) {
			now = said
		}
	}
	return now
}

// put writes the state's section, without what was over for long at that time,
// which is surelyPast.
func (all silences) put(d *state.Document, past time.Time) error {
	kept := map[string]any{}
	for id, s := range all {
		switch {
		case s.unread != nil:
			kept[id] = s.unread
		case past.Sub(s.Until) <= keepSilence:
			kept[id] = s
		}
	}
	if len(kept) == 0 {
		d.SetSection(sectionSilences, nil)
		return nil
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("writing the silences: %w", err)
	}
	d.SetSection(sectionSilences, raw)
	return nil
}

// silences returns what mutes now or later: the config's and the state's.
func (p *pass) silences(now time.Time) []alert.Silence {
	var all []alert.Silence
	for _, s := range p.cfg.Alerts.Silences {
		all = append(all, alert.Silence{Match: s.Match, From: s.From, Until: s.Until, Reason: s.Reason})
	}
	for _, s := range p.silenced.inOrder() {
		all = append(all, s.Silence)
	}
	return slices.DeleteFunc(all, func(s alert.Silence) bool { return !s.Active(now) })
}

// inOrder returns them by their begin.
func (all silences) inOrder() []silence {
	return slices.SortedFunc(maps.Values(all), func(a, b silence) int {
		return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.ID, b.ID))
	})
}

// expire ends those whose ids begin so, now. What is over stays as it is.
func (all silences) expire(prefixes []string, now time.Time) ([]silence, error) {
	var ended []silence
	var problems []error
	for _, prefix := range prefixes {
		s, err := all.find(prefix)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		switch {
		case s.unread != nil:
			s.Until = now
			delete(all, s.ID)
		case stateOf(s.Silence, now) != silenceOver:
			s.Until = now.UTC().Truncate(time.Second)
			all[s.ID] = s
		}
		ended = append(ended, s)
	}
	return ended, errors.Join(problems...)
}

func (all silences) find(prefix string) (silence, error) {
	var like []string
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(id, prefix) {
			like = append(like, id)
		}
	}
	switch {
	case prefix == "" || len(all) == 0:
		return silence{}, fmt.Errorf("no silence %q: the state keeps none", prefix)
	case len(like) == 1:
		return all[like[0]], nil
	case len(like) > 1:
		return silence{}, fmt.Errorf("%q could be %s; give more of the id", prefix, someOf(like, " or "))
	}
	return silence{}, fmt.Errorf("no silence %q; there are: %s (those of the config end there)", prefix, someOf(slices.Sorted(maps.Keys(all)), ", "))
}

// someOf names the first few: nobody reads thousands.
func someOf(ids []string, between string) string {
	const most = 10
	if len(ids) <= most {
		return strings.Join(ids, between)
	}
	return strings.Join(ids[:most], between) + fmt.Sprintf(" and %d more (perch silence list)", len(ids)-most)
}

// silenceState says where a silence stands.
type silenceState string

const (
	silencePending silenceState = "pending"
	silenceActive  silenceState = "active"
	silenceOver    silenceState = "over"
	// silenceUnreadable is one of the state that mutes nothing.
	silenceUnreadable silenceState = "unreadable"
)

func stateOf(s alert.Silence, now time.Time) silenceState {
	switch {
	case !now.Before(s.Until):
		return silenceOver
	case now.Before(s.From):
		return silencePending
	}
	return silenceActive
}

// matched returns the config's probes that a pattern means, "target/probe"
// each.
func matched(pattern string, cfg config.Config) []string {
	one := alert.Silence{Match: pattern}
	return slices.DeleteFunc(probesOf(cfg), func(id string) bool { return !one.Matches(id) })
}

// probesOf are the "target/probe" of the whole config.
func probesOf(cfg config.Config) []string {
	var ids []string
	for _, t := range cfg.Targets {
		for _, s := range t.Probes {
			ids = append(ids, s.ID())
		}
	}
	return ids
}
