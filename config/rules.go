package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
	"perch.example/probes/expect"
)

// sourceRules: a secret has exactly one source.
func sourceRules(c *checker, at place, m map[string]any) {
	if c.has(at, "env") == c.has(at, "file") || m["env"] == "" || m["file"] == "" {
		c.wrong(at, "names no single source", "want {env: NAME} or {file: PATH}")
	}
}

// fieldRules: a header or parameter is a literal or comes from a source.
func fieldRules(c *checker, at place, m map[string]any) {
	literal, from, prefix := c.has(at, "value"), c.has(at, "from"), c.has(at, "prefix")
	switch {
	case literal == from:
		c.wrong(at, "needs value or from, one of them", "a literal: {name: Accept, value: text/plain}; a secret: {name: ..., from: {env: NAME}}")
	case prefix && !from:
		c.wrong(at, "has a prefix but no from", "write it in front of the value")
	}
	name, _ := m["name"].(string)
	if val, _ := m["value"].(string); val != "" && (secretName(name) || looksSecret(val)) {
		c.exposed(c.at(at, "value"), credential(name, val), fmt.Sprintf("the literal value of %q looks like a secret", clip(name)), "read it: from: {env: NAME} or from: {file: PATH}")
	}
}

// sharedRules check what one level says by itself.
func sharedRules(c *checker, at place, m map[string]any) {
	c.onceByName(at, m, "headers")
	c.noTwins(at, m)
}

// probeRules check what a probe says by itself.
func probeRules(c *checker, at place, m map[string]any) {
	sharedRules(c, at, m)
	kindRules(c, at, m)
	if p, _ := m["path"].(string); p != "" {
		c.doubtPath(c.at(at, "path"), p)
	}
}

// onceByName: levels merge headers by name, so within a list a name is once.
func (c *checker) onceByName(at place, m map[string]any, key string) {
	items, _ := m[key].([]any)
	seen := map[string]bool{}
	for _, item := range items {
		header, _ := item.(map[string]any)
		name, _ := header["name"].(string)
		folded := strings.ToLower(name)
		if folded != "" && seen[folded] {
			where, _ := header[positionKey].(place)
			c.wrong(where, fmt.Sprintf("the header %q is given twice", clip(name)), "keep one, or join the values with a comma")
		}
		seen[folded] = true
	}
}

// noTwins: a rung twice in a ladder says nothing new and costs requests.
func (c *checker) noTwins(at place, m map[string]any) {
	holds, _ := m["holds"].([]any)
	seen := map[any]bool{}
	for _, h := range holds {
		if seen[h] {
			c.wrong(c.at(at, "holds"), fmt.Sprintf("holds %s twice", probes.Spoken(h.(time.Duration))), "keep one")
		}
		seen[h] = true
	}
}

// doubtPath warns about paths that look like actions or carry a secret.
func (c *checker) doubtPath(at place, path string) {
	u, err := url.Parse(path)
	if err != nil {
		return
	}
	if word := action(u.Path); word != "" {
		c.warn(at, fmt.Sprintf("the path looks like an action (%s)", word), "make sure that a request changes nothing there")
	}
	if secretParameter(u.RawQuery) {
		c.warn(at, "the query holds a literal that looks like a secret", "move it to query: {name: ..., from: {env: NAME}}")
	}
}

// action returns the word that makes a path look like it does something.
func action(path string) string {
	words := strings.FieldsFunc(strings.ToLower(path), func(r rune) bool { return strings.ContainsRune("/-_.:;", r) })
	for _, w := range words {
		switch w {
		case "logout", "signout", "logoff", "unsubscribe", "subscribe", "delete", "remove", "destroy", "purge", "drop", "erase", "wipe",
			"cancel", "revoke", "disable", "deactivate", "reset", "restart", "reboot", "shutdown", "kill", "create", "insert", "update",
			"approve", "reject", "confirm", "send", "trigger", "execute", "rollback", "flush", "checkout", "refund":
			return w
		}
	}
	return ""
}

// expressionRules compiles one expectation, to refuse it where it is written.
func expressionRules(c *checker, at place, got any) {
	_, err := c.compiler.Compile([]string{got.(string)})
	var bad *expect.Error
	if errors.As(err, &bad) {
		c.wrong(at, bad.Problem, bad.Fix)
	} else if err != nil {
		c.wrong(at, err.Error(), "")
	}
}

// tlsRules: a client certificate is of no use without its key.
func tlsRules(c *checker, at place, m map[string]any) {
	cert, _ := m["cert_file"].(string)
	key, _ := m["key_file"].(string)
	if (cert == "") != (key == "") {
		c.wrong(at, "has a client certificate without its key, or a key alone", "want both cert_file and key_file, or neither")
	}
}

// known refuses a client that the catalog lacks.
func known(c *checker, at place, name string, catalog []string) {
	if len(catalog) == 0 || slices.Contains(catalog, name) {
		return
	}
	c.wrong(at, "perch does not know the client "+show(name, false), "want "+oneOf(catalog)+didYouMean(name, catalog))
}
