package config

import (
	"cmp"
	"fmt"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

const (
	usualBursts = 2    // one leaves nothing idle behind that anybody would call on
	mostCalls   = 1000 // of one step: each is an attempt that is kept, and told
	leastApart  = time.Millisecond
)

// burst makes a probe of kind burst what it is: its calls' shape, and its pool's order.
func (c *checker) burst(s *probes.Spec, t probes.Target, p probeSettings) {
	s.Calls = p.Reach.Calls
	if s.Kind != probes.KindBurst {
		s.Pool = p.Reach.Connections
		return
	}
	shape := probes.Shape{
		Requests: p.Reach.Requests, Over: p.Reach.Over, Connections: p.Reach.Connections,
		Bursts: cmp.Or(p.Reach.Bursts, usualBursts), Gap: p.Reach.Gap,
	}
	s.Burst, s.PoolOrder, s.KeepAlive = &shape, probes.PoolLIFO, p.Shared.KeepAlive
	s.Requests, s.Gap = 0, 0 // of kind http
	s.Retry, s.Redirects = probes.Retry{Attempts: 1}, 0
	if s.Client != nil {
		s.PoolOrder = cmp.Or(clients.PoolOrder(s.Client.Kind), probes.PoolLIFO)
	}
	at := func(key string) place { return c.at(p.Place, key) }
	c.burstWhole(shape, p.Place)
	c.burstFits(shape, t, at)
	if s.Way.Addresses == probes.AddressesAll {
		c.wrong(c.nearest(p.Place, "addresses"), "all is for one request to each address, and a burst's pool is for the host", "write addresses: one on this probe")
	}
	plain := s.Protocol == probes.ProtocolAuto && s.URL != nil && s.URL.Scheme == "http"
	if s.GRPC == nil && s.Speaks() != probes.ProtocolHTTP1 && !plain {
		c.wrong(c.nearest(p.Place, "protocol"), "a burst speaks HTTP/1.1: over HTTP/2 one connection carries all calls, and no pool hands out another", "write protocol: http/1.1 on this probe; kind idle measures one connection over HTTP/2")
	}
}

// burstWhole refuses a shape with a part left out.
func (c *checker) burstWhole(shape probes.Shape, at place) {
	for _, part := range []struct{ key, fix string }{
		{"requests", "say how many calls one burst has, such as requests: 60"},
		{"over", "say how long one burst lasts, such as over: 1m"},
		{"connections", "say how many connections the application's pool has, such as connections: 20"},
	} {
		if !c.has(at, part.key) {
			c.wrong(at, fmt.Sprintf("%q is missing", part.key), part.fix)
		}
	}
	switch gap := c.has(at, "gap"); {
	case shape.Bursts > 1 && !gap:
		c.wrong(at, `"gap" is missing`, "say for how long the pool idles between two bursts, such as gap: 5m")
	case shape.Bursts == 1 && gap:
		c.wrong(c.at(at, "gap"), "lies between bursts, and there is one", "leave it out, or want bursts: 2")
	case shape.Bursts > 1 && shape.Gap == 0 && !c.mistaken(c.at(at, "gap").path):
		c.wrong(c.at(at, "gap"), "is nothing, and a burst after another one without a gap is the same burst", "want a time for which the pool idles, such as 5m")
	}
}

// burstFits refuses parts that do not go together. What is missing was told.
func (c *checker) burstFits(shape probes.Shape, t probes.Target, at func(string) place) {
	if shape.Requests == 0 || shape.Connections == 0 || shape.Over == 0 {
		return
	}
	if shape.Calls() > mostCalls {
		c.wrong(at("requests"), fmt.Sprintf("%d requests in %d bursts are %d calls", shape.Requests, shape.Bursts, shape.Calls()), fmt.Sprintf("want at most %d in all", mostCalls))
	}
	if shape.Between() < leastApart {
		c.wrong(at("over"), fmt.Sprintf("%d requests over %s are one each %s", shape.Requests, probes.Spoken(shape.Over), shape.Between()), "want a millisecond for each at least")
	}
	if shape.Connections > shape.Requests {
		c.wrong(at("connections"), fmt.Sprintf("a burst of %d requests does not fill a pool of %d", shape.Requests, shape.Connections), fmt.Sprintf("want at most %d", shape.Requests))
	}
	if shape.Connections > t.MaxConnections && t.MaxConnections > 0 {
		c.wrong(at("connections"), fmt.Sprintf("a pool of %d is more than the target's max_connections of %d", shape.Connections, t.MaxConnections), "want fewer, or a larger max_connections")
	}
}
