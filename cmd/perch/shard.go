package main

import (
	"errors"
	"fmt"
	"strconv"

	"perch.example/config"
)

// Kubernetes gives each Pod of an Indexed Job its index, and no Pod the number
// of them: that one the manifest sets.
const (
	envShardIndex = "JOB_COMPLETION_INDEX"
	envShardCount = "JOB_COMPLETION_COUNT"
)

// shardHere is the shard that this Pod's environment names; whole where it names
// none. A variable that is empty counts as not set.
func shardHere(env func(string) (string, bool)) (config.Shard, error) {
	index, _ := env(envShardIndex)
	count, _ := env(envShardCount)
	switch {
	case index == "" && count == "":
		return config.Shard{}, nil
	case count == "":
		return config.Shard{}, fmt.Errorf("%s is %q and %s is not set: every Pod of the Job would probe all targets; "+
			"set it to the Job's completions, as `perch manifest --kind indexed-job` does", envShardIndex, index, envShardCount)
	case index == "":
		return config.Shard{}, fmt.Errorf("%s is %q and %s is not set, which Kubernetes does for a Job with completionMode: Indexed; "+
			"use such a Job, or leave %s out", envShardCount, count, envShardIndex, envShardCount)
	}
	shards, err := shardCount(envShardCount, count)
	if err != nil {
		return config.Shard{}, err
	}
	n, err := strconv.ParseUint(index, 10, 32)
	if err != nil || int(n) >= shards {
		return config.Shard{}, fmt.Errorf("%s is %q: want 0 to %d, for %s is %d", envShardIndex, index, shards-1, envShardCount, shards)
	}
	return config.Shard{Index: int(n), Count: shards}, nil
}

// shardCount reads how many shards there are.
func shardCount(name, text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n < 1 || n > config.MaxShards {
		return 0, fmt.Errorf("%s is %q: want a whole number from 1 to %d", name, text, config.MaxShards)
	}
	return int(n), nil
}

// shardsOf are the config in each of its shards; without shards the config alone.
// flag is the value of --shards, which is for those who sit outside of the Job;
// empty: what the environment says.
func shardsOf(sys system, cfg config.Config, flag string) ([]config.Config, error) {
	name := "--shards"
	if flag == "" {
		name = envShardCount
		flag, _ = sys.env(envShardCount)
	}
	if flag == "" {
		if index, _ := sys.env(envShardIndex); index != "" {
			return nil, errors.New(envShardIndex + " is set and " + envShardCount + " is not: say with --shards how many shards there are")
		}
		return []config.Config{cfg}, nil
	}
	count, err := shardCount(name, flag)
	if err != nil {
		return nil, err
	}
	all := make([]config.Config, 0, count)
	for i := range count {
		all = append(all, cfg.InShard(config.Shard{Index: i, Count: count}))
	}
	return all, nil
}
