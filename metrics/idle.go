package metrics

import (
	"slices"

	"perch.example/probes"
)

// observeHold counts what became of a connection that was held. One whose
// warm-up failed, or that was cut short, was not held.
func (m *Metrics) observeHold(o probes.Outcome) {
	if o.Kind != probes.KindIdle || o.Unused { // an unused one lives by another timeout
		return
	}
	result := holdResult(o)
	if result == "" {
		return
	}
	hold := holdLabel(m.specs[o.ID()].Spec, o.Hold)
	if o.Search {
		hold = searchHold
	}
	m.vectors.holds.add(1, o.Target, o.Probe, hold, result)
}

// holdResult says what the reuse showed; without one, what was seen while
// holding. Empty: nothing is known.
func holdResult(o probes.Outcome) string {
	i := slices.IndexFunc(o.Attempts, func(a probes.Attempt) bool { return a.Connection == probes.ConnectionReused })
	switch {
	case i >= 0:
		return reuseResult(o.Attempts[i].Reason)
	case o.Close != nil:
		return holdClosed
	}
	return ""
}

func reuseResult(r probes.Reason) string {
	if r.Closed() {
		return holdClosed
	}
	switch r {
	case probes.ReasonOK, probes.ReasonRateLimited, probes.ReasonUnavailable, probes.ReasonUnauthorized,
		probes.ReasonRedirected, probes.ReasonStatus, probes.ReasonSlow, probes.ReasonExpectation, probes.ReasonTooLarge:
		return holdSurvived
	case probes.ReasonGoawayProcessed, probes.ReasonStreamReset, probes.ReasonProxyUpstreamReset:
		return holdClosed
	case probes.ReasonBlackhole, probes.ReasonNoResponse, probes.ReasonPartialHead, probes.ReasonPartialBody,
		probes.ReasonBadResponse:
		return holdDied
	default: // cut short, or perch's own
		return ""
	}
}

// observeIdle sets what a ladder measured. A run that measured something
// takes away what it could not find again; one that was cut short before
// anything ended leaves the last values.
func (m *Metrics) observeIdle(r probes.IdleResult) {
	if r.Survived == 0 && r.Died == 0 && r.Measured == 0 {
		return
	}
	setKnown(m.vectors.idleTimeout, r.Measured, r.Target, r.Probe)
	setKnown(m.vectors.idleSurvived, r.Survived, r.Target, r.Probe)
	setKnown(m.vectors.idleDied, r.Died, r.Target, r.Probe)
	setKnown(m.vectors.idleAdvertised, r.Advertised, r.Target, r.Probe)
}

// observeClient sets the danger band and the retry gaps of a declared client.
func (m *Metrics) observeClient(outcomes []probes.Outcome) {
	target, probe := outcomes[0].Target, outcomes[0].Probe
	gaps := m.specs[outcomes[0].ID()].can.gaps
	var band *probes.Band
	declared := false
	for _, o := range outcomes {
		for _, g := range o.RetryGaps {
			if slices.Contains(gaps, g.Reason) {
				m.vectors.retryGap.set(bit(g.Gap), target, probe, g.Client, string(g.Reason))
			}
		}
		if o.Client != nil {
			declared = true
			band = wider(band, o.Client.Band)
		}
	}
	_, judged := succeeded(outcomes)
	if declared && judged {
		m.setBand(target, probe, band)
	}
}

// setBand sets both bounds; a band without end has only the first.
func (m *Metrics) setBand(target, probe string, b *probes.Band) {
	v := m.vectors.dangerBand
	if b == nil {
		v.drop(target, probe, boundFrom)
		v.drop(target, probe, boundTo)
		return
	}
	v.set(b.From.Seconds(), target, probe, boundFrom)
	if b.Open {
		v.drop(target, probe, boundTo)
		return
	}
	v.set(b.To.Seconds(), target, probe, boundTo)
}

// wider returns the band that covers both; nil is none.
func wider(a, b *probes.Band) *probes.Band {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	return &probes.Band{From: min(a.From, b.From), To: max(a.To, b.To), Open: a.Open || b.Open}
}
