package metrics

import (
	"maps"
	"slices"
	"strings"

	"perch.example/probes"
)

// Retarget goes on with other targets and destinations, as when perch serve took in a
// changed config: what is new begins at zero, what is gone is no longer shown, and all
// else counts on.
func (m *Metrics) Retarget(targets []probes.Target, destinations []string) {
	m.Whole(func() {
		m.targets, m.specs = targets, map[string]spec{}
		names := map[string]bool{}
		for _, t := range targets {
			names[t.Name] = true
			m.createTarget(t)
			for _, s := range t.Probes {
				m.createProbe(s)
			}
		}
		for _, v := range m.bare.vectors {
			v.retain(m.specs, names, destinations)
		}
		for _, d := range destinations {
			for _, r := range noticeResults() {
				m.vectors.notices.exist(d, r)
			}
		}
	})
}

// retain drops the series of targets, probes and destinations that are gone.
func (v *vector) retain(specs map[string]spec, names map[string]bool, destinations []string) {
	target, probe, destination := slices.Index(v.labels, "target"), slices.Index(v.labels, "probe"), slices.Index(v.labels, "destination")
	if target < 0 && destination < 0 {
		return
	}
	gone := func(key string) bool {
		values := strings.Split(key, separator)
		if destination >= 0 {
			return !slices.Contains(destinations, values[destination])
		}
		if probe < 0 {
			return !names[values[target]]
		}
		_, there := specs[values[target]+"/"+values[probe]]
		return !there
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	maps.DeleteFunc(v.values, func(key string, _ float64) bool { return gone(key) })
	maps.DeleteFunc(v.histograms, func(key string, _ *histogram) bool { return gone(key) })
	maps.DeleteFunc(v.exemplars, func(key string, _ exemplar) bool { return gone(key) })
}
