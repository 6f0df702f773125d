package plan

import (
	"slices"
	"time"

	"perch.example/config"
)

// enough finds what would fit where a deadline does not: by planning it, so that what
// a refusal names is not refused as well. A longer deadline lets more rungs into a
// made ladder, and a ladder's rungs start one after another.
type enough struct {
	config  config.Config
	options Options
}

// Each try lays a plan out, which takes milliseconds; two are the usual number.
const mostTries = 8

// deadlines are the ways out by a longer deadline than that of the plan p: the
// shortest for what has to stay, and another for all rungs where that leaves out any.
func (e enough) deadlines(p *Plan) []string {
	whole := e.lay(0)
	all, least := roundUp(whole.Wall, time.Second), roundUp(p.Wall, time.Second)
	for range mostTries {
		if least >= all {
			break
		}
		wall := roundUp(e.lay(least).Wall, time.Second)
		if wall <= least {
			break
		}
		least = wall
	}
	if least >= all || e.lay(least).Wall > least {
		return []string{"a deadline of " + short(all)}
	}
	ways := []string{"a deadline of " + short(least)}
	if len(e.lay(least).Steps) < len(whole.Steps) {
		ways = append(ways, "one of "+short(all)+" with all rungs")
	}
	return ways
}

func (e enough) lay(deadline time.Duration) *Plan {
	e.options.Deadline = deadline
	p, _ := lay(e.config, e.options, &Refusal{})
	return p
}

// holds is the way out by shorter holds: as many as the job has, none longer than
// that. Empty: there is none.
func (e enough) holds(j *job) string {
	deadline := e.options.Deadline
	alone := Step{Spec: j.spec}
	most := (deadline - alone.end()).Truncate(100 * time.Millisecond)
	for range mostTries {
		if most <= 0 {
			break
		}
		end, fits := e.endWith(j, most)
		if !fits {
			break
		}
		if end <= deadline {
			return "holds up to " + short(most)
		}
		most -= roundUp(end-deadline, 100*time.Millisecond)
	}
	return ""
}

// endWith is when the job's last rung ends with no hold longer than that, and whether
// all its rungs have their place.
func (e enough) endWith(j *job, most time.Duration) (time.Duration, bool) {
	var holds []time.Duration
	for _, r := range j.rungs {
		holds = append(holds, min(r.hold, most))
	}
	c := e.config
	c.Targets = slices.Clone(c.Targets)
	for i := range c.Targets {
		t := &c.Targets[i]
		t.Probes = slices.Clone(t.Probes)
		for k := range t.Probes {
			if t.Probes[k].ID() == j.spec.ID() {
				t.Probes[k].Holds = holds
			}
		}
	}
	refusal := &Refusal{}
	p, _ := lay(c, e.options, refusal)
	if slices.ContainsFunc(refusal.Problems, func(p Problem) bool { return p.Subject == j.spec.ID() }) {
		return 0, false
	}
	var end time.Duration
	for _, s := range p.Steps {
		if s.Spec.ID() == j.spec.ID() {
			end = max(end, s.end())
		}
	}
	return end, true
}
