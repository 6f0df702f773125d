package config

import (
	"fmt"
	"strings"
	"testing"

	"perch.example/probes"
)

func withBody(body string) File {
	return File{"post.yaml", fmt.Appendf(nil, "version: 1\ntargets:\n  - name: a\n    url: https://a.example\n    probes:\n"+
		"      - {name: p, kind: http, method: POST, read_only: a search, headers: [{name: Content-Type, value: text/plain}], body: %q}\n", body)}
}

func TestSecretsInABody(t *testing.T) {
	for _, c := range []struct {
		body        string
		warns, sure bool
	}{
		{`{"text":"shoes","key":"","task_id":1}`, false, false},
		{`{"query":"query Q { task_id bearer }"}`, false, false},
		{`{"text":{"token":"hunter2"}}`, true, true},
		{`{"password":"hunter2"}`, true, true},
		{`{"login":{"PassWord":["hunter2"]}}`, true, true},
		{`{"password":12345678}`, true, true},
		{`{"password":""}`, false, false},
		{`{"key":"shoes"}`, true, false},
		{`[{"api_key":"hunter2"}]`, true, true},
		{`{"text":"eyJhbGciOiJIUzI1NiJ9.hunter2"}`, true, true},
		{`q=shoes&page=1`, false, false},
		{`q=shoes&api_key=hunter2`, true, true},
		{`q=shoes&password=hunter2`, true, true},
		{"some text; ghp_hunter2", false, false},
		{"ghp_hunter2; 100%", true, true},
	} {
		got, err := Parse(Options{}, withBody(c.body))
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
		}
		if warned := strings.Contains(strings.Join(got.Warnings, "\n"), "literal that looks like a secret"); warned != c.warns {
			t.Errorf("%s: warned %v: %q", c.body, warned, got.Warnings)
		}
		_, err = Parse(Options{NoCredentials: true}, withBody(c.body))
		if refused := err != nil; refused != c.sure || strings.Contains(fmt.Sprint(got.Warnings, err), "hunter2") {
			t.Errorf("%s: refused %v: %v", c.body, refused, err)
		}
	}
}

// TestPolicyAndPOST: a policy has the last word, also on a POST that somebody
// vouches for.
func TestPolicyAndPOST(t *testing.T) {
	for _, c := range []struct {
		policy *probes.Policy
		says   string
	}{
		{nil, ""},
		{&probes.Policy{File: "policy.yaml"}, "the policy does not allow the method POST"},
		{&probes.Policy{File: "policy.yaml", Methods: []string{"GET", "POST"}}, ""},
	} {
		_, err := Parse(Options{Policy: c.policy}, withBody("shoes"))
		if c.says == "" && err != nil || !strings.Contains(fmt.Sprint(err), c.says) && c.says != "" {
			t.Errorf("%+v: %v, want %q", c.policy, err, c.says)
		}
	}
}

func TestBodyArrives(t *testing.T) {
	got, err := Parse(Options{}, withBody("a\nb"))
	if err != nil || string(got.Targets[0].Probes[0].Body) != "a\nb" {
		t.Errorf("%v, %v", got.Targets, err)
	}
	if _, err := Parse(Options{}, withBody(strings.Repeat("a", maxBody+1))); err == nil || !strings.Contains(err.Error(), "want at most 65536") {
		t.Error(err)
	}
}

// TestSecretsInARequest: a gRPC request is a body, too.
func TestSecretsInARequest(t *testing.T) {
	file := File{"grpc.yaml", []byte("version: 1\ntargets:\n  - name: a\n    url: https://a.example\n    probes:\n" +
		"      - {name: p, kind: grpc, read_only: a search, grpc: {method: a.B/List, request: '{\"token\":\"hunter2\"}'}}\n")}
	if got, err := Parse(Options{}, file); err != nil || !strings.Contains(strings.Join(got.Warnings, "\n"), "grpc.request: holds a literal that looks like a secret") {
		t.Errorf("%q, %v", got.Warnings, err)
	}
	if _, err := Parse(Options{NoCredentials: true}, file); err == nil || !strings.Contains(err.Error(), "grpc.request: holds a literal") || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}
