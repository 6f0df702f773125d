package report

import (
	"strings"

	"perch.example/probes"
)

// verdictWord is a verdict as it stands at the head of a line.
func verdictWord(v probes.Verdict) string {
	if v == "" {
		return "UNKNOWN" // an unset verdict is never a pass
	}
	return strings.ToUpper(string(v))
}

// rulingWord is IN, OUT or open, and its ink.
func rulingWord(r probes.Ruling) span {
	switch r {
	case probes.RuledIn:
		return span{inkBad, "IN"}
	case probes.RuledOut:
		return span{inkGood, "OUT"}
	case probes.RuledOpen:
		return span{inkWarn, "open"}
	}
	return span{inkWarn, "open"}
}

// howShort is its words where there is little room.
func howShort(h probes.HowClosed) string {
	switch h {
	case probes.HowBytes:
		return "bytes"
	case probes.HowCloseNotify:
		return "close_notify"
	default:
		return h.Words()
	}
}

// coverWords says what the application's retry policy would have done.
func coverWords(r probes.RetryOutcome) string {
	if r.Hidden {
		return "its own automatic retry sends it again: no retry layer sees an error"
	}
	switch r.Application {
	case probes.CoverCovered:
		return "its retry policy covers this: the call is sent again"
	case probes.CoverUncovered:
		if r.Beside != "" {
			return r.Beside
		}
		return "its retry policy does not cover this: the call is not sent again"
	case probes.CoverUnsafe:
		return "its retry policy would send again what may have been executed"
	case probes.CoverUnknown:
		return "whether its retries cover this is not known"
	}
	return ""
}
