package plan

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"perch.example/probes"
)

// declared tells what the config vouches for: each POST and each gRPC method with its
// reason, and from where tokens are asked for.
func (p *Plan) declared(g *table) {
	type endpoint struct {
		host   string
		limit  int
		probes []string
	}
	var endpoints []*endpoint
	seen, by := map[string]bool{}, map[string]*endpoint{}
	for _, s := range p.Steps {
		if seen[s.Spec.ID()] {
			continue
		}
		seen[s.Spec.ID()] = true
		if s.Spec.Method == http.MethodPost && s.Spec.GRPC == nil {
			g.row("POST", s.Spec.ID()+", declared read-only: "+s.Spec.ReadOnly)
		}
		if call := s.Spec.GRPC; call != nil && call.Method != "" {
			g.row("gRPC", s.Spec.ID()+", "+call.Method+", declared read-only: "+s.Spec.ReadOnly)
		}
		o := s.Spec.OAuth
		if o == nil {
			continue
		}
		e := by[o.Host()]
		if e == nil {
			e = &endpoint{host: o.Host(), limit: o.DailyLimit}
			by[e.host], endpoints = e, append(endpoints, e)
		}
		e.limit = min(e.limit, o.DailyLimit)
		e.probes = append(e.probes, s.Spec.ID())
	}
	for _, e := range endpoints {
		const most = 4
		names := slices.Clone(e.probes[:min(len(e.probes), most)])
		if more := len(e.probes) - most; more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		g.row("tokens", fmt.Sprintf("of %s, asked for %d times a day at most, for %s", e.host, e.limit, strings.Join(names, ", ")))
	}
}

// renewed is how many requests may be made again with another token: none of a
// POST, and the first of each step else.
func (j *job) renewed() int {
	switch {
	case j.spec.OAuth == nil, j.spec.Method == http.MethodPost && j.spec.GRPC == nil:
		return 0
	case j.spec.Kind == probes.KindIdle:
		return j.holds()
	}
	return 1
}
