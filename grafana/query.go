package grafana

import (
	"fmt"
	"strings"
)

// Prometheus keeps a histogram of perch's as classic buckets, as a native
// histogram, or as both for a while. Each query about one asks for the native
// first and takes the classic where there is none, so that a dashboard has no
// setting that can be wrong.

// quantile is how much time a share of the observations took at most, by some
// labels ("": all in one).
func quantile(q float64, by, metric, matchers string) string {
	return fmt.Sprintf("histogram_quantile(%[1]v, sum%[2]s (rate(%[3]s{%[4]s}[$window])))\n"+
		"or histogram_quantile(%[1]v, sum%[5]s (rate(%[3]s_bucket{%[4]s}[$window])))",
		q, grouped(by), metric, matchers, grouped(joinLabels("le", by)))
}

// mean is how much time the observations took on average.
func mean(by, metric, matchers string) string {
	return fmt.Sprintf("histogram_sum(sum%[1]s (rate(%[2]s{%[3]s}[$window]))) / histogram_count(sum%[1]s (rate(%[2]s{%[3]s}[$window])))\n"+
		"or sum%[1]s (rate(%[2]s_sum{%[3]s}[$window])) / sum%[1]s (rate(%[2]s_count{%[3]s}[$window]))",
		grouped(by), metric, matchers)
}

// spread is the whole histogram, each step of time for itself. A set of series
// with the label le and one without it are never mixed: `or on()` takes all of
// the second only where nothing is of the first.
func spread(metric, matchers string) string {
	return fmt.Sprintf("sum(increase(%[1]s{%[2]s}[$__rate_interval]))\nor on() sum by (le) (increase(%[1]s_bucket{%[2]s}[$__rate_interval]))",
		metric, matchers)
}

// each is how much counters grew in one step of time, by some labels: for bars.
// $__rate_interval is the step and one scrape, so that nothing is lost between
// two bars.
func each(by, metric, matchers string) string {
	return fmt.Sprintf("sum%s (increase(%s{%s}[$__rate_interval]))", grouped(by), metric, matchers)
}

// within is how much counters grew in all of the time that is shown.
func within(by, metric, matchers string) string {
	return fmt.Sprintf("sum%s (increase(%s{%s}[$__range]))", grouped(by), metric, matchers)
}

func grouped(by string) string {
	if by == "" {
		return ""
	}
	return " by (" + by + ")"
}

func joinLabels(labels ...string) string {
	var all []string
	for _, l := range labels {
		if l != "" {
			all = append(all, l)
		}
	}
	return strings.Join(all, ", ")
}
