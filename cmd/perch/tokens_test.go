package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestTokens runs against an API that wants bearer tokens, and a token endpoint
// beside it: the daily limit holds across runs, a refused token fails, a POST
// leaves once, and nothing of a token is written anywhere.
func TestTokens(t *testing.T) {
	t.Parallel()
	var asked, posted atomic.Int64
	var refuses atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		if _, secret, _ := r.BasicAuth(); secret != "s3cr3t-client" || r.PostFormValue("grant_type") != "client_credentials" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":"invalid_client","error_description":"s3cr3t-said"}`)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"access_token":"s3cr3t-token-%d","token_type":"Bearer","expires_in":3600}`, asked.Add(1))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost {
			posted.Add(1)
		}
		if refuses.Load() || r.Header.Get("Authorization") != fmt.Sprintf("Bearer s3cr3t-token-%d", asked.Load()) {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = w.Write(body)
	})
	server := httptest.NewServer(mux)
	defer server.Close()

	out := t.TempDir()
	path := configFile(t, server.URL, strings.NewReplacer("${OUT}", out).Replace(`
version: 1
name: tokens
vantage: test
defaults:
  oauth2: {token_url: '${URL}/token', client_id: shop, client_secret: {from: {env: CLIENT}}, daily_limit: 3}
targets:
  - name: api
    url: ${URL}
    rate_limit: 1000/s
    share: 100%
    probes:
      - {name: get, kind: http}
      - {name: post, kind: http, method: POST, read_only: a search, body: '{"q": 1}'}
      - {name: held, kind: idle, holds: [100ms]}
alerts: {settle: none}
state: {file: ${OUT}/state}
metrics: {textfile: ${OUT}/perch.prom}
`))
	var all strings.Builder
	run := func(secret string, code int, says ...string) (report string) {
		t.Helper()
		r := perch(t.Context(), map[string]string{"CLIENT": secret}, "run", "--config", path, "--all", "--output", "json", "--log-level", "debug")
		if r.code != code {
			t.Errorf("exit status %d, want %d\n%s\n%s", r.code, code, r.stdout, r.stderr)
		}
		all.WriteString(r.stdout + r.stderr)
		want(t, "the report", r.stdout, says...)
		return r.stdout
	}
	run("s3cr3t-client", exitOK, `"method": "POST"`)
	run("s3cr3t-wrong", exitFindings, "no token: the token endpoint at 127.0.0.1: it answered 401 (invalid_client)")
	refuses.Store(true)
	before, began := posted.Load(), time.Now()
	saysWhenAsked(t, run("s3cr3t-client", exitFindings, "the answer was 401 (no other token: a token was asked for "), began)
	if n := posted.Load() - before; n != 1 {
		t.Errorf("%d POSTs left", n)
	}
	run("s3cr3t-client", exitOK, "the daily_limit of 3 token requests to 127.0.0.1 is used up", "skipped")
	if n := asked.Load(); n != 2 {
		t.Errorf("%d tokens were given", n)
	}
	all.WriteString(gunzip(t, out+"/state") + read(t, out+"/perch.prom"))
	if text := all.String(); strings.Contains(text, "s3cr3t") {
		t.Errorf("a secret is shown: %s", text)
	}
	want(t, "the state", gunzip(t, out+"/state"), "oauth2 127.0.0.1")
}

// saysWhenAsked wants a token that was refused to have been asked for since then. The
// exact words are TestRefusedTokens' of the runner, in fake time: here the machine
// decides on the seconds.
func saysWhenAsked(t *testing.T, report string, began time.Time) {
	t.Helper()
	since := time.Since(began).Round(time.Second)
	all := regexp.MustCompile(`a token was asked for (\w+) ago, and the next one may be in (\w+)\)`).FindAllStringSubmatch(report, -1)
	for _, said := range all {
		ago, err := time.ParseDuration(said[1])
		next, err2 := time.ParseDuration(said[2])
		if err = errors.Join(err, err2); err != nil || ago > since || next > 10*time.Second || ago+next < 10*time.Second {
			t.Errorf("%q, %v; it was asked for within the last %s, and may be each 10s", said[0], err, since)
		}
	}
	if len(all) == 0 {
		t.Errorf("the report does not say when it was:\n%s", report)
	}
}
