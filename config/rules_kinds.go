package config

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"perch.example/probes"
	"perch.example/probes/expect"
)

// kindRules refuse what a probe says itself and its kind has no use for. What it has
// from a level above is meant for others.
func kindRules(c *checker, at place, m map[string]any) {
	kind, _ := m["kind"].(string)
	for _, key := range foreign(kind) {
		if _, there := m[key]; there {
			c.wrong(c.at(at, key), fmt.Sprintf("is for kind %s, and this probe is %s", owners(key), kind), "leave it out, or make it kind: "+owner(key))
		}
	}
	_, gap := m["gap"]
	if many, _ := m["requests"].(int); gap && kind == string(probes.KindHTTP) && many < 2 {
		c.wrong(c.at(at, "gap"), "lies between requests, and there is one", "say how many one connection is to carry, such as requests: 100; or leave it out")
	}
	_, pool := m["connections"]
	if _, calls := m["calls"]; pool && !calls && kind == string(probes.KindIdle) {
		c.wrong(c.at(at, "connections"), "is of the application's pool, for the prediction from calls, and there are none; a rung holds one connection", "name a file of call times, such as calls: calls.txt; or leave it out")
	}
	if kind == string(probes.KindTLS) {
		c.onHandshake(at, m)
	}
}

// foreign are the keys that other kinds alone have a use for.
func foreign(kind string) []string {
	ladder := []string{"holds", "unused"}
	expected, file, pool := "keep_alive", "calls", "connections"
	many := []string{"requests", "gap"}
	burst := []string{"over", "bursts"}
	request := []string{"path", "method", "headers", "query", "follow_redirects", "max_body", "read_only", "body", "grpc", "oauth2"}
	switch probes.Kind(kind) {
	case probes.KindHTTP:
		return slices.Concat(ladder, burst, []string{expected, file, pool})
	case probes.KindIdle:
		return slices.Concat(many, burst)
	case probes.KindBurst:
		return slices.Concat(ladder, []string{"retry", "follow_redirects"})
	case probes.KindGRPC:
		return slices.Concat(ladder, many, burst, []string{expected, file, pool})
	case probes.KindTLS:
		return slices.Concat(ladder, many, burst, request, []string{expected, file, pool})
	}
	return nil
}

// owner is the kind that a key is for, in the first place.
func owner(key string) string {
	return kindsFor(key)[0]
}

// owners are all kinds that a key is for.
func owners(key string) string { return oneOf(kindsFor(key)) }

// kindsFor are those, the one that it is for in the first place first.
func kindsFor(key string) []string {
	var kinds []string
	for _, k := range []probes.Kind{probes.KindHTTP, probes.KindIdle, probes.KindBurst, probes.KindGRPC, probes.KindTLS} {
		if !slices.Contains(foreign(string(k)), key) {
			kinds = append(kinds, string(k))
		}
	}
	return kinds
}

// whereKind is what a probe's schema says of a POST, and of a burst.
func whereKind() map[string]any {
	return map[string]any{"allOf": []any{wherePost(), map[string]any{
		"if":   map[string]any{"required": []string{"kind"}, "properties": map[string]any{"kind": map[string]any{"const": "burst"}}},
		"then": map[string]any{"required": []string{"requests", "over", "connections"}},
	}}}
}

// onHandshake refuses an expectation about an answer where there is none.
func (c *checker) onHandshake(at place, m map[string]any) {
	list, _ := m["expect"].([]any)
	for i, item := range list {
		text, _ := item.(string)
		set, err := c.compiler.Compile([]string{text})
		if err != nil {
			continue // told already
		}
		if _, others := set.OnHandshake(); len(others) > 0 {
			c.wrong(c.at(at, fmt.Sprintf("expect[%d]", i)), "speaks of an answer, and kind tls asks nothing", "want "+strings.Join(expect.OfHandshake(), ", ")+" alone")
		}
	}
}

// handshake makes a probe of kind tls what it is: one without a request.
func (c *checker) handshake(s *probes.Spec, p probeSettings) {
	if s.Kind != probes.KindTLS {
		return
	}
	s.Method, s.Redirects, s.Headers, s.Query = http.MethodGet, 0, nil, nil
	s.Expect, _ = s.Expect.OnHandshake() // a level above may speak of answers
	if s.URL != nil && s.URL.Scheme != "https" {
		c.wrong(c.at(p.Place, "kind"), "is tls, and the target's url is "+s.URL.Scheme, "want a url that begins with https")
	}
}
