package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"perch.example/probes"
)

// Options say whose series these are.
type Options struct {
	Name         string // the config's; label perch
	Vantage      string // label vantage
	Version      string // of perch
	GoVersion    string
	Revision     string
	Targets      []probes.Target
	Destinations []string // where notices go, for example "slack"; empty: nowhere
}

// Metrics holds the series of one perch. It may be used by many goroutines.
type Metrics struct {
	name, vantage string
	bare          *prometheus.Registry // without perch and vantage: for a push, whose group carries them
	labelled      *prometheus.Registry
	vectors       vectors
	targets       []probes.Target
	specs         map[string]spec // by "target/probe"
}

// spec is a configured probe and what it can produce.
type spec struct {
	probes.Spec
	can possible
}

// New makes the series that a config can count, at zero, and nothing else.
func New(o Options) *Metrics {
	m := &Metrics{
		name: o.Name, vantage: o.Vantage,
		bare: prometheus.NewRegistry(), labelled: prometheus.NewRegistry(),
		vectors: newVectors(), targets: o.Targets,
		specs: map[string]spec{},
	}
	// The wrapping registerer adds the labels to each series, and would refuse
	// one that carries them already. So does a push whose group carries them:
	// hence two registries over the same series.
	named := prometheus.WrapRegistererWith(prometheus.Labels{"perch": o.Name, "vantage": o.Vantage}, m.labelled)
	for _, c := range m.vectors.all() {
		m.bare.MustRegister(c)
		named.MustRegister(c)
	}
	for _, t := range o.Targets {
		m.createTarget(t)
		for _, s := range t.Probes {
			m.createProbe(s)
		}
	}
	m.createOwn(o)
	return m
}

// Gatherer returns the series as a scrape sees them: each carries the labels
// perch and vantage.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.labelled }

func (m *Metrics) createTarget(t probes.Target) {
	m.vectors.requests.WithLabelValues(t.Name)
	m.vectors.budgetWait.WithLabelValues(t.Name)
	m.vectors.budgetLimit.WithLabelValues(t.Name).Set(t.Budget())
}

func (m *Metrics) createProbe(s probes.Spec) {
	p := spec{Spec: s, can: possibleFor(s)}
	m.specs[s.ID()] = p
	v := m.vectors
	if s.Every > 0 {
		v.interval.WithLabelValues(s.Target, s.Probe).Set(s.Every.Seconds())
	}
	if s.Kind == probes.KindIdle && s.KeepAlive > 0 {
		v.keepAlive.WithLabelValues(s.Target, s.Probe).Set(s.KeepAlive.Seconds())
	}
	for _, verdict := range probes.Verdicts() {
		v.outcomes.WithLabelValues(s.Target, s.Probe, string(verdict))
	}
	for _, c := range p.can.connections {
		v.attemptDuration.WithLabelValues(s.Target, s.Probe, string(c.on))
		for _, r := range c.reasons {
			v.attempts.WithLabelValues(s.Target, s.Probe, string(c.on), string(r))
		}
	}
	for _, phase := range p.can.phases {
		v.phaseDuration.WithLabelValues(s.Target, s.Probe, phase)
	}
	for _, r := range p.can.retries {
		v.retries.WithLabelValues(s.Target, s.Probe, string(r))
	}
	for _, hold := range p.can.holds {
		for _, r := range holdResults() {
			v.holds.WithLabelValues(s.Target, s.Probe, hold, r)
		}
	}
}

func (m *Metrics) createOwn(o Options) {
	v := m.vectors
	for _, verdict := range runVerdicts() {
		v.runs.WithLabelValues(string(verdict))
	}
	v.schedulingDelay.WithLabelValues()
	for _, part := range probes.Parts() {
		v.problems.WithLabelValues(string(part))
	}
	for _, d := range o.Destinations {
		for _, r := range noticeResults() {
			v.notices.WithLabelValues(d, r)
		}
	}
	v.buildInfo.WithLabelValues(o.Version, o.GoVersion, o.Revision).Set(1)
}
