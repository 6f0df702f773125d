package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fleet writes a folder with a config for each perch, and returns it.
func fleet(t *testing.T, configs map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range configs {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, text)
	}
	return dir
}

// calls is a config that calls a host with a budget of rate x 10%.
func calls(host, rate, every string) string {
	return fmt.Sprintf(`
version: 1
targets:
  - {name: partner, url: "%s", rate_limit: %s, share: 10%%, daily_limit: 3000, probes: [{name: get, kind: http, path: /, every: %s}]}
`, host, rate, every)
}

// TestFleetGate: configs that keep the policy each, and break what it allows a host
// in all, fail together, and those that add up are named; one host is one
// however it is written.
func TestFleetGate(t *testing.T) {
	t.Parallel()
	dir := fleet(t, map[string]string{
		"shop/perch.yaml":       calls("https://api.partner.example", "20/s", "5m"),
		"pay/eu/a.yaml":         calls("https://API.Partner.Example.:443/v1", "10/s", "1m"),
		"pay/us/perch.yaml":     calls("http://api.partner.example:8080", "20/s", "always"),
		"search/perch.yaml":     calls("https://other.example", "20/s", "5m"),
		"notes.d/readme.txt":    "no config",
		".git/hooks/perch.yaml": "no config",
	})
	shop, eu, us := filepath.Join(dir, "shop"), filepath.Join(dir, "pay/eu"), filepath.Join(dir, "pay/us")
	for name, c := range map[string]struct {
		policy string
		args   []string
		code   int
		says   []string // on stderr, behind the policy's file and line
	}{
		"no policy":        {"", []string{dir}, exitOK, nil},
		"enough":           {"fleet: [{host: api.partner.example, rate_limit: 50/s, share: 10%, daily_limit: 5000, max_connections: 3}]", []string{dir}, exitOK, nil},
		"the budgets":      {"fleet: [{host: api.partner.example, rate_limit: 20/s, share: 20%}]", []string{dir}, exitUsage, []string{"api.partner.example: the budgets are 5/s together, the policy allows 4/s: " + us + " 2/s (partner); " + shop + " 2/s (partner); " + eu + " 1/s (partner) (", ":2: fleet, api.partner.example)"}},
		"two of them":      {"fleet: [{host: api.partner.example, rate_limit: 20/s, share: 20%}]", []string{shop, us}, exitOK, nil},
		"a day":            {"fleet: [{host: API.partner.example., daily_limit: 4000}]", []string{dir}, exitUsage, []string{"up to 4728 requests a day together, the policy allows 4000: " + us + " 3000 a day (partner); " + eu + " 1440 a day (partner); " + shop + " 288 a day (partner)"}},
		"connections":      {"fleet: [{host: api.partner.example, max_connections: 2}]", []string{dir}, exitUsage, []string{"3 connections together, the policy allows 2: "}},
		"one alone":        {"fleet: [{host: api.partner.example, rate_limit: 20/s, share: 5%}]", []string{shop}, exitUsage, []string{"the budgets are 2/s together, the policy allows 1/s: " + shop}},
		"an inflated rate": {"fleet: [{host: api.partner.example, rate_limit: 10/s}]", []string{dir}, exitUsage, []string{"perch.yaml:4: targets[0].rate_limit: rate_limit is 20/s, and the host allows everybody less ("}},
	} {
		args := append([]string{"plan", "--check"}, c.args...)
		if c.policy != "" {
			args = append(args, "--policy", policyFile(t, "version: 1\n"+c.policy+"\n"))
		}
		r := perch(t.Context(), nil, args...)
		if r.code != c.code || r.stdout != "" {
			t.Errorf("%s: exit status %d, want %d\n%s%s", name, r.code, c.code, r.stdout, r.stderr)
		}
		want(t, name, r.stderr, c.says...)
	}
	loose := policyFile(t, "version: 1\nmin_every: 1m\n")
	text := perch(t.Context(), nil, "plan", dir, "--policy", loose).stdout
	if n := strings.Count(text, "policy        "+loose+"\n"); n != 4 {
		t.Errorf("%d of 4 plans name the policy:\n%s", n, text)
	}
	want(t, "the plan", text, "note: api.partner.example: the configs declare different rate limits, the smallest counts here: 10/s ("+eu+"); 20/s ("+us+", "+shop+")\n")
	if strings.Count(text, "\napi.partner.example") != 1 || strings.Contains(text, "API.Partner") {
		t.Errorf("the host has other than one line:\n%s", text)
	}
}

// TestRunKeepsTheFleetsLimit: a run that by itself is beyond it sends nothing.
func TestRunKeepsTheFleetsLimit(t *testing.T) {
	t.Parallel()
	path := configFile(t, "", calls("http://127.0.0.1:1", "20/s", "5m"))
	p := &platform{mounted: policyFile(t, "version: 1\nfleet: [{host: 127.0.0.1, rate_limit: 20/s, share: 1%}]\n")}
	r := p.perch(t, nil, "run", "--config", path)
	if r.code != exitUsage || len(p.dialed) > 0 {
		t.Errorf("exit status %d, dialled %q", r.code, p.dialed)
	}
	want(t, "the run", r.stderr, "127.0.0.1: the budgets are 2/s together, the policy allows 0.2/s")
}

// TestPartsKeepTheFleetsLimit: neither a shard nor --only is a way around what the
// whole config breaks.
func TestPartsKeepTheFleetsLimit(t *testing.T) {
	t.Parallel()
	path := configFile(t, "", `
version: 1
name: shop
vantage: test
targets:
  - {name: payments, url: "http://127.0.0.1:1", rate_limit: 6/s, share: 10%, probes: [{name: get, kind: http, path: /, every: 5m}]}
  - {name: search, url: "http://127.0.0.1:1", rate_limit: 6/s, share: 10%, probes: [{name: get, kind: http, path: /, every: always}]}
`)
	policy := policyFile(t, "version: 1\nfleet: [{host: 127.0.0.1, rate_limit: 10/s, share: 10%, daily_limit: 200000}]\n")
	for name, c := range map[string]struct {
		env  map[string]string
		only []string
	}{
		"all": {}, "--only": {only: []string{"--only", "payments"}},
		"shard 0": {env: inShard(nil, 0, 2)}, "shard 1": {env: inShard(nil, 1, 2)}, "a shard without targets": {env: inShard(nil, 2, 3)},
	} {
		for _, command := range [][]string{{"run", "--all"}, {"serve"}, {"plan"}, {"plan", "--check"}} {
			p := &platform{mounted: policy}
			r := p.perch(t, c.env, append(append(command, "--config", path), c.only...)...)
			if r.code != exitUsage || len(p.dialed) > 0 {
				t.Errorf("%s: perch %s: exit status %d, dialled %q", name, command[0], r.code, p.dialed)
			}
			want(t, name+": "+command[0], r.stderr, "127.0.0.1: the budgets are 1.2/s together, the policy allows 1/s", "(payments, search)")
		}
	}
	enough := policyFile(t, "version: 1\nfleet: [{host: 127.0.0.1, rate_limit: 20/s, share: 10%}]\n")
	for i := range 2 {
		if r := (&platform{mounted: enough}).perch(t, inShard(nil, i, 2), "plan", "--check", path); r.code != exitOK {
			t.Errorf("shard %d of what the policy allows: exit status %d\n%s", i, r.code, r.stderr)
		}
	}
}

// TestFoldersOfAFleet: what was one config stays one.
func TestFoldersOfAFleet(t *testing.T) {
	t.Parallel()
	dir := fleet(t, map[string]string{
		"a.yaml": "version: 1\nname: one\n", "b.yaml": calls("https://a.example", "1/s", "5m"),
		"below/perch.yaml": "no config",
	})
	r := perch(t.Context(), nil, "plan", dir)
	if r.code != exitOK || !strings.HasPrefix(r.stdout, "one: 1 step") {
		t.Errorf("exit status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	empty := t.TempDir()
	r = perch(t.Context(), nil, "plan", "--check", empty)
	if r.code != exitUsage {
		t.Errorf("an empty folder: exit status %d", r.code)
	}
	want(t, "an empty folder", r.stderr, `"`+empty+`" holds no *.yaml`)
}
