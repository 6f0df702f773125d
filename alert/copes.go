package alert

import "perch.example/probes"

// unhurt reports whether the declared client copes with every failure of the
// family.
func unhurt(outcomes []probes.Outcome, family probes.Family) bool {
	any := false
	for _, o := range outcomes {
		if !fails(o) || o.Family != family {
			continue
		}
		if !o.ClientCopes() {
			return false
		}
		any = true
	}
	return any
}

// copesWords end a title: " (go-net-http copes)"; empty where it does not.
func copesWords(lead probes.Outcome, outcomes []probes.Outcome) string {
	if !unhurt(outcomes, lead.Family) {
		return ""
	}
	return " (" + shorten(clean(lead.Client.Kind), 40, "…") + " copes)"
}
