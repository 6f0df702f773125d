//go:build peers

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"perch.example/alert"
	"perch.example/internal/slackfake"
	"perch.example/probes"
	"perch.example/state"
)

// weekSeed is the week that is lived through: any other should do as well.
const weekSeed = 1

const weekHook = "slack: {webhook: {from: {env: HOOK}}}\nstate: {file: unused}\n"

// TestHealthyWeek: servers that tick, reload twice an hour, are deployed once a
// day, close a connection early now and then, and answer late now and then, are
// no incident, in 10,080 runs.
func TestHealthyWeek(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { healthyWeek(t, weekSeed) })
}

func healthyWeek(t *testing.T, seed uint64) {
	fake := slackfake.New(slackfake.Config{
		Hooks: []slackfake.Hook{{Path: "/services/T/B/x", Channel: "C0ALERTS1"}}, Channels: []slackfake.Channel{{ID: "C0ALERTS1", Name: "alerts"}},
	})
	w := newWorld(t, seed, weekConfig+weekHook, map[string]string{"HOOK": "https://hooks.slack.com/services/T/B/x"})
	w.web = fake.Transport()
	store := &memoryStore{}
	verdicts := map[string]int{}
	for n := range weekRuns {
		run, err := w.pass(t.Context(), store, func() {})
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range run.Problems {
			w.say(n, "perch could not do its own part: %s", problem.Text)
		}
		for _, o := range run.Outcomes {
			verdicts[fmt.Sprintf("%s %s %s", o.ID(), o.Verdict, o.Diagnosis)]++
		}
		for _, i := range store.memory(t).Open() {
			w.say(n, "%s/%s is firing", i.Target, i.Family)
			sayOutcomes(t, run, i.Target)
		}
		if t.Failed() {
			return
		}
		w.nextMinute()
	}
	for _, e := range fake.Events() {
		if e.Title != "" && !isDigest(e.Title) {
			t.Errorf("%s: told %q", e.At.UTC().Format("Mon 15:04"), e.Title)
		}
	}
	sayTally(t, verdicts)
	needTally(t, verdicts)
}

// needTally: a week that met none of what it is about proves nothing.
func needTally(t *testing.T, verdicts map[string]int) {
	t.Helper()
	for _, met := range []string{
		"degraded mass_close", "degraded undeclared_close", "degraded early_close", "fail slow", "fail unreachable",
	} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(verdicts)), func(name string) bool { return strings.HasSuffix(name, met) }) {
			t.Errorf("nothing was %s in this week", met)
		}
	}
}

func sayTally(t *testing.T, verdicts map[string]int) {
	t.Helper()
	var names []string
	for name := range verdicts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Logf("%6d %s", verdicts[name], name)
	}
}

func sayOutcomes(t *testing.T, run probes.Run, target string) {
	t.Helper()
	for _, o := range run.Outcomes {
		if o.Target == target {
			t.Logf("%s hold %s: %s %s %s: %s", o.ID(), o.Hold, o.Verdict, o.Reason, o.Diagnosis, o.Message)
		}
	}
}

func isDigest(title string) bool { return len(title) >= 6 && title[:6] == "DIGEST" }

// memoryStore keeps the state as it would stand in a file, and nothing else.
type memoryStore struct{ stored []byte }

func (s *memoryStore) Load(context.Context) (state.Document, error) {
	var d state.Document
	if len(s.stored) == 0 {
		return d, nil
	}
	err := json.Unmarshal(s.stored, &d)
	return d, err
}

func (s *memoryStore) Reserve(context.Context, state.Reservation) error { return nil }

func (s *memoryStore) Save(_ context.Context, d state.Document) (err error) {
	s.stored, err = json.Marshal(d)
	return err
}

func (s *memoryStore) Warning() string             { return "" }
func (s *memoryStore) Close(context.Context) error { return nil }

func (s *memoryStore) memory(t *testing.T) alert.Memory {
	t.Helper()
	d, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var m alert.Memory
	if raw := d.Sections[sectionAlert]; len(raw) > 0 {
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
	}
	return m
}
