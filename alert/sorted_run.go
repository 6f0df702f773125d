package alert

import "perch.example/probes"

// sortedRun is a run, its outcomes found by their target: an incident is of one
// target, and looks at no other.
type sortedRun struct {
	probes.Run
	targets map[string][]probes.Outcome
}

func sortRun(run probes.Run) sortedRun {
	s := sortedRun{Run: run, targets: map[string][]probes.Outcome{}}
	for n := range run.Outcomes {
		target := run.Outcomes[n].Target
		if others := s.targets[target]; others != nil {
			s.targets[target] = append(others, run.Outcomes[n])
			continue
		}
		s.targets[target] = run.Outcomes[n : n+1 : n+1] // most are alone: they are not copied
	}
	return s
}

// of is the run with that target's outcomes alone.
func (s sortedRun) of(target string) probes.Run {
	run := s.Run
	run.Outcomes = s.targets[target]
	return run
}
