package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"perch.example/alert"
	"perch.example/probes"
)

// TestJoinedIncidents: what another perch told as opened has to end, whoever
// lost the turn.
func TestJoinedIncidents(t *testing.T) {
	t.Parallel()
	one := func(number int, target string, at alert.State, failed int, announced bool) alert.Incident {
		return alert.Incident{Number: number, Target: target, Family: probes.FamilyContract, State: at, Failed: failed, Announced: announced}
	}
	firing := one(1, "api", alert.StateFiring, 2, true)
	pending := one(1, "api", alert.StatePending, 1, false)
	over := one(1, "api", alert.StateResolved, 2, true)
	other := one(1, "other", alert.StatePending, 1, false)
	type all = []alert.Incident
	for _, c := range []struct {
		name               string
		base, mine, theirs all
		want               []string // name state failed
	}{
		{"theirs is new", nil, nil, all{firing}, []string{"api/contract#1 firing 2"}},
		{"each has a new one of a target", nil, all{other}, all{firing}, []string{"other/contract#1 pending 1", "api/contract#1 firing 2"}},
		{"both have a new one of one target: mine", nil, all{pending}, all{one(1, "api", alert.StatePending, 9, false)}, []string{"api/contract#1 pending 1"}},
		{"unless theirs alone was told", nil, all{pending}, all{firing}, []string{"api/contract#1 firing 2"}},
		{"by another number too", nil, all{pending}, all{one(3, "api", alert.StateFiring, 5, true)}, []string{"api/contract#3 firing 5"}},
		{"changed by them alone", all{pending}, all{pending}, all{firing}, []string{"api/contract#1 firing 2"}},
		{"changed by me alone", all{firing}, all{over}, all{firing}, []string{"api/contract#1 resolved 2"}},
		{"changed by both: mine", all{firing}, all{one(1, "api", alert.StateFiring, 3, true)}, all{over}, []string{"api/contract#1 firing 3"}},
		{"forgotten by me", all{over}, nil, all{over}, nil},
		{"mine is over, theirs began anew", all{firing}, all{over}, all{over, one(2, "api", alert.StateFiring, 1, true)}, []string{"api/contract#1 resolved 2", "api/contract#2 firing 1"}},
	} {
		var got []string
		for _, i := range joinIncidents(c.base, c.mine, c.theirs) {
			got = append(got, fmt.Sprintf("%s %s %d", i.Name(), i.State, i.Failed))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestJoinedRest: numbers go on behind both, and threads, muted ends and a
// digest of theirs stay.
func TestJoinedRest(t *testing.T) {
	t.Parallel()
	raw := func(m alert.Memory) json.RawMessage {
		t.Helper()
		content, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	base := alert.Memory{Count: 1, Threads: map[string]alert.Thread{"gone": {Root: "1"}, "mine": {Root: "1"}}}
	mine := alert.Memory{Count: 2, Threads: map[string]alert.Thread{"mine": {Root: "2"}}}
	theirs := alert.Memory{
		Count:   5,
		Threads: map[string]alert.Thread{"gone": {Root: "1"}, "mine": {Root: "3"}, "theirs": {Root: "4"}},
		Muted:   []alert.Notice{{ID: "api/contract#5 resolved"}}, Digest: alert.Digest{Day: "2026-11-30"},
	}
	joined, err := joinMemories(raw(base), raw(mine), raw(theirs))
	if err != nil {
		t.Fatal(err)
	}
	var got alert.Memory
	if err := json.Unmarshal(joined, &got); err != nil {
		t.Fatal(err)
	}
	if got.Count != 5 || len(got.Threads) != 2 || got.Threads["mine"].Root != "2" || got.Threads["theirs"].Root != "4" ||
		len(got.Muted) != 1 || got.Digest.Day != "2026-11-30" {
		t.Errorf("joined: %s", joined)
	}
}
