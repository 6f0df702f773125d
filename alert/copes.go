package alert

import "perch.example/probes"

// unhurt reports whether the declared client copes with every failure of the
// family: it opens another connection, or sends the request again by itself, at
// whatever idle age. What is only noticed after the time of a request is no
// coping.
func unhurt(outcomes []probes.Outcome, family probes.Family) bool {
	any := false
	for _, o := range outcomes {
		if !fails(o) || o.Family != family {
			continue
		}
		if !cope(o) {
			return false
		}
		any = true
	}
	return any
}

func cope(o probes.Outcome) bool {
	c := o.Client
	call, _ := o.Decides()
	switch {
	case o.Family != probes.FamilyConnection || c == nil || c.Experiences == "" || call == nil || call.Connection != probes.ConnectionReused:
		return false
	case o.Reason == probes.ReasonBlackhole || o.Reason == probes.ReasonNoResponse:
		return false
	case c.Result == probes.ClientNotices: // outside of its danger band, if it has one
		return c.Band == nil
	}
	return c.Result == probes.ClientRetries || o.Retry.Hidden
}

// copesWords end a title: " (go-net-http copes)"; empty where it does not.
func copesWords(lead probes.Outcome, outcomes []probes.Outcome) string {
	if !unhurt(outcomes, lead.Family) {
		return ""
	}
	return " (" + shorten(clean(lead.Client.Kind), 40, "…") + " copes)"
}
