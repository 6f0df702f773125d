package plan_test

import (
	"strings"
	"testing"

	"perch.example/config"
	"perch.example/plan"
)

// TestWayNotes: what the environment does to a target is said once, with what the
// declared client makes of it.
func TestWayNotes(t *testing.T) {
	const proxy = "http://me:s3cret@proxy.example:3128"
	tests := []struct {
		name, target, says string // empty: nothing
		env                map[string]string
	}{
		{"no proxy", "", "", nil},
		{"a proxy", "", "api: the environment's HTTPS_PROXY sends its connections through http://proxy.example:3128", map[string]string{"HTTPS_PROXY": proxy}},
		{"excepted", "", "", map[string]string{"HTTPS_PROXY": proxy, "NO_PROXY": "example"}},
		{"none", "proxy: none", "", map[string]string{"HTTPS_PROXY": proxy}},
		{"its own", "proxy: http://other.example:1", "", map[string]string{"HTTPS_PROXY": proxy}},
		{"does not read", "client: {kind: okhttp}", "http://proxy.example:3128, and okhttp does not read it by itself (Java has system properties in its place, such as https.proxyHost): write proxy: none, unless the application is told to", map[string]string{"HTTPS_PROXY": proxy}},
		{"reads", "client: {kind: go-net-http}", "through http://proxy.example:3128$", map[string]string{"https_proxy": proxy}},
		{"reads not all", "client: {kind: go-net-http}", "go-net-http does not read ALL_PROXY: write proxy: none", map[string]string{"ALL_PROXY": proxy}},
		{"reads all", "client: {kind: requests}", "through http://proxy.example:3128$", map[string]string{"ALL_PROXY": proxy}},
		{"addresses", "addresses: all", "addresses: all has no effect", map[string]string{"HTTPS_PROXY": proxy}},
		{"no URL", "", "api: HTTPS_PROXY in the environment is no proxy's URL", map[string]string{"HTTPS_PROXY": "http://s3cret@[bad"}},
	}
	for _, tt := range tests {
		text := "version: 1\ntargets:\n  - name: api\n    url: https://api.example/v1\n"
		if tt.target != "" {
			text += "    " + tt.target + "\n"
		}
		text += "    probes: [{name: a, kind: http, every: 5m}, {name: b, kind: http, every: 5m}]\n"
		cfg, err := config.Parse(config.Options{}, config.File{Name: "p.yaml", Data: []byte(text)})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		p, err := plan.New(cfg, plan.Options{Env: func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok }})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		notes := strings.Join(p.Notes, "\n")
		if strings.Contains(notes, "s3cret") || tt.target != "addresses: all" && strings.Count(notes, "\n") > 0 {
			t.Errorf("%s: %q", tt.name, notes)
		}
		if want, atEnd := strings.CutSuffix(tt.says, "$"); want == "" && notes != "" || !strings.Contains(notes, want) || atEnd && !strings.HasSuffix(notes, want) {
			t.Errorf("%s: %q, want %q", tt.name, notes, tt.says)
		}
	}
}

// TestEveryAddressIsBooked: what is sent to each address counts as often as there
// may be addresses; rungs take turns, and cost no more.
func TestEveryAddressIsBooked(t *testing.T) {
	const text = `version: 1
targets:
  - name: api
    url: https://api.example/v1
    addresses: all
    retry: {attempts: 2}
    daily_limit: 6000
    probes:
      - {name: a, kind: http, every: 5m}
      - {name: b, kind: idle, every: 5m, holds: [10s]}
`
	cfg, err := config.Parse(config.Options{}, config.File{Name: "p.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(cfg, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Requests != 1+2 || p.MaxRequests != 2*8+3 || p.Targets[0].Daily != 288*(2*8+3) {
		t.Errorf("%d to %d requests, %d a day", p.Requests, p.MaxRequests, p.Targets[0].Daily)
	}
	var b strings.Builder
	if err := p.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 to 16", "2 to 3", "note: api/a: sent to each of the host's addresses, at most 8, one after the other where the budget has room", "note: api/b: its rungs take turns at the host's addresses, one connection each"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
