package clients

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"perch.example/probes"
)

// gapReasons are the transient failures of the network that a standard retry
// policy should cover.
func gapReasons() []probes.Reason {
	return []probes.Reason{
		probes.ReasonDNS, probes.ReasonRefused, probes.ReasonConnectTimeout,
		probes.ReasonIdleCloseNotify, probes.ReasonIdleFIN, probes.ReasonIdleRST, probes.ReasonIdleBytes,
		probes.ReasonBlackhole, probes.ReasonCrossedClose, probes.ReasonEOF, probes.ReasonReset,
		probes.ReasonNoResponse, probes.ReasonPartialHead,
		probes.ReasonRateLimited, probes.ReasonUnavailable,
	}
}

// Gaps judges the declared policy, for a GET, against each reason that the
// catalog knows of, at an idle age at which the client does not look. Without
// a declared policy there is nothing to judge.
func Gaps(decl probes.Client) []probes.RetryGap {
	if decl.Retry == nil {
		return nil
	}
	var gaps []probes.RetryGap
	for _, reason := range gapReasons() {
		_, result, cover := Experience(decl, reason, http.MethodGet, 0)
		if result == Unknown {
			continue
		}
		gaps = append(gaps, probes.RetryGap{Client: decl.Kind, Reason: reason, Gap: cover == probes.CoverUncovered})
	}
	return gaps
}

// Setting writes a setting's template with a duration, as the client's
// language does. {whole} stands for whole seconds, rounded down: where that
// would be none, the setting cannot express d and the answer is empty.
func Setting(template string, d time.Duration) string {
	if d < time.Second && strings.Contains(template, "{whole}") {
		return ""
	}
	return strings.NewReplacer(
		"{ms}", fmt.Sprint(d.Milliseconds()),
		"{s}", seconds(d),
		"{go}", goDuration(d),
		"{whole}", fmt.Sprint(int(d/time.Second)),
	).Replace(template)
}

// seconds writes whole seconds without a fraction, others with one.
func seconds(d time.Duration) string {
	if s := d.Seconds(); s != math.Trunc(s) {
		return fmt.Sprintf("%.1f", s)
	}
	return fmt.Sprint(int(d.Seconds()))
}

func goDuration(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%d * time.Second", d/time.Second)
	}
	return fmt.Sprintf("%d * time.Millisecond", d/time.Millisecond)
}
