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
	p.proxied(g, specs)
	for _, s := range specs {
		if s.Method == http.MethodPost && s.GRPC == nil {
			g.row("POST", s.ID()+", declared read-only: "+s.ReadOnly)
		}
		if call := s.GRPC; call != nil && call.Method != "" {
			g.row("gRPC", s.ID()+", "+call.Method+", declared read-only: "+s.ReadOnly)
		}
	}
	for _, a := range askings(specs) {
		often := "once a run"
		if a.daily > 0 {
			often += fmt.Sprintf(", %d times a day", a.daily)
		}
		g.row("tokens", fmt.Sprintf("of %s, asked for %s, at most %d, for %s", a.host, often, a.limit, firstOf(a.probes)))
	}
}

// proxied tells which probes a configured proxy is for. What the environment says is a note.
func (p *Plan) proxied(g *table, specs []*probes.Spec) {
	var proxies []string
	by := map[string][]string{}
	for _, s := range specs {
		if s.Way.Proxy.URL == nil || s.Way.Socket != "" {
			continue
		}
		proxy := s.Way.Proxy.URL.Redacted()
		if by[proxy] == nil {
			proxies = append(proxies, proxy)
		}
		by[proxy] = append(by[proxy], s.ID())
	}
	for _, proxy := range proxies {
		g.row("proxy", proxy+", for "+firstOf(by[proxy]))
	}
}

// firstOf names some probes, and how many more there are.
func firstOf(names []string) string {
	const most = 4
	shown := slices.Clone(names[:min(len(names), most)])
	if more := len(names) - most; more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	return strings.Join(shown, ", ")
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
