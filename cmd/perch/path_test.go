package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/lab"
	"perch.example/probes"
	"perch.example/report"
)

const pathConfig = `
version: 1
name: shop
vantage: test
targets:
  - name: api
    url: ${URL}
    rate_limit: 1000/s
    share: 100%
    tls: {ca_file: ${CA}}
    headers: [{name: Authorization, prefix: "Bearer ", from: {env: S3CRET_TOKEN}}]
    probes: [{name: get, kind: http, path: "/s3cret-path?q=s3cret-query"}]
  - name: gone
    url: http://127.0.0.1:1
    rate_limit: 1000/s
    share: 100%
    probes: [{name: get, kind: http, path: /}]
`

// pathLab is a lab over TLS, a config with it and its authority's file.
func pathLab(t *testing.T) (s *lab.Server, config, ca string) {
	t.Helper()
	s = startLab(t, "healthy", lab.Options{TLS: true, OnRequest: func(r lab.Request) { t.Errorf("a request was sent: %+v", r) }})
	ca, err := s.WriteCA(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s, configFile(t, s.URL(), strings.ReplaceAll(pathConfig, "${CA}", ca)), ca
}

func fingerprintOf(t *testing.T, r ran) probes.Fingerprint {
	t.Helper()
	f, err := report.ReadFingerprint([]byte(r.stdout))
	if err != nil {
		t.Fatalf("exit status %d: %v\n%s%s", r.code, err, r.stdout, r.stderr)
	}
	return f
}

// onePrint looks at a path until its first connection is closed: by the budget of a URL the
// next one is a second away, and a deadline might pass before the first.
func onePrint(t *testing.T, env map[string]string, args ...string) ran {
	t.Helper()
	ctx, enough := context.WithCancel(t.Context())
	defer enough()
	p := &platform{opened: func(c net.Conn) net.Conn { return closing{c.(*net.TCPConn), enough} }}
	return p.perchUntil(ctx, env, append([]string{"path"}, args...)...)
}

// closing is a connection whose end is told.
type closing struct {
	*net.TCPConn
	closed func()
}

func (c closing) Close() error {
	err := c.TCPConn.Close()
	c.closed()
	return err
}

// TestPathOfAConfig: all targets without an argument, those that are named with
// some; exit status 1 where one is not reached.
func TestPathOfAConfig(t *testing.T) {
	t.Parallel()
	_, config, _ := pathLab(t)
	env := map[string]string{"PERCH_NODE": "node-a", "PERCH_ZONE": "zone-a", "PERCH_POD_NAMESPACE": "shop", "HTTP_PROXY": "http://u:pw@proxy:3128"}
	all := perch(t.Context(), env, "path", "--config", config, "--output", "json")
	f := fingerprintOf(t, all)
	if all.code != exitFindings || all.stderr != "" || len(f.Paths) != 2 {
		t.Fatalf("exit status %d, want 1; %d paths, want 2\n%s", all.code, len(f.Paths), all.stderr)
	}
	if p := f.Place; p.Node != "node-a" || p.Zone != "zone-a" || p.Namespace != "shop" || p.Vantage != "test" || p.Host == "" || p.DebugContainer {
		t.Errorf("%+v", p)
	}
	if api := f.Paths[0]; api.Target != "api" || len(api.Connections) != 1 || !api.Connections[0].Reached() || api.Connections[0].TLS.TrustedBy != "ca_file" || api.Proxy != "" {
		t.Errorf("%+v", api)
	}
	if gone := f.Paths[1]; gone.Connections[0].Reached() || !strings.Contains(gone.Connections[0].Problem, "refused") {
		t.Errorf("%+v", gone)
	}
	if f.Network.Proxy == nil || f.Network.Proxy.HTTP != "http://proxy:3128" {
		t.Errorf("proxy: %+v", f.Network.Proxy)
	}
	one := perch(t.Context(), env, "path", "api", "--config", config)
	if one.code != exitOK {
		t.Errorf("exit status %d, want 0\n%s", one.code, one.stderr)
	}
	want(t, "the text", one.stdout, "node node-a, zone zone-a, namespace shop", "trusted by ca_file", "No HTTP request was sent",
		"kubectl debug -n shop \"$POD\" --profile=restricted", "perch path --output json --config "+config+" api > perch.json")
}

// TestPathOfAURL needs no config, and uses its origin alone.
func TestPathOfAURL(t *testing.T) {
	t.Parallel()
	s, _, ca := pathLab(t)
	secret := strings.Replace(s.URL(), "https://", "https://s3cret-user:s3cret-pw@", 1) + "/s3cret-path?k=s3cret-query#s3cret-part"
	r := onePrint(t, map[string]string{"HTTPS_PROXY": "http://p:1"}, secret, "--debug-container", "--output", "json", "--log-level", "error")
	f := fingerprintOf(t, r)
	if r.code != exitIncomplete || len(f.Paths) != 1 || f.Paths[0].Connections[0].TLS.NotTrusted == "" || !f.Place.DebugContainer || f.Network.Proxy != nil {
		t.Errorf("exit status %d: %+v\n%s", r.code, f, r.stderr)
	}
	r = onePrint(t, nil, secret, s.URL(), "--ca-file", ca)
	if r.code != exitIncomplete {
		t.Errorf("exit status %d\n%s", r.code, r.stderr)
	}
	want(t, "the text", r.stdout, "trusted by ca_file", "--log-level error "+s.URL()+"\n", "perch path --output json --ca-file "+ca+" "+s.URL()+" > perch.json")
}

func TestPathRefuses(t *testing.T) {
	t.Parallel()
	_, config, ca := pathLab(t)
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"nosuch", "--config", config}, "known targets are: api, gone"},
		{[]string{"api", "https://a.example", "--config", config}, "not both at once"},
		{[]string{"api", "--config", config, "--ca-file", ca}, "--ca-file goes with a URL"},
		{[]string{"api", "--config", "/nonexistent.yaml"}, "a URL such as https://api.example.com needs no config"},
		{[]string{"ftp://u:s3cret@a.example"}, "argument 1: want an http or https URL"},
		{[]string{"https://u:s3cret@"}, "argument 1: want an http or https URL"},
		{[]string{"https://u:s3cret%zz@a.example"}, "argument 1: want an http or https URL"},
		{[]string{"https://a.example", "--output", "yaml"}, "want text or json"},
		{[]string{"https://a.example", "--deadline", "-1s"}, "--deadline"},
		{[]string{"--compare", "a.json"}, "want two files"},
		{[]string{"--compare", "-", "-"}, "only one of the two"},
		{[]string{"--compare", "/nonexistent.json", config}, "reading /nonexistent.json"},
	} {
		r := perch(t.Context(), nil, append([]string{"path"}, tt.args...)...)
		if r.code != exitUsage || r.stdout != "" || !strings.Contains(r.stderr, tt.says) || strings.Contains(r.stderr, "s3cret") {
			t.Errorf("%q: exit status %d, want 2; %q, want %q in it\n%s", tt.args, r.code, r.stderr, tt.says, r.stdout)
		}
	}
}

// TestPathIsCutShort: what is there is written, and the status says so.
func TestPathIsCutShort(t *testing.T) {
	t.Parallel()
	s, _, _ := pathLab(t)
	r := perch(t.Context(), nil, "path", s.URL(), "--output", "json", "--deadline", "2s") // the third would be opened after 2.2 s
	f := fingerprintOf(t, r)
	if r.code != exitIncomplete || !reached(f.Paths[0]) || !strings.Contains(r.stderr, "the deadline of 2s") {
		t.Errorf("exit status %d, want 3, and what was seen until then: %+v\n%s", r.code, f.Paths[0], r.stderr)
	}
}

// takenFile writes a fingerprint, changed as asked, to a file. How busy this
// machine was is no part of it.
func takenFile(t *testing.T, f probes.Fingerprint, change func(*probes.Fingerprint)) string {
	t.Helper()
	for i := range f.Paths[0].Connections {
		c := &f.Paths[0].Connections[i]
		c.RTT, c.Hello, c.TCPEnds = probes.Seconds(time.Millisecond), probes.Seconds(2*time.Millisecond), probes.TCPEndsPeer
	}
	change(&f)
	var b bytes.Buffer
	if err := report.FingerprintJSON(&b, f); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "path.json")
	writeFile(t, path, b.String())
	return path
}

// TestPathCompares: a config's with a URL's, from a file and from standard
// input; 0 for one path, 1 for two, 2 for what cannot be compared.
func TestPathCompares(t *testing.T) {
	t.Parallel()
	s, config, _ := pathLab(t)
	app := fingerprintOf(t, onePrint(t, nil, s.URL(), "--debug-container", "--output", "json"))
	own := fingerprintOf(t, perch(t.Context(), nil, "path", "api", "--config", config, "--output", "json"))
	none := func(*probes.Fingerprint) {}
	a, b := takenFile(t, app, none), takenFile(t, own, none)
	r := perch(t.Context(), nil, "path", "--compare", a, b)
	if r.code != exitOK {
		t.Errorf("exit status %d, want 0\n%s%s", r.code, r.stdout, r.stderr)
	}
	want(t, "the comparison", r.stdout, "THE SAME PATH as far as can be seen", "What cannot be seen", "in the same pod, or on the same machine")

	other := takenFile(t, own, func(f *probes.Fingerprint) { f.Network.Sidecar = "by a port" })
	r = perch(t.Context(), nil, "path", "--compare", a, other, "--output", "json")
	var doc struct{ Same *bool }
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || r.code != exitFindings || doc.Same == nil || *doc.Same {
		t.Errorf("exit status %d, want 1: %v\n%s", r.code, err, r.stdout)
	}
	stranger := takenFile(t, own, func(f *probes.Fingerprint) { f.Paths[0].Host = "elsewhere.example" })
	if r = perch(t.Context(), nil, "path", "--compare", a, stranger); r.code != exitUsage || !strings.Contains(r.stderr, "no target is in both") {
		t.Errorf("exit status %d, want 2: %s", r.code, r.stderr)
	}

	var out, errs bytes.Buffer
	root := newRoot(system{stdout: &out, stderr: &errs, env: func(string) (string, bool) { return "", false }, readFile: os.ReadFile})
	root.SetIn(strings.NewReader(read(t, a)))
	root.SetArgs([]string{"path", "--compare", "-", b})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Errorf("from standard input: %v", err)
	}
	want(t, "the comparison", out.String(), "standard input: ")
	root.SetIn(strings.NewReader(strings.Repeat(" ", mostRead+1)))
	root.SetArgs([]string{"path", "--compare", "-", b})
	if err := root.ExecuteContext(t.Context()); codeOf(err) != exitUsage || !strings.Contains(err.Error(), "larger than 4 MiB") {
		t.Errorf("too much from standard input: %v", err)
	}
}

// TestPathLeaksNoSecret searches all that the command writes for what stands in
// the config, a URL and the environment.
func TestPathLeaksNoSecret(t *testing.T) {
	t.Parallel()
	s, config, _ := pathLab(t)
	env := map[string]string{
		"S3CRET_TOKEN": "s3cret-token", "HTTPS_PROXY": "http://s3cret-u:s3cret-p@proxy:1/s3cret", "http_proxy": "s3cret-u:s3cret-p@proxy:1",
		"ALL_PROXY": "socks5://s3cret-u:s3cret-p@proxy:1", "NO_PROXY": "s3cret-u:s3cret-p@host,other",
	}
	url := strings.Replace(s.URL(), "https://", "https://s3cret-user:s3cret-pw@", 1) + "/s3cret-path?k=s3cret-query"
	for _, args := range [][]string{{"--config", config}, {"api", "--config", config}, {url}} {
		for _, format := range []string{"text", "json"} {
			args := append([]string{"--output", format, "--log-level", "debug"}, args...)
			var r ran
			if slices.Contains(args, "--config") {
				r = perch(t.Context(), env, append([]string{"path"}, args...)...)
			} else {
				r = onePrint(t, env, args...)
			}
			if text := r.stdout + r.stderr; strings.Contains(text, "s3cret") || !strings.Contains(text, "proxy:1") {
				t.Errorf("%q as %s: %s", args, format, text)
			}
		}
	}
}

// TestPathTellsTheNamespaceByTheResolver, where nothing else does: in a debug
// container.
func TestPathTellsTheNamespaceByTheResolver(t *testing.T) {
	t.Parallel()
	f := pathFlags{beside: true}
	sys := system{env: func(string) (string, bool) { return "", false }, readFile: func(name string) ([]byte, error) {
		if name == "/etc/resolv.conf" {
			return []byte("search shop.svc.cluster.local svc.cluster.local\nnameserver 10.96.0.10\n"), nil
		}
		return nil, os.ErrNotExist
	}}
	n := f.network(t.Context(), sys)
	if p := f.place(sys, n); p.Namespace != "shop" || n.Routes != nil || n.Proxy != nil {
		t.Errorf("%+v, %+v", p, n)
	}
}

// TestPathOfManyTargets, which are looked at side by side: all are there, in the
// config's order.
func TestPathOfManyTargets(t *testing.T) {
	t.Parallel()
	s := startLab(t, "healthy", lab.Options{})
	text := "version: 1\nname: shop\nvantage: test\ntargets:\n"
	for n := range 3 * printsAtOnce {
		text += fmt.Sprintf("  - {name: t%d, url: '%s', rate_limit: 1000/s, share: 100%%, probes: [{name: p, kind: http}]}\n", n, s.URL())
	}
	r := perch(t.Context(), nil, "path", "--config", configFile(t, "", text), "--output", "json")
	f := fingerprintOf(t, r)
	if r.code != exitOK || len(f.Paths) != 3*printsAtOnce {
		t.Fatalf("exit status %d, %d paths\n%s", r.code, len(f.Paths), r.stderr)
	}
	for i, p := range f.Paths {
		if p.Target != fmt.Sprintf("t%d", i) || !reached(p) {
			t.Errorf("path %d: %+v", i, p)
		}
	}
}
