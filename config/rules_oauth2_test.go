package config

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"perch.example/probes"
)

func TestOAuthOfLevels(t *testing.T) {
	data, err := os.ReadFile("testdata/good/oauth2.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(Options{}, File{"oauth2.yaml", data})
	if err != nil {
		t.Fatal(err)
	}
	a, b := got.Targets[0].Probes, got.Targets[1].Probes
	if o := a[0].OAuth; o.TokenURL.String() != "https://login.example/oauth2/token" || o.ClientID != "shop" || o.InBody || o.DailyLimit != 500 || len(o.Scopes) != 0 {
		t.Errorf("%+v", o)
	}
	if o := a[1].OAuth; o.ClientID != "shop" || !o.InBody || o.DailyLimit != 50 || o.Audience != "stock" || !slices.Equal(o.Scopes, []string{"stock.read"}) {
		t.Errorf("%+v", o)
	}
	if a[2].OAuth != nil || b[0].OAuth.Host() != "127.0.0.1" {
		t.Errorf("%+v, %+v", a[2].OAuth, b[0].OAuth)
	}
	if want := []probes.Source{{File: "/etc/perch/secrets/shop"}, {Env: "OWN"}}; !slices.Equal(got.Sources(), want) {
		t.Errorf("%+v", got.Sources())
	}
}

func TestPolicyOfTokens(t *testing.T) {
	data, err := os.ReadFile("testdata/good/oauth2.yaml")
	if err != nil {
		t.Fatal(err)
	}
	policy := &probes.Policy{File: "policy.yaml", Hosts: []string{"api.example", "b.example", "127.0.0.1"}}
	_, err = Parse(Options{Policy: policy}, File{"oauth2.yaml", data})
	if got := fmt.Sprint(err); got != `oauth2.yaml:5: defaults.oauth2.token_url: the policy does not allow the host "login.example" (policy.yaml: hosts)` {
		t.Error(got)
	}
	policy.Hosts = append(policy.Hosts, "login.example")
	if _, err := Parse(Options{Policy: policy}, File{"oauth2.yaml", data}); err != nil {
		t.Error(err)
	}
}

func TestOAuthOfATLSProbe(t *testing.T) {
	got, err := Parse(Options{}, File{"t.yaml", []byte("version: 1\ndefaults: {oauth2: {token_url: https://l.example, client_id: a, client_secret: {from: {env: S}}}}\n" +
		"targets: [{name: a, url: https://a.example, probes: [{name: p, kind: tls}]}]\n")})
	if err != nil && !strings.Contains(err.Error(), "oauth2") || err == nil && got.Targets[0].Probes[0].OAuth != nil {
		t.Errorf("%+v, %v", got.Targets, err)
	}
}

func TestTokenOverPlainHTTP(t *testing.T) {
	for address, warned := range map[string]bool{"http://a.example": true, "https://a.example": false, "http://127.0.0.1:80": false} {
		got, err := Parse(Options{}, File{"t.yaml", []byte("version: 1\ndefaults: {oauth2: {token_url: https://l.example, client_id: a, client_secret: {from: {env: S}}}}\n" +
			"targets: [{name: a, url: \"" + address + "\", probes: [{name: p, kind: http}]}]\n")})
		if err != nil || strings.Contains(fmt.Sprint(got.Warnings), "the token goes out over plain http") != warned {
			t.Errorf("%s: %q, %v", address, got.Warnings, err)
		}
	}
}
