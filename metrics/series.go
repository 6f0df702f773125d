package metrics

import "perch.example/probes"

// Series returns how many series New(o) makes at most: everything that its
// probes can produce, each histogram counted by its classic buckets. cmd
// refuses a config that makes more than `max_series`.
func Series(o Options) int {
	n := ownSeries(len(o.Destinations))
	for _, t := range o.Targets {
		n += targetSeries(t)
		for _, s := range t.Probes {
			n += probeSeries(s)
			if o.BlackboxNames {
				n += 2 + len(possibleFor(s).phases) // success, duration
			}
		}
	}
	return n
}

// seriesOf returns how many series one classic histogram is: its buckets, the
// one without end, the sum and the count.
func seriesOf(buckets []float64) int { return len(buckets) + 3 }

// ownSeries: two gauges of the last run, build_info, three of perch serve, and
// for each destination its results and two gauges.
func ownSeries(destinations int) int {
	return len(runVerdicts()) + 2 + seriesOf(delayBuckets()) + len(probes.Parts()) + 1 + 3 +
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

// probeSeries: success, the last run, what of its schedule falls out (perch serve's),
// and what the probe can produce.
func probeSeries(s probes.Spec) int {
	p := possibleFor(s)
	n := 3 + len(probes.Verdicts()) + len(p.retries) + len(p.holds)*len(holdResults()) + len(p.diagnoses)
	if s.Every > 0 {
		n++
	}
	for _, c := range p.connections {
		n += len(c.reasons) + seriesOf(attemptBuckets())
	}
	n += len(p.phases) * seriesOf(phaseBuckets())
	if s.Client != nil && s.Client.Retry != nil {
		n += len(gapReasons(s))
	}
	n += 2 * len(predictedFrom(s)) // the shares
	if s.Kind == probes.KindBurst {
		n += len(callResults())
	}
	if !idles(s) {
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
