package report

import (
	"slices"

	"perch.example/probes"
)

// spokenOver are the protocols that a run's connections spoke, as people name them:
// another protocol has another idle timeout.
func spokenOver(run probes.Run) []string {
	var all []string
	for _, o := range run.Outcomes {
		for _, a := range o.Attempts {
			name := a.Proto
			if name == "HTTP/2.0" {
				name = "HTTP/2"
			}
			if name != "" && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}
