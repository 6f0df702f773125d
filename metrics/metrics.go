package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"perch.example/probes"
)

// Options say whose series these are.
type Options struct {
	Name         string // the config's; label perch
	Vantage      string // label vantage
	Shard        string // label shard, where each shard of the config has series of its own; empty: no such label
	Version      string // of perch
	GoVersion    string
	Revision     string
	Targets      []probes.Target
	Destinations []string // where notices go, for example "slack"; empty: nowhere
	// BlackboxNames adds each probe's last run under the names of
	// blackbox_exporter: probe_success, probe_duration_seconds and
	// probe_http_duration_seconds.
	BlackboxNames bool
	// Serves is of perch serve, which counts what falls out of a probe's schedule;
	// perch run has none.
	Serves bool
}

// Metrics holds the series of one perch. It may be used by many goroutines.
type Metrics struct {
	name, vantage string
	shard         string
	bare          gatherer // without perch, vantage and shard: for a push, whose group carries them
	labelled      gatherer
	vectors       vectors
	blackbox      bool
	serves        bool
	targets       []probes.Target
	specs         map[string]spec // by "target/probe"
	whole         sync.RWMutex    // a scrape reads, what it must see all of writes
	saved         func() *Metrics // what scrapes see counters of; nil: these
}

// spec is a configured probe and what it can produce.
type spec struct {
	probes.Spec
	can possible
}

// New makes the series that a config can count, at zero, and nothing else.
func New(o Options) *Metrics {
	m := newMetrics(o)
	for _, t := range o.Targets {
		m.createTarget(t)
		for _, s := range t.Probes {
			m.createProbe(s)
		}
	}
	m.createOwn(o)
	return m
}

// newMetrics makes metrics without any series.
func newMetrics(o Options) *Metrics {
	m := &Metrics{
		name: o.Name, vantage: o.Vantage, shard: o.Shard,
		vectors: newVectors(), blackbox: o.BlackboxNames, serves: o.Serves, targets: o.Targets,
		specs: map[string]spec{},
	}
	// A push whose group carries the labels perch, vantage and shard must not
	// carry them in its series.
	m.bare.vectors = m.vectors.all()
	own := []*dto.LabelPair{pair("perch", o.Name), pair("vantage", o.Vantage)}
	if o.Shard != "" {
		own = append(own, pair("shard", o.Shard))
	}
	m.labelled = gatherer{m.bare.vectors, shape{further: own, exemplars: true}}
	return m
}

// Gatherer returns the series as a scrape sees them: each carries the labels
// perch and vantage.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.labelled }

func (m *Metrics) createTarget(t probes.Target) {
	m.vectors.requests.exist(t.Name)
	m.vectors.budgetWait.exist(t.Name)
	m.vectors.budgetLimit.set(t.Budget(), t.Name)
}

func (m *Metrics) createProbe(s probes.Spec) {
	p := spec{Spec: s, can: possibleFor(s)}
	p.can.gaps = gapReasons(s)
	m.specs[s.ID()] = p
	v := m.vectors
	if s.Every > 0 {
		v.interval.set(s.Every.Seconds(), s.Target, s.Probe)
	}
	if m.serves {
		v.ticksMissed.exist(s.Target, s.Probe)
	}
	if idles(s) && s.KeepAlive > 0 {
		v.keepAlive.set(s.KeepAlive.Seconds(), s.Target, s.Probe)
	}
	for _, verdict := range probes.Verdicts() {
		v.outcomes.exist(s.Target, s.Probe, string(verdict))
	}
	for _, c := range p.can.connections {
		v.attemptDuration.exist(s.Target, s.Probe, string(c.on))
		for _, r := range c.reasons {
			v.attempts.exist(s.Target, s.Probe, string(c.on), string(r))
		}
	}
	for _, phase := range p.can.phases {
		v.phaseDuration.exist(s.Target, s.Probe, phase)
	}
	for _, r := range p.can.retries {
		v.retries.exist(s.Target, s.Probe, string(r))
	}
	if s.Kind == probes.KindBurst {
		for _, r := range callResults() {
			v.burstCalls.exist(s.Target, s.Probe, r)
		}
	}
	for _, hold := range p.can.holds {
		for _, r := range holdResults() {
			v.holds.exist(s.Target, s.Probe, hold, r)
		}
	}
}

func (m *Metrics) createOwn(o Options) {
	v := m.vectors
	for _, verdict := range runVerdicts() {
		v.runs.exist(string(verdict))
	}
	v.schedulingDelay.exist()
	for _, part := range probes.Parts() {
		v.problems.exist(string(part))
	}
	for _, d := range o.Destinations {
		for _, r := range noticeResults() {
			v.notices.exist(d, r)
		}
	}
	m.createBuildInfo(o)
}

func (m *Metrics) createBuildInfo(o Options) {
	m.vectors.buildInfo.set(1, o.Version, o.GoVersion, o.Revision)
}
