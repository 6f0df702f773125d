package plan

import (
	"path"
	"slices"
	"strings"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

// job is one chosen probe.
type job struct {
	spec  *probes.Spec
	due   bool
	rungs []rung // idle: longest first
	left  []rung // that could go, for others to fit
	notes []string
	next  time.Duration // when its next step may start at the earliest
}

// choose returns a desk for each target of which a probe is chosen.
func choose(c config.Config, o Options, refusal *Refusal) []*desk {
	patterns := checkedPatterns(c, o.Only, refusal)
	var desks []*desk
	for i := range c.Targets {
		t := &c.Targets[i]
		d := &desk{target: t, sent: o.Sent[t.Name]}
		d.clear()
		for k := range t.Probes {
			s := &t.Probes[k]
			if len(o.Only) > 0 && !slices.ContainsFunc(patterns, func(p string) bool { return matches(p, t.Name, s.ID()) }) {
				continue
			}
			j := &job{spec: paced(s, t), due: o.Due == nil || o.Due(*s)}
			if s.Kind == probes.KindIdle {
				d.climb(j, o, c.Policy)
			}
			d.jobs = append(d.jobs, j)
		}
		if len(d.jobs) > 0 {
			d.fitDay()
			desks = append(desks, d)
		}
	}
	return desks
}

// checkedPatterns returns the patterns of --only that are good. A pattern that
// matches nothing is a problem: a typing mistake must not pass as a good run.
func checkedPatterns(c config.Config, only []string, refusal *Refusal) []string {
	var good []string
	for _, pattern := range only {
		if _, err := path.Match(pattern, ""); err != nil {
			refusal.add("--only "+pattern, "not a pattern: a [ needs its ], a \\ a character after it")
			continue
		}
		if !matchesAny(c, pattern) {
			refusal.add("--only "+pattern, "matches nothing%s, known are: %s", within(c), strings.Join(ids(c), ", "))
			continue
		}
		good = append(good, pattern)
	}
	return good
}

// within says that the config is only a part of one; empty: it is whole.
func within(c config.Config) string {
	if c.Shard.Whole() {
		return ""
	}
	return " in " + c.Shard.String()
}

func matchesAny(c config.Config, pattern string) bool {
	for _, t := range c.Targets {
		for _, s := range t.Probes {
			if matches(pattern, t.Name, s.ID()) {
				return true
			}
		}
	}
	return false
}

func ids(c config.Config) []string {
	var known []string
	for _, t := range c.Targets {
		for _, s := range t.Probes {
			known = append(known, s.ID())
		}
	}
	return known
}

// matches reports whether a pattern names a target, or one of its probes.
func matches(pattern, target, id string) bool {
	name := target
	if strings.Contains(pattern, "/") {
		name = id
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}
