package metrics

import "perch.example/probes"

// Series returns how many series a config makes at most: everything that its
// probes can produce, each histogram counted by its classic buckets. cmd
// refuses a config that makes more than `max_series`.
func Series(targets []probes.Target, destinations ...string) int {
	n := ownSeries(len(destinations))
	for _, t := range targets {
		n += targetSeries(t)
		for _, s := range t.Probes {
			n += probeSeries(s)
		}
	}
	return n
}

// ownSeries: two gauges of the last run, build_info, and for each destination
// its results and two gauges.
func ownSeries(destinations int) int {
	return len(runVerdicts()) + 2 + seriesOf(delayBuckets()) + len(probes.Parts()) + 1 +
		destinations*(len(noticeResults())+2)
}

// targetSeries: requests, the budget's limit and wait, the certificate's
// expiry, and the families of incidents.
func targetSeries(t probes.Target) int {
	n := 3 + len(families(t))
	for _, s := range t.Probes {
		if secure(s) {
			return n + 1
		}
	}
	return n
}

// probeSeries: success, the last run, and what the probe can produce.
func probeSeries(s probes.Spec) int {
	p := possibleFor(s)
	n := 2 + len(probes.Verdicts()) + len(p.retries) + len(p.holds)*len(holdResults()) + len(p.diagnoses)
	if s.Every > 0 {
		n++
	}
	for _, c := range p.connections {
		n += len(c.reasons) + seriesOf(attemptBuckets())
	}
	n += len(p.phases) * seriesOf(phaseBuckets())
	if s.Client != nil && s.Client.Retry != nil {
		n += len(gapReasons())
	}
	if s.Kind != probes.KindIdle {
		return n
	}
	n += 4 // timeout, survived, died, advertised
	if s.KeepAlive > 0 {
		n++
	}
	if s.Client != nil {
		n += 2 // both bounds of the danger band
	}
	return n
}
