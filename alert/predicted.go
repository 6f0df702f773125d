package alert

import (
	"fmt"
	"math"

	"perch.example/probes"
)

// predictedWords say in one line what share of the application's calls is predicted to meet
// what the incident is about: by the times of its real calls where they are known, else by the declared
// shape. Empty: none is, or it is not known for which client.
func predictedWords(lead probes.Outcome, outcomes []probes.Outcome) string {
	if lead.Client == nil {
		return ""
	}
	var best *probes.Prediction
	for _, o := range outcomes {
		if o.Target != lead.Target {
			continue
		}
		for i, p := range o.Predicted {
			if p.Dead > 0 && (best == nil || best.Declared && !p.Declared) {
				best = &o.Predicted[i]
			}
		}
	}
	if best == nil {
		return ""
	}
	return fmt.Sprintf("Predicted from %s: %s of the application's %d calls meet such a connection, and %s fail for it.",
		shorten(clean(best.Source), maxTitle, "…"), percentOf(best.DeadShare()), best.Calls, percentOf(best.FailedShare()))
}

// percentOf writes a share; few of many are not none.
func percentOf(share float64) string {
	switch rounded := math.Round(100 * share); {
	case share == 0:
		return "none"
	case rounded < 1:
		return "less than 1%"
	default:
		return fmt.Sprintf("%.0f%%", rounded)
	}
}
