package probes

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"

	"perch.example/probes/expect"
	"perch.example/probes/wire"
)

// Sends is what a gRPC probe calls, as gRPC writes it: "grpc.health.v1.Health/Check".
func (g GRPC) Sends() string {
	if g.Method == "" {
		return healthPath
	}
	return g.Method
}

// Reflects reports whether a probe's method is described by server reflection,
// which costs requests of its own.
func (s Spec) Reflects() bool {
	return s.GRPC != nil && s.GRPC.Method != "" && s.GRPC.DescriptorSet == ""
}

// grpcCall is the part of a call that is gRPC's.
type grpcCall struct {
	method     *described // nil: the health check, or not described yet
	known      bool       // what is sent is known
	reflection bool       // the call is one to server reflection
}

// prepareGRPC makes the call one of gRPC's, and reads the descriptor set where
// the spec names one: that is a file, which needs no target. Its error is a
// *misfit, or says which file could not be read.
func (c *call) prepareGRPC() error {
	g := c.spec.GRPC
	if g == nil {
		return nil
	}
	c.grpc = &grpcCall{}
	for _, name := range []string{"Connection", "Accept-Encoding", "Accept"} {
		c.header.Del(name)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/grpc", "Te": "trailers", "Grpc-Accept-Encoding": "identity",
		"Grpc-Timeout": grpcTimeout(c.spec.Timeouts.Response),
	} {
		c.header.Set(name, value)
	}
	c.calls(g.Sends())
	switch {
	case g.Method == "":
		c.body, c.grpc.known = framed(healthRequest(g.Service)), true
		return nil
	case g.DescriptorSet == "":
		return nil // describe asks the server
	}
	data, err := c.env.ReadFile(g.DescriptorSet)
	if err != nil {
		return fmt.Errorf("reading grpc.descriptor_set: %w", err)
	}
	files, err := filesOfSet(data)
	if err != nil {
		return fmt.Errorf("reading grpc.descriptor_set %q: %w", g.DescriptorSet, err)
	}
	d, err := describedIn(files, g.Method)
	if err != nil {
		return err
	}
	return c.speak(d)
}

// calls sets the path: gRPC's stands at the root of a host.
func (c *call) calls(method string) {
	c.url.Path, c.url.RawPath, c.url.RawQuery = "/"+method, "", ""
}

// speak makes the request of a method that is known. Its error is a *misfit.
func (c *call) speak(d *described) error {
	message, err := d.request(c.spec.GRPC.Request)
	if err != nil {
		return err
	}
	c.body, c.grpc.method, c.grpc.known = framed(message), d, true
	return nil
}

// judge decides what a whole answer says, and notes on the attempt what is
// gRPC's in it.
func (c *call) judge(a *Attempt, r wire.Response, latency time.Duration) {
	if c.grpc == nil {
		a.Reason, a.Detail = judgeAnswer(c.spec, r, latency)
		return
	}
	end, bad := endOf(r)
	if bad != nil {
		a.Reason, a.Detail = bad.reason, bad.detail
		return
	}
	a.GRPC = &GRPCStatus{Code: end.code, Name: codeName(end.code)}
	details := detailsOf(r)
	if end.code == codeResourceExhausted || end.code == codeUnavailable {
		a.RetryAfter = max(pushback(r), retryDelay(details))
	}
	said := expect.GRPC{Code: end.code, Status: codeName(end.code), Message: end.message, Details: shownDetails(details, c.grpc.types())}
	if !c.spec.Expect.ExpectsGRPC(said) && (end.code != codeOK || !end.told) {
		a.Reason, a.Detail = c.refusal(r, end, details)
		return
	}
	text, bad := c.message(r, end)
	if bad != nil {
		a.Reason, a.Detail = bad.reason, bad.detail
		return
	}
	if a.Reason, a.Detail = c.health(a.GRPC, text); a.Reason != ReasonOK {
		return
	}
	failures := c.spec.Expect.Check(expect.Answer{
		Status: r.Status, Headers: metadata(r), Body: text, Latency: latency, Proto: r.Proto, TLS: tlsVersion(r), GRPC: &said,
	})
	if len(failures) > 0 {
		a.Reason, a.Detail = worstFailure(failures)
	}
}

// types is what the details of a status, and what a message holds, may be.
func (g *grpcCall) types() typeResolver {
	if g.method == nil {
		return protoregistry.GlobalTypes
	}
	return g.method.types
}

// refusal is the reason of a status that is not expected.
func (c *call) refusal(r wire.Response, end grpcEnd, details []*anypb.Any) (Reason, string) {
	what := "gRPC status " + codeName(end.code)
	if !end.told {
		what = fmt.Sprintf("status %d and no gRPC status, which is %s to a client", r.Status, codeName(end.code))
	}
	switch {
	case upstreamReset(r) || end.code == codeUnavailable && strings.HasPrefix(end.message, envoyReset):
		return ReasonProxyUpstreamReset, what + ": a proxy on the way said it about its own upstream connection"
	case !end.told && r.Status == http.StatusTooManyRequests, end.code == codeResourceExhausted:
		return ReasonRateLimited, what
	case !end.told && r.Status >= 300 && r.Status < 400 && r.Header.Get("Location") != "":
		return ReasonRedirected, what
	case end.code == codeUnavailable, end.code == codeDeadlineExceeded:
		// DEADLINE_EXCEEDED is the 504 among gRPC's codes: whoever answered had
		// not heard in time from who should know.
		return ReasonUnavailable, what
	case end.code == codeUnauthenticated, end.code == codePermissionDenied:
		return ReasonUnauthorized, what
	}
	if named := detailNames(details); named != "" {
		what += " with " + named
	}
	return ReasonStatus, what + c.missing(end)
}

// missing says what UNIMPLEMENTED and NOT_FOUND mean of what perch calls.
func (c *call) missing(end grpcEnd) string {
	g := c.spec.GRPC
	switch {
	case !end.told || g.Method != "" || c.grpc.reflection:
		return ""
	case end.code == codeUnimplemented:
		return ": the server has no health check (grpc.health.v1.Health); name a unary method with grpc.method"
	case end.code == codeNotFound && g.Service != "":
		return fmt.Sprintf(": the server's health check knows no service %q", g.Service)
	}
	return ""
}

// detailNames names the types of a status's details that perch knows.
func detailNames(details []*anypb.Any) string {
	var names []string
	for _, d := range details {
		if m, err := protoregistry.GlobalTypes.FindMessageByURL(d.GetTypeUrl()); err == nil {
			if name := string(m.Descriptor().Name()); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, ", ")
}

// message is the answer's message as JSON; nil where a status that is not OK
// came, which has none.
func (c *call) message(r wire.Response, end grpcEnd) ([]byte, *fault) {
	if end.code != codeOK {
		return nil, nil
	}
	messages, bad := unframed(r.Body, r.Header.Get("Grpc-Encoding"), c.spec.MaxBody)
	switch {
	case bad != nil:
		return nil, bad
	case c.grpc.reflection:
		return nil, nil // of a stream, whose messages describe reads
	case len(messages) != 1:
		return nil, &fault{ReasonBadResponse, fmt.Sprintf("gRPC status OK with %d messages, a unary method has one", len(messages))}
	case c.grpc.method != nil:
		return c.grpc.method.answer(messages[0])
	}
	state, ok := healthStatus(messages[0])
	if !ok {
		return nil, &fault{ReasonBadResponse, "the message cannot be read as a grpc.health.v1.HealthCheckResponse"}
	}
	return []byte(`{"status":"` + state + `"}`), nil
}

// health judges the state that a health check gives, unless an expectation speaks
// of it. A server that does not serve says with it what others say with a 503.
func (c *call) health(said *GRPCStatus, text []byte) (Reason, string) {
	set := c.spec.Expect
	if c.spec.GRPC.Method != "" || c.grpc.reflection || len(text) == 0 || set.Speaks("json") || set.Speaks("body") {
		return ReasonOK, ""
	}
	state := strings.TrimSuffix(strings.TrimPrefix(string(text), `{"status":"`), `"}`)
	if state == healthServing {
		return ReasonOK, ""
	}
	said.Health = state
	return ReasonUnavailable, "the server's health check says " + state
}

// metadata is what came in the answer's head and in its trailers.
func metadata(r wire.Response) http.Header {
	all := r.Header.Clone()
	if all == nil {
		all = http.Header{}
	}
	for name, values := range r.Trailer {
		all[name] = append(all[name], values...)
	}
	return all
}
