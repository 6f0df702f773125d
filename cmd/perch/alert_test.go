package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"perch.example/internal/slackfake"
)

// hosts sends each request to its host's own transport.
type hosts map[string]http.RoundTripper

func (h hosts) RoundTrip(r *http.Request) (*http.Response, error) {
	if to, known := h[r.URL.Host]; known {
		return to.RoundTrip(r)
	}
	return http.DefaultTransport.RoundTrip(r)
}

const told = `
version: 1
name: told
vantage: test
targets:
  - name: api
    url: http://127.0.0.1:1
    rate_limit: 1000/s
    probes: [{name: get, kind: http, path: /}]
slack: {bot_token: {from: {env: TOKEN}}, channel: "#stock"}
webhook: {from: {env: HOOK}, headers: [{name: Authorization, prefix: "Bearer ", from: {env: KEY}}]}
alertmanager: {url: "${URL}"}
`

// workspace is a Slack with one channel.
func workspace() *slackfake.Fake {
	return slackfake.New(slackfake.Config{
		Token: "xoxb-1-2-secret", Scopes: []string{"chat:write", "files:write"},
		Channels: []slackfake.Channel{{ID: "C0123456789", Name: "stock", Member: true}},
	})
}

// TestAlertTest tells each destination once, marked as a test.
func TestAlertTest(t *testing.T) {
	t.Parallel()
	slack, hook, manager := workspace(), &collector{status: http.StatusNoContent}, &collector{status: http.StatusOK}
	hooks, managers := httptest.NewServer(hook), httptest.NewServer(manager)
	defer hooks.Close()
	defer managers.Close()
	web := hosts{"slack.com": slack.Transport()}
	env := map[string]string{"TOKEN": "xoxb-1-2-secret", "HOOK": hooks.URL, "KEY": "s3cr3t"}
	path := configFile(t, managers.URL, told)

	r := perchWith(t.Context(), web, env, "alert", "test", "--config", path)
	if r.code != exitOK {
		t.Fatalf("exit status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	want(t, "the answer", r.stdout, "slack: ok", "TEST", "channel C0123456789", "webhook: ok", "alertmanager: ok")
	want(t, "the webhook", hook.text(), "TEST from perch told", "Authorization: Bearer s3cr3t")
	want(t, "Alertmanager", manager.text(), "/api/v2/alerts", `"target":"perch-alert-test"`, "TEST from perch told")
	if all := slack.Messages(); len(all) != 1 || !strings.Contains(all[0].Text, "TEST from perch told") {
		t.Errorf("Slack got %+v", all)
	}
	if said := slack.Remarks(); len(said) > 0 {
		t.Errorf("Slack minds: %q", said)
	}

	r = perchWith(t.Context(), web, env, "alert", "test", "--config", path, "--only", "webhook")
	if r.code != exitOK || strings.Contains(r.stdout, "slack") {
		t.Errorf("--only webhook: exit status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// TestAlertTestThatFails says for each destination what to do, and no secret.
func TestAlertTestThatFails(t *testing.T) {
	t.Parallel()
	web := hosts{"slack.com": workspace().Transport()}
	refusing := httptest.NewServer(&collector{status: http.StatusForbidden})
	defer refusing.Close()
	env := map[string]string{"TOKEN": "xoxb-9-9-wrongtoken", "KEY": "s3cr3t"}
	r := perchWith(t.Context(), web, env, "alert", "test", "--config", configFile(t, refusing.URL, told))
	if r.code != exitUsage { // as a run would
		t.Errorf("exit status %d, want 2", r.code)
	}
	want(t, "the answer", r.stdout, "slack: ", "invalid_auth", "webhook: nothing was sent: reading env HOOK", "alertmanager: ", "403")
	for _, secret := range []string{"wrongtoken", "s3cr3t"} {
		if strings.Contains(r.stdout+r.stderr, secret) {
			t.Errorf("it shows %q", secret)
		}
	}

	for args, says := range map[string]string{
		"--only pager":               "it has: slack, webhook, alertmanager",
		"--config " + nowhere(t):     "names no destination",
		"--config /nonexistent.yaml": "/nonexistent.yaml",
	} {
		args := append([]string{"alert", "test", "--config", configFile(t, refusing.URL, told)}, strings.Fields(args)...)
		r := perchWith(t.Context(), web, env, args...)
		if r.code != exitUsage {
			t.Errorf("%q: exit status %d, want 2", args, r.code)
		}
		want(t, strings.Join(args, " "), r.stderr, says)
	}
}

func nowhere(t *testing.T) string { return configFile(t, "http://127.0.0.1:1", oneProbe) }

// TestARunTellsEachDestination what it takes: Alertmanager hears in each run
// what is firing, and then that it ended.
func TestARunTellsEachDestination(t *testing.T) {
	t.Parallel()
	api := &collector{status: http.StatusNotFound}
	slack, hook, manager := &collector{status: http.StatusOK}, &collector{status: http.StatusOK}, &collector{status: http.StatusOK}
	slacks := httptest.NewServer(slack)
	defer slacks.Close()
	apis, hooks, managers := httptest.NewServer(api), httptest.NewServer(hook), httptest.NewServer(manager)
	defer apis.Close()
	defer hooks.Close()
	defer managers.Close()
	env := map[string]string{"SLACK": slacks.URL, "HOOK": hooks.URL, "KEY": "s3cr3t"}
	text := strings.Replace(told, "http://127.0.0.1:1", apis.URL, 1)
	// A bot waits a second between two messages to a channel.
	text = strings.Replace(text, `bot_token: {from: {env: TOKEN}}, channel: "#stock"`, "webhook: {from: {env: SLACK}}", 1) +
		"alerts: {fire_after: 1, resolve_after: 1}\nstate: {file: '${DIR}/state'}\nmetrics: {textfile: '${DIR}/perch.prom'}\n"
	path := configFile(t, managers.URL, text)
	run := func(code int) {
		t.Helper()
		if r := perch(t.Context(), env, "run", "--all", "--config", path); r.code != code {
			t.Fatalf("exit status %d, want %d\n%s%s", r.code, code, r.stdout, r.stderr)
		}
	}
	run(exitFindings)
	run(exitFindings)
	if n := strings.Count(manager.text(), "POST /api/v2/alerts"); n != 2 {
		t.Errorf("Alertmanager heard %d times of what is firing, want in each of 2 runs", n)
	}
	if n := strings.Count(hook.text(), "POST /"); n != 1 {
		t.Errorf("the webhook was told %d times, want once", n)
	}
	api.answer(http.StatusOK)
	run(exitOK)
	want(t, "the webhook", hook.text(), "api/contract#1 firing", "api/contract#1 resolved")
	want(t, "Alertmanager", manager.text(), "STILL FIRING api", "RESOLVED api")
	want(t, "Slack", slack.text(), "FIRING api", "RESOLVED api")
	want(t, "the metrics", read(t, textfileOf(t, path)),
		`perch_notices_total{destination="webhook",perch="told",result="delivered",vantage="test"} 2`,
		`perch_notices_pending{destination="slack",perch="told",vantage="test"} 0`)
}

// TestTheTestSaysWhereItIs: the vantage is the config's or, as in a run, the
// environment's; where neither says one there is none.
func TestTheTestSaysWhereItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ config, env, want string }{
		{"prod-tokyo", "", `"vantage":"prod-tokyo"`},
		{"prod-tokyo", "pod-7", `"vantage":"pod-7"`},
		{"", "pod-7", `"vantage":"pod-7"`},
		{"", "", ""},
	} {
		hook := &collector{status: http.StatusNoContent}
		hooks := httptest.NewServer(hook)
		defer hooks.Close()
		text := strings.Replace(told, "vantage: test\n", "", 1)
		if c.config != "" {
			text += "vantage: " + c.config + "\n"
		}
		env := map[string]string{"TOKEN": "xoxb-1-2-secret", "HOOK": hooks.URL, "KEY": "s3cr3t", "PERCH_VANTAGE": c.env}
		r := perch(t.Context(), env, "alert", "test", "--only=webhook", "--config", configFile(t, "http://127.0.0.1:1", text))
		if r.code != exitOK {
			t.Fatalf("%+v: exit status %d\n%s%s", c, r.code, r.stdout, r.stderr)
		}
		want(t, "the notice", strings.ReplaceAll(hook.text(), " ", ""), c.want)
		for _, never := range []string{"audit", "anywhere"} {
			if strings.Contains(hook.text(), never) {
				t.Errorf("%+v: the notice says %q:\n%s", c, never, hook.text())
			}
		}
	}
}

// TestAMissingSecretStopsATest with the status of a run, but for what --only
// leaves out; a header's secret is one, too.
func TestAMissingSecretStopsATest(t *testing.T) {
	t.Parallel()
	hook := &collector{status: http.StatusNoContent}
	hooks := httptest.NewServer(hook)
	defer hooks.Close()
	path := configFile(t, hooks.URL, told)
	for _, c := range []struct {
		env  map[string]string
		only string
		code int
		says string
	}{
		{map[string]string{"HOOK": hooks.URL, "KEY": "s3cr3t"}, "webhook", exitOK, "webhook: ok"},
		{map[string]string{"HOOK": hooks.URL, "KEY": "s3cr3t"}, "slack", exitUsage, "slack: nothing was sent: reading env TOKEN"},
		{map[string]string{"HOOK": hooks.URL}, "webhook", exitUsage, "webhook: nothing was sent: reading env KEY"},
		{map[string]string{"KEY": "s3cr3t"}, "webhook", exitUsage, "webhook: nothing was sent: reading env HOOK"},
		{nil, "alertmanager", exitOK, "alertmanager: ok"},
	} {
		before := hook.text()
		r := perch(t.Context(), c.env, "alert", "test", "--only", c.only, "--config", path)
		if r.code != c.code {
			t.Errorf("%+v: exit status %d\n%s%s", c, r.code, r.stdout, r.stderr)
		}
		want(t, "the answer", r.stdout, c.says)
		if c.code == exitUsage && hook.text() != before {
			t.Errorf("%+v: something was sent", c)
		}
	}
}

// TestATestPromisesNothing: nobody sends it again.
func TestATestPromisesNothing(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusInternalServerError, http.StatusTooManyRequests, http.StatusBadRequest} {
		away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(status)
		}))
		defer away.Close()
		env := map[string]string{"SLACK": away.URL, "HOOK": away.URL, "KEY": "s3cr3t"}
		text := strings.Replace(told, `bot_token: {from: {env: TOKEN}}, channel: "#stock"`, "webhook: {from: {env: SLACK}}", 1)
		r := perch(t.Context(), env, "alert", "test", "--config", configFile(t, away.URL, text))
		if r.code != exitOwn {
			t.Errorf("%d: exit status %d, want 4", status, r.code)
		}
		if n := strings.Count(r.stdout, strconv.Itoa(status)); n != 3 {
			t.Errorf("%d is said %d times, want by each of 3:\n%s", status, n, r.stdout)
		}
		for _, never := range []string{"next run", "repeat", "will be", "waits"} {
			if strings.Contains(r.stdout, never) {
				t.Errorf("%d: it says %q:\n%s", status, never, r.stdout)
			}
		}
	}
}
