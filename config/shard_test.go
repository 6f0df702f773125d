package config

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"perch.example/probes"
)

// TestShardsNeverChange: each shard's state knows its own targets, so another
// answer here, in any version to come, would begin every one of them anew.
func TestShardsNeverChange(t *testing.T) {
	want := map[string][4]int{ // of 2, 3, 4 and 16 shards
		"stock-api": {1, 2, 2, 11},
		"payments":  {1, 1, 1, 12},
		"search":    {0, 0, 0, 0},
		"geo":       {1, 2, 2, 4},
		"mail":      {1, 2, 2, 15},
		"a":         {0, 0, 3, 3},
		"b":         {1, 1, 1, 5},
		"target-1":  {1, 2, 2, 7},
		"target-2":  {1, 2, 3, 15},
		"target-3":  {0, 2, 2, 11},
	}
	for name, shards := range want {
		got := [4]int{shardOf(name, 2), shardOf(name, 3), shardOf(name, 4), shardOf(name, 16)}
		if got != shards {
			t.Errorf("%q: %v, want %v", name, got, shards)
		}
	}
}

// TestShardsSpread: of many targets each shard gets about as many.
func TestShardsSpread(t *testing.T) {
	const targets = 10_000
	for _, count := range []int{1, 2, 5, 16} {
		held := make([]int, count)
		for n := range targets {
			held[shardOf(fmt.Sprintf("service-%d", n), count)]++
		}
		fair := targets / count
		if least, most := slices.Min(held), slices.Max(held); least < fair*85/100 || most > fair*115/100 {
			t.Errorf("%d shards hold %v of %d targets", count, held, targets)
		}
	}
}

// TestOneShardMore moves only what the new one takes: all else keeps its state.
func TestOneShardMore(t *testing.T) {
	moved := 0
	for n := range 1000 {
		name := fmt.Sprintf("service-%d", n)
		before, after := shardOf(name, 4), shardOf(name, 5)
		if before != after {
			moved++
			if after != 4 {
				t.Errorf("%q moved from %d to %d", name, before, after)
			}
		}
	}
	if moved < 150 || moved > 250 { // a fifth
		t.Errorf("%d of 1000 moved", moved)
	}
}

// TestInShard: a shard has its targets in their order and names of its own; the
// whole config is not changed.
func TestInShard(t *testing.T) {
	whole := Config{State: State{File: "/var/lib/perch/state", ConfigMap: "perch-state"}, Metrics: Metrics{Textfile: "/out/perch.prom"}}
	for n := range 20 {
		whole.Targets = append(whole.Targets, probes.Target{Name: fmt.Sprintf("t%d", n)})
	}
	before := slices.Clone(whole.Targets)
	seen := map[string]int{}
	for i := range 3 {
		part := whole.InShard(Shard{i, 3})
		if part.State.File != fmt.Sprintf("/var/lib/perch/state-%d", i) || part.State.ConfigMap != fmt.Sprintf("perch-state-%d", i) || part.Metrics.Textfile != fmt.Sprintf("/out/perch-%d.prom", i) {
			t.Errorf("shard %d: %+v, %+v", i, part.State, part.Metrics)
		}
		if said, want := part.Shard.String(), fmt.Sprintf("shard %d of 3", i); said != want {
			t.Errorf("it is %q, want %q", said, want)
		}
		for _, target := range part.Targets {
			seen[target.Name]++
		}
	}
	if len(seen) != 20 || slices.Max(slices.Collect(maps.Values(seen))) != 1 {
		t.Errorf("the shards hold %v", seen)
	}
	if !slices.EqualFunc(before, whole.Targets, func(a, b probes.Target) bool { return a.Name == b.Name }) {
		t.Error("the whole config was changed")
	}
	if all := whole.InShard(Shard{}); len(all.Targets) != 20 || all.State != whole.State || all.Shard.String() != "" {
		t.Errorf("the whole: %+v", all)
	}
}

// TestShardPaths: the ending says to readers what a file is, and stays behind.
func TestShardPaths(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "state": "state-7", "a.d/state": "a.d/state-7", "/x/perch.prom": "/x/perch-7.prom", "x/.state": "x/.state-7", "a.b.json": "a.b-7.json",
	} {
		if got := (Shard{7, 9}).path(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
