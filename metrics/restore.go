package metrics

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// Snapshot returns everything that the next run has to be told with Restore:
// what was counted, and the last values of what was measured. The same values
// make the same bytes.
func (m *Metrics) Snapshot() (json.RawMessage, error) {
	all := saved{Version: savedVersion, Vectors: []savedVector{}}
	for _, v := range m.bare.vectors {
		if s := v.save(); len(s.Series) > 0 {
			all.Vectors = append(all.Vectors, s)
		}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("saving metrics: %w", err)
	}
	return raw, nil
}

// save returns what of a vector the next run is told.
func (v *vector) save() savedVector {
	s := savedVector{Name: v.name, Type: typeName(v.kind), Labels: v.labels, Bounds: v.bounds}
	if v.memory == forgotten {
		return s
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.kind == dto.MetricType_HISTOGRAM {
		s.Zero = zeroWidth
		for _, key := range slices.Sorted(maps.Keys(v.histograms)) {
			if h := v.histograms[key]; h.classic != nil {
				own := h.clone()
				s.Series = append(s.Series, savedSeries{Labels: v.split(key), Histogram: own.saved()})
			}
		}
		return s
	}
	for _, key := range slices.Sorted(maps.Keys(v.values)) {
		if value := v.values[key]; v.memory == remembered || value != 0 {
			s.Series = append(s.Series, savedSeries{Labels: v.split(key), Value: value})
		}
	}
	return s
}

// Restore goes on from what an earlier run's Snapshot said; it comes before
// Observe. An empty one is that of a first run. Series that the config can no
// longer make are left out. The error says what of the baseline could not be
// used, each such vector starting anew; m can be used in any case.
func (m *Metrics) Restore(baseline json.RawMessage) error {
	all, err := decodeSaved(baseline)
	if err != nil {
		return fmt.Errorf("restoring metrics: %w (all of them start anew)", err)
	}
	vectors, gauges := map[string]*vector{}, m.lastingKeys()
	for _, v := range m.bare.vectors {
		vectors[v.name] = v
	}
	var problems []error
	for _, s := range all.Vectors {
		v := vectors[s.Name]
		if v == nil || v.memory == forgotten {
			continue
		}
		if err := s.fits(v); err != nil {
			problems = append(problems, fmt.Errorf("restoring %s: %w (it starts anew)", s.Name, err))
			continue
		}
		m.restore(v, s, gauges[v])
	}
	m.restoreFindings()
	return errors.Join(problems...)
}

// restore adds a baseline that fits. What is counted exists already if it can, but
// for what an environment's proxy does; of gauges those may that are named.
func (m *Metrics) restore(v *vector, s savedVector, gauges map[string]bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, each := range s.Series {
		key := each.key()
		switch v.kind {
		case dto.MetricType_HISTOGRAM:
			if h := v.histograms[key]; h != nil {
				h.add(each.Histogram.histogram())
			}
		case dto.MetricType_COUNTER:
			if have, can := v.values[key]; can || m.metOnTheWay(v, each.Labels) {
				v.values[key] = have + each.Value
			}
		default:
			if _, have := v.values[key]; gauges[key] && !have {
				v.values[key] = each.Value
			}
		}
	}
}

// restoreFindings makes the zeros that are not saved: a probe that was judged,
// and so has a success, was found free of every other diagnosis.
func (m *Metrics) restoreFindings() {
	for _, s := range m.specs {
		if !m.vectors.success.has(s.Target, s.Probe) {
			continue
		}
		for _, d := range s.can.diagnoses {
			if !m.vectors.finding.has(s.Target, s.Probe, string(d)) {
				m.vectors.finding.set(0, s.Target, s.Probe, string(d))
			}
		}
	}
}

// keys are the series that a vector may have, by key.
type keys map[*vector]map[string]bool

func (k keys) add(v *vector, values ...string) {
	if k[v] == nil {
		k[v] = map[string]bool{}
	}
	k[v][v.key(values)] = true
}

// lastingKeys are the gauges that this config's probes can set and that stay
// from run to run. All others are this run's alone: they come from its config
// or from another memory.
func (m *Metrics) lastingKeys() keys {
	v, can := m.vectors, keys{}
	can.add(v.runDuration)
	can.add(v.runCompleted)
	for _, t := range m.targets {
		if slices.ContainsFunc(t.Probes, secure) {
			can.add(v.certificateExpiry, t.Name)
		}
	}
	for _, s := range m.specs {
		can.add(v.success, s.Target, s.Probe)
		can.add(v.lastRun, s.Target, s.Probe)
		for _, d := range s.can.diagnoses {
			can.add(v.finding, s.Target, s.Probe, string(d))
		}
		if s.Client != nil && s.Client.Retry != nil {
			for _, r := range gapReasons(s.Spec) {
				can.add(v.retryGap, s.Target, s.Probe, s.Client.Kind, string(r))
			}
		}
		for _, from := range predictedFrom(s.Spec) {
			can.add(v.predictedDead, s.Target, s.Probe, from)
			can.add(v.predictedFailed, s.Target, s.Probe, from)
		}
		if idles(s.Spec) {
			m.lastingIdle(can, s)
		}
		if m.blackbox {
			can.add(v.blackboxSuccess, s.Target, s.Probe)
			can.add(v.blackboxDuration, s.Target, s.Probe)
			for _, p := range s.can.phases {
				can.add(v.blackboxPhase, s.Target, s.Probe, blackboxPhase(p))
			}
		}
	}
	return can
}

func (m *Metrics) lastingIdle(can keys, s spec) {
	v := m.vectors
	for _, each := range []*vector{v.idleTimeout, v.idleSurvived, v.idleDied, v.idleAdvertised} {
		can.add(each, s.Target, s.Probe)
	}
	if s.Client != nil {
		can.add(v.dangerBand, s.Target, s.Probe, boundFrom)
		can.add(v.dangerBand, s.Target, s.Probe, boundTo)
	}
}
