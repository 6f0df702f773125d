package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/lab"
	"perch.example/probes"
)

// platform is a machine on which a policy may be mounted, and which writes down
// what is dialled.
type platform struct {
	mounted string
	now     func() time.Time
	opened  func(net.Conn) net.Conn // what perch is given for a connection; nil: itself

	mu     sync.Mutex
	dialed []string
	at     []time.Time // likewise, when
}

func (p *platform) dial(ctx context.Context, network, address string) (net.Conn, error) {
	p.mu.Lock()
	p.dialed, p.at = append(p.dialed, address), append(p.at, time.Now())
	p.mu.Unlock()
	c, err := (&net.Dialer{KeepAlive: -1}).DialContext(ctx, network, address)
	if err != nil || p.opened == nil {
		return c, err
	}
	return p.opened(c), nil
}

func (p *platform) resolve(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}, nil
}

func (p *platform) perch(t *testing.T, env map[string]string, args ...string) ran {
	t.Helper()
	return p.perchUntil(t.Context(), env, args...)
}

func (p *platform) perchUntil(ctx context.Context, env map[string]string, args ...string) ran {
	var out, errs bytes.Buffer
	code := execute(ctx, system{
		args: args, stdout: &out, stderr: &errs, readFile: os.ReadFile, mounted: p.mounted, dial: p.dial, resolve: p.resolve, now: p.now,
		env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	})
	return ran{code: code, stdout: out.String(), stderr: errs.String()}
}

func policyFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	writeFile(t, path, text)
	return path
}

// TestPolicyIsNeverLeftOut: a policy that is named, by flag or environment, or
// mounted, holds; one that cannot be read lets nothing run.
func TestPolicyIsNeverLeftOut(t *testing.T) {
	t.Parallel()
	url := startLab(t, "healthy", lab.Options{}).URL()
	path := configFile(t, url, oneProbe)
	denies, allows := policyFile(t, "version: 1\nhosts: [api.example]\n"), policyFile(t, "version: 1\nnetworks: [127.0.0.0/8]\n")
	broken, empty := policyFile(t, "version: 1\nhost: [api.example]\n"), policyFile(t, "")
	other := filepath.Join(t.TempDir(), "policies.yaml")
	writeFile(t, other, "version: 1\nmin_every: 1m\n")
	denied := []string{`perch.yaml:`, `: targets[0].url: the policy does not allow the host "127.0.0.1" (` + denies + `:2: hosts)`}
	for name, c := range map[string]struct {
		mounted string
		flag    []string
		env     map[string]string
		code    int
		says    []string
	}{
		"none":                   {code: exitOK},
		"nothing mounted":        {mounted: filepath.Join(t.TempDir(), "policy", "policy.yaml"), code: exitOK},
		"an empty folder":        {mounted: filepath.Join(t.TempDir(), "policy.yaml"), code: exitOK},
		"a flag":                 {flag: []string{"--policy", denies}, code: exitUsage, says: denied},
		"a variable":             {env: map[string]string{"PERCH_POLICY": denies}, code: exitUsage, says: denied},
		"mounted":                {mounted: denies, code: exitUsage, says: denied},
		"one that allows":        {mounted: allows, code: exitOK},
		"the same twice":         {mounted: allows, flag: []string{"--policy", allows}, code: exitOK},
		"another in its place":   {mounted: denies, flag: []string{"--policy", allows}, code: exitUsage, says: []string{"is mounted as " + denies + ", which nothing takes the place of"}},
		"broken":                 {mounted: broken, code: exitUsage, says: []string{broken + `:2: host: unknown key "host"; did you mean "hosts"?`}},
		"empty":                  {mounted: empty, code: exitUsage, says: []string{empty + ": is empty"}},
		"not there":              {flag: []string{"--policy", "/none/policy.yaml"}, code: exitUsage, says: []string{"reading the policy: ", "/none/policy.yaml"}},
		"a folder":               {flag: []string{"--policy", t.TempDir()}, code: exitUsage, says: []string{"is no file"}},
		"an empty flag":          {flag: []string{"--policy", ""}, code: exitUsage, says: []string{"--policy (or PERCH_POLICY) is empty"}},
		"an empty variable":      {env: map[string]string{"PERCH_POLICY": ""}, code: exitUsage, says: []string{"is empty: name a file"}},
		"another key is mounted": {mounted: filepath.Join(filepath.Dir(other), "policy.yaml"), code: exitUsage, says: []string{"holds policies.yaml and no policy.yaml: name the ConfigMap's key so"}},
	} {
		commands := [][]string{{"run", "--all", "--config", path}, {"plan", path}, {"plan", "--check", path}}
		if c.code != exitOK { // a hold takes its time
			commands = append(commands, []string{"idle", "--max", "1s", "--connections", "1", "--rate", "10/s", url})
		}
		for _, command := range commands {
			p := &platform{mounted: c.mounted}
			r := p.perch(t, c.env, append(command, c.flag...)...)
			if r.code != c.code {
				t.Errorf("%s: perch %s: exit status %d, want %d\n%s%s", name, command[0], r.code, c.code, r.stdout, r.stderr)
			}
			if command[0] != "idle" {
				want(t, name+": "+command[0], r.stderr, c.says...)
			}
			if c.code != exitOK && len(p.dialed) > 0 {
				t.Errorf("%s: perch %s dialled %q", name, command[0], p.dialed)
			}
		}
	}
}

// TestPolicyFolderOfAMount: the kubelet's folder for a ConfigMap that is not there is
// no policy; one in which a policy may be, but not in its place, lets nothing run.
func TestPolicyFolderOfAMount(t *testing.T) {
	t.Parallel()
	path := configFile(t, "http://127.0.0.1:1", oneProbe)
	for name, c := range map[string]struct {
		files []string // one that ends with / is a folder
		links map[string]string
		says  string // empty: it is no policy
	}{
		"a ConfigMap that is not there": {files: []string{"..2026_11_30_1/"}, links: map[string]string{"..data": "..2026_11_30_1"}},
		"no link of the key":            {files: []string{"..2026_11_30_1/policy.yaml"}, links: map[string]string{"..data": "..2026_11_30_1"}, says: "which is not empty, and no policy.yaml"},
		"a hidden key":                  {files: []string{".policy.yaml"}, says: "holds .policy.yaml, which is not empty, and no policy.yaml"},
		"versions that are gone":        {links: map[string]string{"..data": "..2026_11_30_1"}, says: "holds ..data, which is not empty"},
		"a key that leads nowhere":      {links: map[string]string{"policy.yaml": "..data/policy.yaml"}, says: "policy.yaml is a link that leads nowhere"},
	} {
		dir := t.TempDir()
		for _, file := range c.files {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(file+"x")), 0o700); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(file, "/") {
				writeFile(t, filepath.Join(dir, file), "version: 1\nhosts: [api.example]\n")
			}
		}
		for link, to := range c.links {
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
		r := (&platform{mounted: filepath.Join(dir, "policy.yaml")}).perch(t, nil, "plan", "--check", path)
		if refused := r.code == exitUsage; refused != (c.says != "") {
			t.Errorf("%s: exit status %d\n%s", name, r.code, r.stderr)
		}
		want(t, name, r.stderr, c.says)
	}
}

// TestPolicyIsNoConcernOfSilences: muting works whatever the policy says.
func TestPolicyIsNoConcernOfSilences(t *testing.T) {
	t.Parallel()
	path := configFile(t, "http://127.0.0.1:1", strings.Replace(remembering, "STATE", "{file: ${DIR}/state}", 1))
	p := &platform{mounted: policyFile(t, "version: 1\nhosts: [api.example]\n")}
	if r := p.perch(t, nil, "silence", "add", "api", "--for=1h", "--reason=x", "--config", path); r.code != exitOK {
		t.Errorf("exit status %d\n%s", r.code, r.stderr)
	}
}

// TestDeniedAddressIsNoOutage: a name that leads to where the policy lets nobody go
// is skipped with its words: it opens no incident, and no alert leaves.
func TestDeniedAddressIsNoOutage(t *testing.T) {
	t.Parallel()
	text := strings.Replace(remembering, "STATE", "{file: ${DIR}/state}", 1)
	path := configFile(t, strings.Replace(startLab(t, "healthy", lab.Options{}).URL(), "127.0.0.1", "localhost", 1), text)
	p := &platform{mounted: policyFile(t, "version: 1\ndenied_networks: [127.0.0.0/8, \"::1/128\"]\n")}
	for range 3 {
		r := p.perch(t, nil, "run", "--all", "--config", path)
		if r.code != exitOK || len(p.dialed) > 0 {
			t.Fatalf("exit status %d, dialled %q\n%s%s", r.code, p.dialed, r.stdout, r.stderr)
		}
		want(t, "the report", r.stdout, "SKIPPED", "the policy does not allow the address", p.mounted+":2: denied_networks")
		if strings.Contains(r.stdout, "pending") || strings.Contains(r.stdout, "firing") {
			t.Errorf("an incident is open:\n%s", r.stdout)
		}
	}
}

// TestUnspecifiedAddressIsDenied: 0.0.0.0 and [::], which arrive at loopback, are
// no way around a policy that denies loopback, with any command.
func TestUnspecifiedAddressIsDenied(t *testing.T) {
	t.Parallel()
	policy := policyFile(t, "version: 1\ndenied_networks: [127.0.0.0/8, \"::1/128\"]\n")
	for _, url := range []string{"http://0.0.0.0:1", "http://[::]:1", "http://[::ffff:0.0.0.0]:1"} {
		path := configFile(t, url, oneProbe)
		for _, command := range [][]string{{"run", "--config", path}, {"idle", "--max", "1s", "--connections", "1", "--rate", "10/s", url}, {"path", url}} {
			p := &platform{mounted: policy}
			r := p.perch(t, nil, command...)
			if r.code == exitOK || len(p.dialed) > 0 {
				t.Errorf("perch %s %s: exit status %d, dialled %q", command[0], url, r.code, p.dialed)
			}
			want(t, command[0]+" "+url, r.stdout+r.stderr, "which is dialled as")
		}
	}
}

// TestPolicyOfEvery: neither --all nor every: always lets a probe run more often
// than the policy allows, as the state remembers it; without a state perch says
// that it cannot know.
func TestPolicyOfEvery(t *testing.T) {
	t.Parallel()
	hits := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits++ }))
	defer server.Close()
	text := strings.Replace(remembering, "STATE", "{file: ${DIR}/state}", 1)
	text = strings.Replace(text, "path: /}", "path: /, every: always}", 1)
	path := configFile(t, server.URL, text)
	clock := time.Now()
	p := &platform{mounted: policyFile(t, "version: 1\nmin_every: 10m\n"), now: func() time.Time { return clock }}
	for _, step := range []struct {
		after time.Duration
		flags []string
		hits  int
	}{
		{0, nil, 1}, {time.Minute, nil, 1}, {time.Minute, []string{"--all"}, 1}, {7 * time.Minute, nil, 1},
		{time.Minute, nil, 2}, {time.Minute, []string{"--all"}, 2}, {9 * time.Minute, []string{"--all"}, 3},
	} {
		clock = clock.Add(step.after)
		if r := p.perch(t, nil, append([]string{"run", "--config", path}, step.flags...)...); r.code != exitOK || hits != step.hits {
			t.Fatalf("after %s more, with %q: exit status %d, %d requests in all, want %d\n%s", step.after, step.flags, r.code, hits, step.hits, r.stderr)
		}
	}
	bare := configFile(t, server.URL, strings.Replace(oneProbe, "kind: http", "kind: http, every: always", 1))
	want(t, "without a state", p.perch(t, nil, "run", "--config", bare).stderr, "without a state each run is the first", "min_every")
}

// TestPolicyOfADay: without a state nobody remembers what was sent today, and perch
// says so, with run and with serve.
func TestPolicyOfADay(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	p := &platform{mounted: policyFile(t, "version: 1\nmax_daily_limit: 3000\n")}
	bare := "vantage: test\nmetrics: {listen: \"" + taken.Addr().String() + "\"}\n"
	budget := strings.Replace(oneProbe, "kind: http", "kind: http, every: 5m", 1)
	budget = strings.Replace(budget, "    probes:", "    daily_limit: 3000\n    probes:", 1)
	for text, says := range map[string]bool{bare + budget: true, bare + "state: {file: ${DIR}/state}\n" + budget: false} {
		path := configFile(t, server.URL, strings.Replace(text, "${DIR}", t.TempDir(), 1))
		for _, command := range []string{"run", "serve"} { // serve ends, for its port is taken
			r := p.perch(t, nil, command, "--config", path)
			if said := strings.Contains(r.stderr, "max_daily_limit"); said != says || r.code == exitUsage {
				t.Errorf("perch %s: exit status %d, said %v, want %v\n%s", command, r.code, said, says, r.stderr)
			}
		}
	}
}

// TestIdleKeepsThePolicy: a share and a day are not known for a URL; all else holds.
func TestIdleKeepsThePolicy(t *testing.T) {
	t.Parallel()
	url := strings.Replace(startLab(t, "healthy", lab.Options{}).URL(), "127.0.0.1", "localhost", 1)
	for text, says := range map[string]string{
		"max_share: 5%\nmax_daily_limit: 10\nmin_every: 24h": "",
		"max_hold: 500ms":    "idle: --max: the policy does not allow a hold of 1s, 500ms at most",
		"max_rate: 5/s":      "idle: --rate: rate_limit x share is 10/s",
		"max_connections: 1": "idle: --connections: max_connections is 2",
		"hosts: [a.example]": `idle: nothing was sent: the policy does not allow the host "localhost"`,
		"denied_networks: [127.0.0.0/8, \"::1/128\"]": "idle: nothing was sent: the policy does not allow the address",
	} {
		p := &platform{mounted: policyFile(t, "version: 1\n"+text+"\n")}
		r := p.perch(t, nil, "idle", "--max", "1s", "--connections", "1", "--rate", "10/s", url)
		if strings.Contains(r.stderr, "holding connections") != (says == "") || strings.Contains(r.stderr, "targets[0]") {
			t.Errorf("%s: it says %s", text, r.stderr)
		}
		if wrong := r.code == exitUsage; wrong != (says != "") || wrong && len(p.dialed) > 0 {
			t.Errorf("%s: exit status %d, dialled %q\n%s", text, r.code, p.dialed, r.stderr)
		}
		want(t, text, r.stderr, says)
	}
}

// TestServeKeepsThePolicy: what runs always runs as often as the policy allows, and
// a config that breaks it serves nothing.
func TestServeKeepsThePolicy(t *testing.T) {
	t.Parallel()
	for least, want := range map[time.Duration]time.Duration{0: withoutEvery, time.Minute: withoutEvery, time.Hour: time.Hour} {
		cfg := served(config.Config{Policy: &probes.Policy{MinEvery: least}, Targets: []probes.Target{{Probes: []probes.Spec{{}}}}})
		if got := cfg.Targets[0].Probes[0].Every; got != want {
			t.Errorf("min_every %s: always is each %s, want %s", least, got, want)
		}
	}
	path := configFile(t, "http://127.0.0.1:1", strings.Replace(remembering, "STATE", "{file: ${DIR}/state}", 1))
	for text, says := range map[string]string{
		"hosts: [api.example]": `the host "127.0.0.1"`, "fleet: [{host: 127.0.0.1, daily_limit: 5}]": "up to 288 requests a day together, the policy allows 5",
	} {
		p := &platform{mounted: policyFile(t, "version: 1\n"+text+"\n")}
		r := p.perch(t, nil, "serve", "--config", path)
		if r.code != exitUsage || len(p.dialed) > 0 {
			t.Errorf("%s: exit status %d, dialled %q", text, r.code, p.dialed)
		}
		if !strings.Contains(r.stderr, says) {
			t.Errorf("%s: it says %s, want %q", text, r.stderr, says)
		}
	}
}

// TestPathKeepsThePolicy: no name is asked for and nothing is dialled that the
// policy does not allow; the print says so.
func TestPathKeepsThePolicy(t *testing.T) {
	t.Parallel()
	url := startLab(t, "healthy", lab.Options{}).URL()
	path := configFile(t, url, strings.Replace(oneProbe, "    probes:", "    rate_limit: 1000/s\n    probes:", 1))
	for text, says := range map[string]string{
		"hosts: [api.example]":           `the policy does not allow the host "127.0.0.1"`,
		"denied_networks: [127.0.0.0/8]": "the policy does not allow the address 127.0.0.1",
		"max_share: 1%":                  "",
	} {
		policy := policyFile(t, "version: 1\n"+text+"\n")
		for _, what := range [][]string{{url}, {"--config", path}} {
			p := &platform{}
			r := p.perch(t, nil, append([]string{"path", "--policy", policy, "--output", "json"}, what...)...)
			if denied := r.code == exitFindings && strings.Contains(strings.ReplaceAll(r.stdout, `\"`, `"`), says); denied != (says != "") || denied == (len(p.dialed) > 0) {
				t.Errorf("%s, %q: exit status %d, dialled %q\n%s%s", text, what, r.code, p.dialed, r.stdout, r.stderr)
			}
		}
	}
}
