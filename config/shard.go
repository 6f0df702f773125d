package config

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"perch.example/probes"
)

// MaxShards bounds a shard's Count: there are at most 1000 targets.
const MaxShards = 1000

// Shard is one of Count parts of a config's targets. The zero value is all of
// them.
type Shard struct{ Index, Count int }

// Whole reports whether the config is not split.
func (s Shard) Whole() bool { return s.Count == 0 }

// Name is what is put behind the names of what each shard has of its own, and the
// value of the label shard: its index. Empty for the whole.
func (s Shard) Name() string {
	if s.Whole() {
		return ""
	}
	return strconv.Itoa(s.Index)
}

// String is "shard 0 of 4", as Kubernetes counts them; empty for the whole.
func (s Shard) String() string {
	if s.Whole() {
		return ""
	}
	return fmt.Sprintf("shard %d of %d", s.Index, s.Count)
}

// Holds reports whether a target is the shard's. A target is in one shard, whole,
// so that no budget is divided. It depends on the target's name and on Count
// alone: a target that is added or removed moves no other, and one shard more
// moves only those that it takes. Of two targets at one host each has a budget of
// its own, in one shard or in two.
func (s Shard) Holds(target string) bool { return s.Whole() || shardOf(target, s.Count) == s.Index }

// shardOf is the shard whose hash with the target's name is the largest
// (rendezvous hashing). What it answers can never change: each shard's state
// knows its targets only.
func shardOf(target string, shards int) int {
	best, most := 0, uint64(0)
	for i := range shards {
		sum := sha256.Sum256([]byte(target + "\x00" + strconv.Itoa(i)))
		if weight := binary.BigEndian.Uint64(sum[:]); i == 0 || weight > most {
			best, most = i, weight
		}
	}
	return best
}

// InShard is the config with the shard's targets alone, and with a state and a text
// file of the shard's own. The whole stays as it is.
func (c Config) InShard(s Shard) Config {
	if s.Whole() {
		return c
	}
	c.Shard, c.AllTargets = s, c.Targets
	c.Targets = slices.DeleteFunc(slices.Clone(c.Targets), func(t probes.Target) bool { return !s.Holds(t.Name) })
	c.State.File, c.Metrics.Textfile = s.path(c.State.File), s.path(c.Metrics.Textfile)
	if c.State.ConfigMap != "" {
		c.State.ConfigMap += "-" + s.Name()
	}
	return c
}

// path puts the shard behind a file's name, and before its ending, which says to
// readers what it is. Empty: none stays none.
func (s Shard) path(name string) string {
	if name == "" {
		return ""
	}
	folder, base := filepath.Split(name)
	ending := filepath.Ext(base)
	if ending == base { // .state has a name and no ending
		ending = ""
	}
	return folder + strings.TrimSuffix(base, ending) + "-" + s.Name() + ending
}
