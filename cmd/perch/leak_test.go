package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// collector keeps every byte that is sent to it, head and body.
type collector struct {
	mu     sync.Mutex
	all    bytes.Buffer
	status int
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.WriteString(r.Method + " " + r.URL.String() + "\n")
	_ = r.Header.Write(&c.all)
	c.all.Write(body)
	w.WriteHeader(c.status)
	_, _ = io.WriteString(w, "ok") // as Slack does
}

// answer changes the status that is answered.
func (c *collector) answer(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

func (c *collector) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all.String()
}

const leaky = `
version: 1
name: leak
vantage: test
targets:
  - name: api
    url: ${URL}
    rate_limit: 1000/s
    headers:
      - {name: Authorization, prefix: "Bearer ", from: {env: TOKEN}}
      - {name: X-Other, from: {file: ${FILE}}}
    query:
      - {name: api_key, from: {env: KEY}}
    probes:
      - {name: get, kind: http, path: /, retry: {attempts: 2, backoff: 10ms}}
alerts: {fire_after: 1, settle: none}
slack: {webhook: {from: {env: HOOK}}}
webhook: {from: {env: OTHER}, headers: [{name: X-Key, from: {env: HEADER}}]}
alertmanager: {url: '${MANAGER}', headers: [{name: Authorization, prefix: "Bearer ", from: {env: HEADER}}]}
metrics: {textfile: ${OUT}/perch.prom, push: {url: '${PUSH}'}}
state: {file: ${OUT}/state}
`

// TestNoSinkLeaksASecret sends secrets from env and file, as headers, as a
// query parameter and as the webhook, to an API that fails, and searches all
// that perch wrote: reports, debug log, metrics, Slack, push, state, errors.
func TestNoSinkLeaksASecret(t *testing.T) {
	t.Parallel()
	secrets := []string{"s3cr3t-t0ken-env", "s3cr3t-file-value", "s3cr3t-query-key", "s3cr3t-hook-path", "s3cr3t-other-path", "s3cr3t-header-value"}
	api, slack, push, other := &collector{status: 500}, &collector{status: 200}, &collector{status: 200}, &collector{status: 200}
	apiServer, slackServer, pushServer, otherServer := httptest.NewServer(api), httptest.NewServer(slack), httptest.NewServer(push), httptest.NewServer(other)
	defer apiServer.Close()
	defer otherServer.Close()
	defer slackServer.Close()
	defer pushServer.Close()

	out := t.TempDir()
	file := filepath.Join(out, "token")
	if err := os.WriteFile(file, []byte(secrets[1]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("${FILE}", file, "${OUT}", out, "${PUSH}", pushServer.URL, "${MANAGER}", otherServer.URL).Replace(leaky)
	path := configFile(t, apiServer.URL, text)
	env := map[string]string{"TOKEN": secrets[0], "KEY": secrets[2], "HOOK": slackServer.URL + "/" + secrets[3],
		"OTHER": otherServer.URL + "/" + secrets[4], "HEADER": secrets[5]}

	written := map[string]string{}
	for i, format := range []string{"text", "json"} {
		r := perch(t.Context(), env, "run", "--config", path, "--all", "--output", format, "--log-level", "debug")
		if r.code != exitFindings {
			t.Fatalf("run %d: exit status %d, want 1\n%s", i, r.code, r.stderr)
		}
		written[format+" report"], written[format+" log"] = r.stdout, r.stderr
	}
	// What goes wrong is said too: a webhook that refuses, an API that is gone.
	slackServer.Close()
	other.answer(http.StatusBadGateway)
	apiServer.Close()
	broken := perch(t.Context(), env, "run", "--config", path, "--all", "--log-level", "debug")
	written["errors"] = broken.stdout + broken.stderr
	r := perch(t.Context(), env, "plan", "--config", path)
	written["plan"] = r.stdout + r.stderr
	r = perch(t.Context(), env, "alert", "test", "--config", path, "--log-level", "debug")
	written["alert test"] = r.stdout + r.stderr
	written["slack"], written["push"] = slack.text(), push.text()
	written["textfile"], written["state"] = read(t, out+"/perch.prom"), gunzip(t, out+"/state")

	for _, s := range secrets[:3] {
		if !strings.Contains(api.text(), s) {
			t.Errorf("the API never received %q: the test sends no secret", s)
		}
	}
	want(t, "Slack's message", written["slack"], "api", secrets[3]) // the path it was sent to
	written["slack"] = strings.ReplaceAll(written["slack"], "POST /"+secrets[3], "")
	want(t, "the webhook and Alertmanager", other.text(), "POST /"+secrets[4], "X-Key: "+secrets[5], "Bearer "+secrets[5], "/api/v2/alerts")
	for name, content := range written {
		if content == "" {
			t.Errorf("%s is empty: nothing was searched", name)
		}
		for _, s := range secrets {
			if strings.Contains(content, s) {
				t.Errorf("%s holds the secret %q", name, s)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func gunzip(t *testing.T, path string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
