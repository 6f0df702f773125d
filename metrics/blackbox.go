package metrics

import (
	"time"

	"perch.example/probes"
)

// observeBlackbox sets a probe's last run under the names of blackbox_exporter:
// that of its last fresh connection, which is what a probe of blackbox_exporter
// opens. A phase that did not run is absent.
func (m *Metrics) observeBlackbox(outcomes []probes.Outcome) {
	if !m.blackbox {
		return
	}
	target, probe := outcomes[0].Target, outcomes[0].Probe
	if success, known := succeeded(outcomes); known {
		m.vectors.blackboxSuccess.set(bit(success), target, probe)
	}
	last, tried := lastFresh(outcomes)
	if !tried {
		return
	}
	opening := last.Phases.DNS + last.Phases.Connect + last.Phases.TLS
	took := max(opening, last.Elapsed) // no request left: the time is the opening's
	if last.Status != 0 || !last.Started.IsZero() {
		took = opening + last.Elapsed
	}
	setKnown(m.vectors.blackboxDuration, took, target, probe)
	for _, p := range phasesOf(last) {
		setKnown(m.vectors.blackboxPhase, p.took, target, probe, blackboxPhase(p.name))
	}
}

func lastFresh(outcomes []probes.Outcome) (last probes.Attempt, tried bool) {
	for _, o := range outcomes {
		for _, a := range o.Attempts {
			if a.Connection == probes.ConnectionFresh {
				last, tried = a, true
			}
		}
	}
	return last, tried
}

// blackboxPhase is blackbox_exporter's word for a phase.
func blackboxPhase(phase string) string {
	switch phase {
	case phaseDNS:
		return "resolve"
	case phaseWait:
		return "processing"
	}
	return phase
}

// phase is how long a part of an attempt took; 0: it did not run.
type phase struct {
	name string
	took time.Duration
}

func phasesOf(a probes.Attempt) []phase {
	return []phase{
		{phaseDNS, a.Phases.DNS}, {phaseConnect, a.Phases.Connect}, {phaseTLS, a.Phases.TLS},
		{phaseWait, a.Phases.Wait}, {phaseTransfer, a.Phases.Transfer},
	}
}
