package trace

import (
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"

	"perch.example/probes"
)

// service is the service.name of every perch.
const service = "perch"

// Source says whose spans and numbers are sent, and what was probed.
type Source struct {
	Name    string // the config's
	Vantage string
	Shard   string // "1" of a config that is split; empty: it is not
	Version string // of perch
	Targets []probes.Target
}

// resource names perch itself. Its instance id stays from run to run, as its
// series do.
func (s Source) resource() *resourcepb.Resource {
	var a attributes
	a.text("service.name", service)
	instance := s.Name + "/" + s.Vantage
	if s.Shard != "" {
		instance += "/" + s.Shard
	}
	a.text("service.instance.id", instance)
	a.text("service.version", s.Version)
	a.text("perch.name", s.Name)
	a.text("perch.vantage", s.Vantage)
	a.text("perch.shard", s.Shard)
	return &resourcepb.Resource{Attributes: a}
}

func (s Source) scope() *commonpb.InstrumentationScope {
	return &commonpb.InstrumentationScope{Name: "perch.example/trace", Version: s.Version}
}

// specs are the configured probes by "target/probe".
func (s Source) specs() map[string]probes.Spec {
	all := map[string]probes.Spec{}
	for _, t := range s.Targets {
		for _, p := range t.Probes {
			all[p.ID()] = p
		}
	}
	return all
}
