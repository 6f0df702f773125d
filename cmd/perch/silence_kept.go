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
}

// silences are those of the state, by id: what two perches add at once is
// joined id by id.
type silences map[string]silence

// silencesOf reads the state's section.
func silencesOf(d state.Document) (silences, error) {
	kept := silences{}
	raw := d.Sections[sectionSilences]
	if len(raw) == 0 {
		return kept, nil
	}
	if err := json.Unmarshal(raw, &kept); err != nil {
		return silences{}, fmt.Errorf("reading the silences: %w", err)
	}
	for id, s := range kept {
		s.ID = id
		kept[id] = s
	}
	return kept, nil
}

// put writes the state's section, without what is over for long.
func (all silences) put(d *state.Document, now time.Time) error {
	kept := maps.Clone(all)
	maps.DeleteFunc(kept, func(_ string, s silence) bool { return now.Sub(s.Until) > keepSilence })
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
		if stateOf(s.Silence, now) != silenceOver {
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
		return silence{}, fmt.Errorf("%q could be %s; give more of the id", prefix, strings.Join(like, " or "))
	}
	return silence{}, fmt.Errorf("no silence %q; there are: %s (those of the config end there)", prefix, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
}

// silenceState says where a silence stands.
type silenceState string

const (
	silencePending silenceState = "pending"
	silenceActive  silenceState = "active"
	silenceOver    silenceState = "over"
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
