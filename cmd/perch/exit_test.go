package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"perch.example/lab"
)

const oneProbe = `
version: 1
name: test
targets:
  - name: api
    url: ${URL}
    probes:
      - {name: get, kind: http, path: /}
`

// TestWrongUseIsStatusTwo: what is wrong, where, what would be right.
func TestWrongUseIsStatusTwo(t *testing.T) {
	t.Parallel()
	good := configFile(t, "http://127.0.0.1:1", oneProbe)
	bad := configFile(t, "http://127.0.0.1:1", strings.Replace(oneProbe, "kind: http", "knid: http", 1))
	for _, c := range []struct {
		args []string
		env  map[string]string
		says []string
	}{
		{args: []string{"rnu"}, says: []string{`"rnu"`}},
		{args: []string{"check"}, says: []string{`"check"; did you mean perch plan --check?`}},
		{args: []string{"silence", "check"}, says: []string{`"check" (perch silence --help`}},
		{args: []string{"silence", "expiry"}, says: []string{`"expiry"`, "expire"}},
		{args: []string{"alert", "now"}, says: []string{`"now"`, "perch alert --help"}},
		{args: []string{"run", "--deadlin", "3s"}, says: []string{"--deadlin", "perch run --help"}},
		{args: []string{"run", "--config", "/nonexistent.yaml"}, says: []string{"/nonexistent.yaml"}},
		{args: []string{"run", "--config", bad}, says: []string{"perch.yaml:8", "knid", "kind"}},
		{args: []string{"plan", bad}, says: []string{"perch.yaml:8", "knid"}},
		{args: []string{"run", "--config", good, "--output", "pdf"}, says: []string{`"pdf": want text, json, junit or html, or one of them with a file: html=FILE`}},
		{args: []string{"run", "--config", good, "--output", "text", "--output", "json"}, says: []string{"only one report can be without a file", "--output json=FILE"}},
		{args: []string{"run", "--config", good, "--output", "html=a.html", "--output", "junit=./b/../a.html"}, says: []string{"two reports would go into ./b/../a.html"}},
		{args: []string{"run", "--config", good, "--output", "html", "--output", "junit=a", "--output-file", "a"}, says: []string{"two reports would go into a"}},
		{args: []string{"run", "--config", good, "--output", "html=a", "--output-file", "b"}, says: []string{`--output-file "b"`, "names its file already"}},
		{args: []string{"run", "--config", good, "--output", "html="}, says: []string{`"html="`, "html=FILE", "html alone for stdout"}},
		{args: []string{"run", "--config", good, "--output", "=a"}, says: []string{`"=a"`, "text, json, junit or html"}},
		{args: []string{"run", "--config", good, "--output", ""}, says: []string{`"": want text, json, junit or html`}},
		{args: []string{"run", "--config", good}, env: map[string]string{"PERCH_OUTPUT": "text,html=a"}, says: []string{`"text,html=a"`, "want one format", "PERCH_OUTPUT can name one"}},
		{args: []string{"run", "--config", good}, env: map[string]string{"PERCH_OUTPUT": "html=a.html,junit=b.xml"}, says: []string{"want one format"}},
		{args: []string{"audit", "--output", "html=a"}, says: []string{`"html=a": want text or json`}},
		{args: []string{"demo", "--output", "xml"}, says: []string{`"xml": want text, json, junit or html`}},
		{args: []string{"run", "--config", good, "--fail-on", "warn"}, says: []string{"fail, degraded or never"}},
		{args: []string{"run", "--config", good, "--log-level", "loud"}, says: []string{"debug, info, warn or error"}},
		{args: []string{"run", "--config", good, "--only", "apo"}, says: []string{"apo", "api"}},
		{args: []string{"run", "--config", good, "--deadline", "-1s"}, says: []string{"positive"}},
		{args: []string{"run", "--config", good}, env: map[string]string{"PERCH_DEADLINE": "soon"}, says: []string{"PERCH_DEADLINE"}},
		{args: []string{"idle", "example.com"}, says: []string{"https://"}},
		{args: []string{"idle", "http://127.0.0.1:1/", "--header", "X"}, says: []string{"Name: value"}},
		{args: []string{"lab", "idle_fni"}, says: []string{"idle_fni", "perch lab"}},
		{args: []string{"lab", "healthy", "--listen", "nowhere"}, says: []string{"HOST:PORT"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			r := perch(t.Context(), c.env, c.args...)
			if r.code != exitUsage {
				t.Errorf("exit status %d, want 2", r.code)
			}
			want(t, "stderr", r.stderr, c.says...)
		})
	}
}

// TestMissingSecretStopsTheRunBeforeItSends.
func TestMissingSecretStopsTheRunBeforeItSends(t *testing.T) {
	t.Parallel()
	server := startLab(t, "healthy", lab.Options{})
	path := configFile(t, server.URL(), strings.Replace(oneProbe, "    probes:", "    headers: [{name: Authorization, from: {env: NO_SUCH_TOKEN}}]\n    probes:", 1))
	r := perch(t.Context(), nil, "run", "--config", path)
	if r.code != exitUsage {
		t.Errorf("exit status %d, want 2", r.code)
	}
	want(t, "stderr", r.stderr, "NO_SUCH_TOKEN")
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestExitStatusFollowsFailOn(t *testing.T) {
	t.Parallel()
	bad := configFile(t, startLab(t, "status", lab.Options{}).URL(), oneProbe)
	fine := configFile(t, startLab(t, "healthy", lab.Options{}).URL(), oneProbe)
	for _, c := range []struct {
		config, failOn string
		want           int
	}{
		{fine, "degraded", exitOK}, {bad, "fail", exitFindings}, {bad, "degraded", exitFindings}, {bad, "never", exitOK},
	} {
		if r := perch(t.Context(), nil, "run", "--config", c.config, "--fail-on", c.failOn); r.code != c.want {
			t.Errorf("--fail-on %s: exit status %d, want %d\n%s%s", c.failOn, r.code, c.want, r.stdout, r.stderr)
		}
	}
}

// TestAcceptedFailIsNoFinding: the report says fail and until when it is
// accepted, the exit status does not count it; once that is over, it does.
func TestAcceptedFailIsNoFinding(t *testing.T) {
	t.Parallel()
	url := startLab(t, "status", lab.Options{}).URL()
	accepted := func(until string) string {
		return configFile(t, url, oneProbe+"    accepted: [{diagnosis: contract, until: "+until+", reason: they will say 200}]\n")
	}
	ahead := time.Now().UTC().AddDate(0, 1, 0).Format(time.DateOnly)
	for _, failOn := range []string{"fail", "degraded"} {
		r := perch(t.Context(), nil, "run", "--config", accepted(ahead), "--fail-on", failOn)
		if r.code != exitOK {
			t.Errorf("--fail-on %s: exit status %d, want 0\n%s", failOn, r.code, r.stderr)
		}
		want(t, "the report", strings.Join(strings.Fields(r.stdout), " "), "FAIL", "failed (accepted)", "accepted until "+ahead+": they will say 200")
	}
	r := perch(t.Context(), nil, "run", "--config", accepted("2026-01-01"))
	if r.code != exitFindings {
		t.Errorf("over: exit status %d, want 1\n%s", r.code, r.stderr)
	}
	want(t, "the report", strings.Join(strings.Fields(r.stdout), " "), "was accepted until 2026-01-01: they will say 200")
	want(t, "stderr", r.stderr, "accepted[0].until: is over")
}

// TestBrokenSinksAreStatusFour: perch's own failures are told apart from the
// API's, and the report still comes.
func TestBrokenSinksAreStatusFour(t *testing.T) {
	t.Parallel()
	url := startLab(t, "status", lab.Options{}).URL()
	for name, extra := range map[string]string{
		"push":     "vantage: v\nmetrics: {push: {url: 'http://127.0.0.1:1', stateless: true}}\n",
		"textfile": "vantage: v\nmetrics: {textfile: /nonexistent/perch.prom}\n",
	} {
		r := perch(t.Context(), nil, "run", "--config", configFile(t, url, oneProbe+extra))
		if r.code != exitOwn {
			t.Errorf("%s: exit status %d, want 4\n%s", name, r.code, r.stderr)
		}
		want(t, name, r.stdout, "404")
	}
	r := perch(t.Context(), nil, "run", "--config", configFile(t, url, oneProbe+"vantage: v\nstate: {file: /nonexistent/state}\n"))
	if r.code != exitOwn {
		t.Errorf("state: exit status %d, want 4\n%s", r.code, r.stderr)
	}
}

func TestOutputFile(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "report.json")
	path := configFile(t, startLab(t, "healthy", lab.Options{}).URL(), oneProbe)
	r := perch(t.Context(), map[string]string{"PERCH_OUTPUT": "json"}, "run", "--config", path, "--output-file", out)
	if r.code != exitOK || r.stdout != "" {
		t.Fatalf("exit status %d, stdout %q, want 0 and nothing\n%s", r.code, r.stdout, r.stderr)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the report", string(b), `"verdict": "pass"`)
}

func TestPrintedDocuments(t *testing.T) {
	t.Parallel()
	for args, part := range map[string]string{
		"schema": `"$schema"`, "version": "perch ", "lab": "idle_rst", "completion bash": "bash completion", "": "perch demo",
	} {
		r := perch(t.Context(), nil, strings.Fields(args)...)
		if r.code != exitOK {
			t.Errorf("perch %s: exit status %d\n%s", args, r.code, r.stderr)
		}
		want(t, "perch "+args, r.stdout, part)
	}
}
