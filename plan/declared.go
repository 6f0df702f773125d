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
	specs := p.calls()
	for _, s := range specs {
		if s.Method == http.MethodPost && s.GRPC == nil {
			g.row("POST", s.ID()+", declared read-only: "+s.ReadOnly)
		}
		if call := s.GRPC; call != nil && call.Method != "" {
			g.row("gRPC", s.ID()+", "+call.Method+", declared read-only: "+s.ReadOnly)
		}
	}
	for _, a := range askings(specs) {
		const most = 4
		names := slices.Clone(a.probes[:min(len(a.probes), most)])
		if more := len(a.probes) - most; more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		often := "once a run"
		if a.daily > 0 {
			often += fmt.Sprintf(", %d times a day", a.daily)
		}
		g.row("tokens", fmt.Sprintf("of %s, asked for %s, at most %d, for %s", a.host, often, a.limit, strings.Join(names, ", ")))
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
