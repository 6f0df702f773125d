package probes

import (
	"cmp"
	"context"
	"net/http"
	"strings"
)

// addBody gives each request the spec's body. What nobody gave a type is JSON:
// the config wants one for all else.
func (c *call) addBody() {
	c.body = c.spec.Body
	if len(c.body) > 0 && c.header.Get("Content-Type") == "" {
		c.set("Content-Type", "application/json", true)
	}
}

// leave is the last gate of a request: the policy, what it may be at all, and the
// budget, in this order. On nil its first byte leaves.
func (c *call) leave(ctx context.Context, r *http.Request, role Role) error {
	if err := c.allowedTo(r); err != nil {
		return err
	}
	if err := c.harmless(r); err != nil {
		return err
	}
	if err := c.env.Slots.Send(ctx, role); err != nil {
		return err
	}
	c.sent = true
	if c.left != nil {
		c.left()
	}
	return nil
}

// harmless refuses a request that may change something, whatever the config's
// own checks let through. A POST is gRPC's, or one that its spec vouches for: that
// is the first request of its step, so that none is sent twice or on a connection
// that may be closing.
func (c *call) harmless(r *http.Request) error {
	s := c.spec
	if err := overridesMethod(r.Header); err != nil {
		return &Denied{Why: "the request may change something: " + err.Error()}
	}
	vouched := strings.TrimSpace(s.ReadOnly) != ""
	switch cmp.Or(r.Method, http.MethodGet) {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
	case http.MethodPost:
		switch {
		case s.GRPC != nil && s.GRPC.Method != "" && !vouched:
			return &Denied{Why: "nobody says that the gRPC method " + s.GRPC.Method + " changes nothing (read_only)"}
		case s.GRPC != nil:
			return nil // its body is no text
		case !vouched:
			return &Denied{Why: "nobody says that this POST changes nothing (read_only)"}
		case s.Kind != KindHTTP:
			return &Denied{Why: "a POST goes out on fresh connections only: kind " + string(s.Kind) + " has none"}
		case c.unused:
			return &Denied{Why: "a POST goes out on fresh connections only, and this one waited"}
		case c.sent:
			return &Denied{Why: "a POST is sent once, on a fresh connection: something left already"}
		}
	default:
		return &Denied{Why: "the method " + r.Method + " may change something, and perch only reads"}
	}
	if err := ChangesNothing(r.Method, r.URL, r.Header, c.body); err != nil {
		return &Denied{Why: "the request may change something: " + err.Error()}
	}
	return nil
}
