package config

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"perch.example/probes"
)

// maxBody bounds a body: a search or a query is far below it.
const maxBody = 64 << 10

// body is a request's body: text of one or more lines.
func body() value {
	v := hidden(text("text"))
	v.parse = func(s string) (any, *trouble) {
		if len(s) > maxBody {
			return nil, &trouble{fmt.Sprintf("is %d bytes long", len(s)), fmt.Sprintf("want at most %d", maxBody)}
		}
		if i := strings.IndexFunc(s, func(r rune) bool { return isControl(r) && r != '\n' && r != '\t' && r != '\r' }); i >= 0 {
			return nil, &trouble{fmt.Sprintf("holds a control character at byte %d", i+1), "want text"}
		}
		return s, nil
	}
	v.schema = map[string]any{"type": "string", "maxLength": maxBody}
	return v
}

// wherePost is the schema of a probe that is a POST by its own level. What a level
// above says, Load alone sees.
func wherePost() map[string]any {
	most := func(n int) map[string]any { return map[string]any{"maximum": n} }
	return map[string]any{
		"if": map[string]any{"required": []string{"method"}, "properties": map[string]any{"method": map[string]any{"const": "POST"}}},
		"then": map[string]any{"required": []string{"read_only"}, "properties": map[string]any{
			"kind": map[string]any{"const": "http"}, "requests": most(1), "follow_redirects": most(0),
			"retry": map[string]any{"properties": map[string]any{"attempts": most(1)}}, "addresses": map[string]any{"const": "one"},
		}},
	}
}

// postRules check what a POST may be, and that nothing else is dressed as one,
// once all levels are merged.
func (c *checker) postRules(s *probes.Spec, p probeSettings) {
	at := func(key string) place { return c.at(p.Place, key) }
	c.changesNothing(s, p)
	switch {
	case s.GRPC != nil:
		if s.Method == http.MethodPost && c.has(p.Place, "method") { // what a level above says is for others
			c.wrong(at("method"), "is gRPC's own", "leave it out: a gRPC call is named under grpc")
		}
		return
	case s.Method != http.MethodPost:
		if len(s.Body) > 0 {
			c.wrong(at("body"), "is for a POST, and this is a "+s.Method, `write method: POST and read_only: "<why>", or leave it out`)
		}
		if s.ReadOnly != "" {
			c.wrong(at("read_only"), "vouches for a POST, and this is a "+s.Method, "leave it out: a "+s.Method+" changes nothing by itself")
		}
		return
	case s.ReadOnly == "" && c.has(p.Place, "read_only"): // wrongly, which was told
		return
	case s.ReadOnly == "":
		c.wrong(at("method"), "may change something, and perch only reads", `say why this POST changes nothing: read_only: "<why>"; or want GET, HEAD or OPTIONS`)
		return
	}
	c.sentOnce(s, p)
	c.bodyRules(s, at("body"))
}

// sentOnce refuses what would send a POST twice, or on a connection that served
// before.
func (c *checker) sentOnce(s *probes.Spec, p probeSettings) {
	at := func(key string) place { return c.at(p.Place, key) }
	switch {
	case s.Kind != probes.KindHTTP:
		c.wrong(at("method"), "a POST goes out on a fresh connection only, and this probe is "+string(s.Kind), "make it kind: http, or want GET, HEAD or OPTIONS")
	case s.Requests > 1:
		c.wrong(at("requests"), "a POST is sent once, on a fresh connection", "leave it out")
	case s.Redirects > 0:
		c.wrong(at("follow_redirects"), "a POST is sent once, and no redirect of it is followed", "write follow_redirects: 0 on this probe")
	case s.Retry.Attempts > 1:
		c.wrong(at("retry"), "a POST is never sent twice", "write retry: {attempts: 1} on this probe")
	case s.Way.Addresses == probes.AddressesAll:
		c.wrong(at("addresses"), "a POST is sent once, not to each address", "write addresses: one on this probe")
	}
}

// bodyRules: a body has a type, and is no place for secrets.
func (c *checker) bodyRules(s *probes.Spec, at place) {
	if len(s.Body) == 0 {
		return
	}
	if !json.Valid(s.Body) && !typed(s.Headers) {
		c.wrong(at, "is no JSON, and no header says what it is", "write headers: [{name: Content-Type, value: ...}]")
	}
	looks, sure := bodySecrets(s.Body)
	if looks {
		c.exposed(at, sure, "holds a literal that looks like a secret", "send it as a header: {name: ..., from: {env: NAME}}")
	}
}

func typed(headers []probes.Field) bool {
	for _, h := range headers {
		if http.CanonicalHeaderKey(h.Name) == "Content-Type" {
			return true
		}
	}
	return false
}

// changesNothing refuses what may be carried out as a change. What comes from a source
// is looked at when it is sent.
func (c *checker) changesNothing(s *probes.Spec, p probeSettings) {
	if s.URL == nil || s.GRPC != nil {
		return
	}
	u, header, later := *s.URL, http.Header{}, false
	literals, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return // told where it is written
	}
	for _, f := range s.Query {
		if !f.From.Zero() {
			later = true
			continue
		}
		literals.Add(f.Name, f.Value)
	}
	u.RawQuery = literals.Encode()
	for _, f := range s.Headers {
		if f.From.Zero() {
			header.Set(f.Name, f.Value)
		}
	}
	const fix = "perch only reads: want GraphQL of queries alone, with their text, and no other method"
	if err := probes.ChangesNothing(http.MethodGet, &u, header, nil); err != nil {
		key := "path"
		if !c.has(p.Place, key) {
			key = "query"
		}
		c.wrong(c.at(p.Place, key), "the request may change something: "+err.Error(), fix)
		return
	}
	if len(s.Body) == 0 && later {
		return // the text may be in a parameter
	}
	if err := probes.ChangesNothing(s.Method, &u, header, s.Body); err != nil {
		c.wrong(c.at(p.Place, "body"), "the request may change something: "+err.Error(), fix)
	}
}

// bodySecrets reports whether a body holds what looks like a secret, and whether
// it is one beyond reasonable doubt.
func bodySecrets(body []byte) (looks, sure bool) {
	var found secrets
	var parsed any
	if err := json.Unmarshal(body, &parsed); err == nil {
		found.in("", parsed)
		return found.looks, found.sure
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		found.in("", string(body))
	}
	for name, vals := range form {
		found.in(name, strings.Join(vals, " "))
	}
	return found.looks, found.sure
}

type secrets struct{ looks, sure bool }

// in looks through a value and what is below it.
func (f *secrets) in(name string, val any) {
	switch val := val.(type) {
	case map[string]any:
		for name, below := range val {
			f.in(name, below)
		}
	case []any:
		for _, below := range val {
			f.in(name, below)
		}
	case float64:
		f.sure = f.sure || secretMember(name)
		f.looks = f.looks || f.sure
	case string:
		sure := val != "" && (credential(name, val) || secretMember(name))
		word := !strings.ContainsAny(val, " \n") // prose, and a query's text, hold anything
		f.sure = f.sure || sure
		f.looks = f.looks || sure || val != "" && secretName(name) || word && looksSecret(val)
	}
}

// secretMember reports whether a body's member, or a form's field, of this name is for
// a secret alone. Such as "key" and "session" are for other things, too.
func secretMember(name string) bool {
	switch folded(name) {
	case "key", "session", "auth", "pass", "sig", "signature":
		return false
	}
	return secretName(name)
}
