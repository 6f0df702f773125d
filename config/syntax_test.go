package config

import (
	"fmt"
	"strings"
	"testing"
)

// TestSyntaxLines holds the lines to those that another YAML reader (PyYAML
// 6.0: the construct that it was in, else the place) names for the same texts.
func TestSyntaxLines(t *testing.T) {
	const quotes, indent = "stand in quotes", "look at the indentation"
	for name, tt := range map[string]struct {
		text string
		line int
		fix  string
	}{
		"a question mark in braces":    {"a: 1\nb:\n  - {x: 1, path: /c?d=2}\nc: 1\n", 3, quotes},
		"a colon in braces":            {"a: 1\nb: {from: X, prefix: Bearer : x}\nc: 3\n", 2, quotes},
		"an expression in brackets":    {"a: 1\n\n\nb: [status == 200, a ? b : c]\n", 4, quotes},
		"braces over two lines":        {"a: 1\n\nb: {p: /c?d=2,\n  e: f}\n", 3, quotes},
		"braces in the first line":     {"{a: b, c: /d?e}\n", 1, quotes},
		"a question mark leads":        {"a: {b: ?c}\n", 1, quotes},
		"a bracket stays open":         {"a: 1\nb: [1, 2\nc: 1\n", 2, quotes},
		"a colon in text":              {"a: 1\nb: x: y\nc: 1\n", 2, indent},
		"indented under a value":       {"a: 1\n  b: 2\nc: 1\n", 2, indent},
		"outdented half way":           {"a:\n    b: 1\n  c: 2\n", 3, ""},
		"a list in a mapping":          {"a: 1\n- b\n", 2, ""},
		"a closing brace too many":     {"a: {b: c}}\n", 1, ""},
		"a tab":                        {"a: 1\nb:\n\t- c\n", 3, "spaces, not tabs"},
		"a reserved character":         {"a: 1\nb: @x\n", 2, "begins with @"},
		"an escape":                    {"a: 1\nb: \"x\\q\"\nc: 3\n", 2, ""},
		"a quote stays open":           {"a: 1\nb: \"x\nc: 1\n", 2, ""},
		"a line without a colon":       {"a: 1\nb: x\nnocolon\nc: 2\n", 3, ""},
		"a comma, which YAML takes":    {"version: 1\ntargets:\n  - {name: a, url: \"https://a.example\", runbook: https://w/x,y, probes: []}\n", 3, "a comma ends a value"},
		"an alias that has no anchor":  {"a: 1\nb: *x\n", 2, "begins with *"},
		"braces from the first line":   {"a: {\n  b: c,\n  d: /e?f}\n", 3, quotes},
		"a channel in braces":          {"a: 1\nslack: {from: x, channel: #alerts}\nc: 3\n", 2, "begins with #"},
		"a channel, and more":          {"a: 1\nb:\n  - {channel: #stock, probes: [{name: p}]}\n", 3, "begins with #"},
		"a channel over two lines":     {"a: 1\nb: {channel: #stock,\n  c: d}\ne: [1]\n", 2, "begins with #"},
		"a comment in braces":          {"a: 1\nb: {c: 1, # d\n  p: /e?f}\n", 2, quotes},
		"no YAML in a second document": {"version: 1\n---\na: {b: /c?d}\n", 3, quotes},
	} {
		_, err := Parse(Options{}, File{"perch.yaml", []byte(tt.text)})
		want := fmt.Sprintf("perch.yaml:%d: ", tt.line)
		if got := fmt.Sprint(err); !hasLine(got, want, tt.fix) {
			t.Errorf("%s: %s\nwant a line %q with %q", name, got, want, tt.fix)
		}
	}
}

// hasLine reports whether a line begins and goes on as asked.
func hasLine(text, begins, holds string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, begins) && strings.Contains(line, holds) {
			return true
		}
	}
	return false
}
