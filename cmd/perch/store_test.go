package main

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"perch.example/alert"
	"perch.example/probes"
	"perch.example/state"
)

// TestWhatASaveSays: a damaged state that was kept aside is no reason not to
// tell, a turn that was lost is: another perch may be telling the same.
func TestWhatASaveSays(t *testing.T) {
	t.Parallel()
	aside := &state.AsideError{Path: "state", Aside: "state.corrupt", Err: errors.New("no gzip")}
	lost := &state.LostError{Lock: "lease shop/perch-state"}
	for _, c := range []struct {
		name string
		err  error
		want []string
	}{
		{"damaged", aside, []string{"reserve", "push", "save failed", "slack", "save failed", "push"}},
		{"lost", lost, []string{"reserve", "push", "save failed", "save failed"}},
		{"both", errors.Join(lost, aside), []string{"reserve", "push", "save failed", "save failed"}},
	} {
		d := &diary{fails: func(event string, _ int) error {
			if event == "save" {
				return c.err
			}
			return nil
		}}
		p, _ := newPass(t, noted, d)
		run := take(t, p, probes.VerdictFail)
		if !slices.Equal(d.events, c.want) {
			t.Errorf("%s: %q, want %q", c.name, d.events, c.want)
		}
		if len(run.Problems) != 1 || run.Problems[0].Part != probes.PartState {
			t.Errorf("%s: problems %v, want one of the state", c.name, run.Problems)
		}
	}
}

// TestJoinedMemories keep this run's incidents and every notice.
func TestJoinedMemories(t *testing.T) {
	t.Parallel()
	memory := func(count int, ids ...string) json.RawMessage {
		m := alert.Memory{Count: count}
		for _, id := range ids {
			m.Outbox = append(m.Outbox, alert.Notice{ID: id, Ways: []alert.Way{{Destination: toSlack}}})
		}
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for _, c := range []struct {
		name               string
		base, mine, theirs json.RawMessage
		want               []string
	}{
		{"theirs are told too", memory(1, "old"), memory(2, "mine"), memory(3, "old", "theirs"), []string{"mine", "theirs"}},
		{"what I told is not told again", memory(1, "old"), memory(1), memory(1, "old"), nil},
		{"the same of both once", memory(0), memory(1, "a/b#1 firing"), memory(1, "a/b#1 firing"), []string{"a/b#1 firing"}},
		{"without a base", nil, memory(1, "mine"), memory(1, "theirs"), []string{"mine", "theirs"}},
	} {
		raw, err := joinMemories(c.base, c.mine, c.theirs)
		if err != nil {
			t.Fatal(err)
		}
		var got alert.Memory
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, n := range got.Outbox {
			ids = append(ids, n.ID)
		}
		if !slices.Equal(ids, c.want) {
			t.Errorf("%s: %q, want %q", c.name, ids, c.want)
		}
	}
	if _, err := joinMemories(nil, json.RawMessage(`{}`), json.RawMessage(`7`)); err == nil {
		t.Error("a memory that cannot be read is joined")
	}
}
