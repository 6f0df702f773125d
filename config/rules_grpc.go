package config

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"perch.example/probes"
)

// grpcRules check what a gRPC call may be, once all levels are merged, and make
// its spec one of gRPC's: what the levels above say for plain HTTP does not count.
func (c *checker) grpcRules(s *probes.Spec, p probeSettings) {
	at := func(key string) place { return c.at(p.Place, key) }
	if s.GRPC == nil {
		if s.Expect.Speaks("grpc") {
			c.wrong(c.origin(p.Place, "expect"), "speaks of grpc, and this probe is no gRPC", "leave that out, or make the probe kind: grpc")
		}
		return
	}
	switch s.Kind {
	case probes.KindGRPC, probes.KindIdle:
	case probes.KindTLS: // kindRules told
		return
	default:
		c.wrong(at("grpc"), "is for kinds grpc and idle, and this probe is "+string(s.Kind), "leave it out, or make it kind: grpc")
		return
	}
	c.grpcMethod(s, p.Place)
	for _, key := range []string{"path", "body", "method", "query", "follow_redirects"} {
		if c.has(p.Place, key) && (key != "method" || s.Method != http.MethodPost) { // that is told by postRules
			c.wrong(at(key), "is for plain HTTP, and this probe calls gRPC", "leave it out: what is called stands under grpc")
		}
	}
	if c.has(p.Place, "protocol") && s.Protocol != probes.ProtocolH2 && s.Protocol != probes.ProtocolH2C {
		c.wrong(at("protocol"), string(s.Protocol)+" does not carry gRPC", "leave it out: it is h2 for an https url, h2c for http")
	}
	c.grpcMetadata(s, p.Place)
	s.Method, s.Redirects, s.Query, s.Requests = http.MethodPost, 0, nil, 0
}

// grpcMethod checks what is called.
func (c *checker) grpcMethod(s *probes.Spec, at place) {
	g := s.GRPC
	key := func(key string) place { return c.at(c.at(at, "grpc"), key) }
	if g.Method == "" {
		const fix = "name one: method: shop.Stock/List, or leave it out: a health check needs neither"
		if len(g.Request) > 0 {
			c.wrong(key("request"), "is a method's, and none is named", fix)
		}
		if g.DescriptorSet != "" {
			c.wrong(key("descriptor_set"), "describes a method, and none is named", fix)
		}
		if s.ReadOnly != "" {
			c.wrong(c.at(at, "read_only"), "vouches for a method, and none is named: a health check changes nothing", "leave it out, or name a method under grpc")
		}
		return
	}
	if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*/[A-Za-z_][A-Za-z0-9_]*$`).MatchString(g.Method) {
		c.wrong(key("method"), show(g.Method, false)+" names no method", "want its service, a slash and its name, such as shop.Stock/List")
		return
	}
	if g.Service != "" {
		c.wrong(key("service"), "is for the health check, and a method is named", "leave it out: the method names its service itself")
	}
	if s.ReadOnly == "" && !c.has(at, "read_only") {
		c.wrong(key("method"), "may change something, and perch only reads", `say why this method changes nothing: read_only: "<why>"; or leave it out for the health check`)
	}
	if len(g.Request) > 0 && !json.Valid(g.Request) {
		c.wrong(key("request"), "is no JSON", `want the request's message as JSON, such as '{"limit": 1}'`)
	}
	if looks, sure := bodySecrets(g.Request); looks {
		c.exposed(key("request"), sure, "holds a literal that looks like a secret", "send it as metadata: headers: [{name: ..., from: {env: NAME}}]")
	}
	if word := action(spaced(g.Method[strings.IndexByte(g.Method, '/'):])); word != "" {
		c.warn(key("method"), fmt.Sprintf("the method looks like an action (%s)", word), "make sure that it changes nothing")
	}
}

// spaced puts a slash before each capital: "/DeleteItem" is "/Delete/Item".
func spaced(name string) string {
	return regexp.MustCompile(`[A-Z]+[a-z0-9]*`).ReplaceAllString(name, "/$0")
}

// grpcMetadata refuses headers that are gRPC's own. Others become metadata.
func (c *checker) grpcMetadata(s *probes.Spec, at place) {
	for _, h := range s.Headers {
		name := strings.ToLower(h.Name)
		switch {
		case strings.HasPrefix(name, "grpc-"), name == "content-type" && c.has(at, "headers"):
			c.wrong(c.origin(at, "headers"), "the header "+show(h.Name, false)+" is gRPC's own", "leave it out: perch sets it")
		case strings.HasSuffix(name, "-bin") && h.From.Zero() && !inBase64(h.Value):
			c.wrong(c.origin(at, "headers"), "the value of "+show(h.Name, false)+" is no base64, which metadata in -bin is", "encode it")
		}
	}
}

func inBase64(s string) bool {
	_, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return err == nil
}
