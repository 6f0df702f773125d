package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
	"perch.example/probes/expect"
)

func load(t *testing.T, o Options, yaml string) Config {
	t.Helper()
	c, err := Parse(o, File{Name: "perch.yaml", Data: []byte(yaml)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const smallest = `
version: 1
targets:
  - {name: a, url: "https://a.example", probes: [{name: p, kind: http}]}
`

func TestExamples(t *testing.T) {
	for _, name := range append(glob(t, "../examples/*.yaml"), "../examples/folder") {
		c, err := Load(name, catalog())
		if err != nil {
			t.Errorf("%s:\n%v", name, err)
		}
		if len(c.Targets) == 0 || len(c.Warnings) > 0 {
			t.Errorf("%s: %d targets, warnings %q", name, len(c.Targets), c.Warnings)
		}
	}
}

// TestContract holds every value of the contract's example.
func TestContract(t *testing.T) {
	c, err := parseFile(t, "testdata/good/contract.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "shop" || c.Vantage != "prod-tokyo" {
		t.Errorf("name %q, vantage %q", c.Name, c.Vantage)
	}
	standard := Alerts{Mode: ModeNotify, FireAfter: 2, ResolveAfter: 2, RemindEvery: 24 * time.Hour, Settle: 10 * time.Second}
	standard.Silences = []Silence{{
		Match: "stock-api/*", Reason: "partner maintenance",
		From: time.Date(2026, 12, 31, 15, 0, 0, 0, time.UTC), Until: time.Date(2027, 1, 1, 3, 0, 0, 0, time.UTC),
	}}
	equal(t, "alerts", c.Alerts, standard)
	equal(t, "slack", c.Slack, Slack{BotToken: probes.Source{Env: "SLACK_BOT_TOKEN"}, Channel: "#alerts", DashboardURL: "https://grafana.example/d/perch"})
	equal(t, "metrics", c.Metrics, Metrics{PushURL: "http://pushgateway:9091", MaxSeries: 20000, Listen: ":9877"})
	equal(t, "state", c.State, State{File: "/var/lib/perch/state"})
	target := c.Targets[0]
	equal(t, "budget", target.Budget(), 2.0)
	equal(t, "client", target.Client, &probes.Client{
		Kind: "apache-httpclient-4.5", WrappedBy: "spring-resttemplate",
		MaxIdle:       probes.Limit{Mode: probes.LimitNone},
		ValidateAfter: probes.Limit{Mode: probes.LimitAfter, After: 2 * time.Second}, AutomaticRetries: probes.SwitchNone,
		Retry: &probes.RetryPolicy{Layer: probes.LayerInside, Attempts: 3, Errors: []string{"org.springframework.web.client.HttpServerErrorException", "503"}},
	})
	calendar, idle := target.Probes[0], target.Probes[1]
	equal(t, "url", calendar.URL.String(), "https://api.partner.example/v1/calendar?days=2")
	equal(t, "headers", calendar.Headers, []probes.Field{
		{Name: "Accept", Value: "application/json"},
		{Name: "Authorization", Prefix: "Bearer ", From: probes.Source{File: "/etc/perch/secrets/stock-token"}},
	})
	equal(t, "timeouts", calendar.Timeouts, probes.Timeouts{DNS: 2 * time.Second, Connect: 2 * time.Second, TLS: 2 * time.Second, Response: 5 * time.Second})
	equal(t, "retry", calendar.Retry, probes.Retry{Attempts: 2, Backoff: 200 * time.Millisecond})
	equal(t, "tls", calendar.TLS, probes.TLS{MinVersion: probes.MinTLS})
	equal(t, "notice", calendar.Notice, probes.NoticeInfo{Owner: "team-stock", Channel: "#stock", URL: "https://api.partner.example/v1/calendar", Query: true})
	equal(t, "accepted", idle.Accepted, []probes.Accepted{{
		Diagnosis: probes.DiagnosisEarlyClose, IdleFrom: 55 * time.Second, IdleTo: 65 * time.Second,
		Until: time.Date(2027, 4, 1, 0, 0, 0, 0, time.UTC), Reason: "partner will raise it in March",
	}})
	if failures := calendar.Expect.Check(expect.Answer{Status: 200, Body: []byte(`{"days":[1]}`), Latency: time.Second}); len(failures) != 2 {
		t.Errorf("expectations: %+v, want two that fail", failures)
	}
	equal(t, "holds", idle.Holds, []time.Duration{30 * time.Second, 59 * time.Second, 61 * time.Second, 120 * time.Second})
	equal(t, "keep_alive", idle.KeepAlive, time.Minute)
	equal(t, "client of the probe", idle.Client, target.Client)
	equal(t, "sources", c.Sources(), []probes.Source{{File: "/etc/perch/secrets/stock-token"}, {Env: "SLACK_BOT_TOKEN"}})
}

// TestBuiltins holds what contract.md says holds when nobody says anything.
func TestBuiltins(t *testing.T) {
	c := load(t, Options{}, smallest)
	target := c.Targets[0]
	equal(t, "limits", fmt.Sprint(target.RateLimit, target.Share, target.DailyLimit, target.MaxConnections, target.Via), "20 0.05 5000 16none")
	standard := Alerts{Mode: ModeNotify, FireAfter: 2, ResolveAfter: 2, RemindEvery: 24 * time.Hour, Settle: 10 * time.Second}
	equal(t, "alerts", c.Alerts, standard)
	equal(t, "max_series", c.Metrics.MaxSeries, 20000)
	spec := target.Probes[0]
	if spec.Expect == nil || spec.Client != nil || target.Client != nil {
		t.Errorf("expect %v, client %v", spec.Expect, spec.Client)
	}
	spec.URL, spec.Expect = nil, nil
	equal(t, "spec", spec, probes.Spec{
		Target: "a", Probe: "p", Kind: probes.KindHTTP, Every: 5 * time.Minute, Method: "GET", MaxBody: 1 << 20, Via: probes.ViaNone,
		Notice:   probes.NoticeInfo{URL: "https://a.example"},
		TLS:      probes.TLS{MinVersion: probes.MinTLS},
		Timeouts: probes.Timeouts{DNS: 2 * time.Second, Connect: 2 * time.Second, TLS: 2 * time.Second, Response: 5 * time.Second},
		Retry:    probes.Retry{Attempts: 1, Backoff: 200 * time.Millisecond},
		Protocol: probes.ProtocolHTTP1,
		Way:      probes.Way{Proxy: probes.Proxy{Environment: true}, Addresses: probes.AddressesOne, Family: probes.IPAny},
	})
	partial := load(t, Options{}, smallest+"alerts: {fire_after: 5}\n")
	standard.FireAfter = 5
	equal(t, "alerts given in part", partial.Alerts, standard)
	words := load(t, Options{}, smallest+"alerts: {remind_every: never, settle: none}\n")
	equal(t, "words", []time.Duration{words.Alerts.RemindEvery, words.Alerts.Settle}, []time.Duration{0, 0})
}

// TestLevels: the nearest level wins, and nothing of the user's is lost to
// Viper, which lower-cases keys and splits dots.
func TestLevels(t *testing.T) {
	c, err := parseFile(t, "testdata/good/levels.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first, second := c.Targets[0], c.Targets[1]
	one, two := first.Probes[0], first.Probes[1]
	equal(t, "url", one.URL.String(), "https://API.Example.COM:8443/Base/Calendar%20x?Days=2")
	equal(t, "url without a path", two.URL.String(), "https://API.Example.COM:8443/Base/")
	equal(t, "every", []time.Duration{one.Every, two.Every}, []time.Duration{0, 10 * time.Minute})
	equal(t, "timeouts", one.Timeouts, probes.Timeouts{DNS: 500 * time.Millisecond, Connect: time.Second, TLS: 2 * time.Second, Response: 4 * time.Second})
	equal(t, "headers", one.Headers, []probes.Field{
		{Name: "Accept", Value: "text/plain"}, {Name: "x-from", Value: "target"}, {Name: "X-Custom-ID", Value: "CaseKept.with.dots"},
	})
	equal(t, "query", one.Query, []probes.Field{{Name: "V", Value: "2"}, {Name: "v", From: probes.Source{Env: "MixedCase_Env"}}})
	equal(t, "query of the other probe", two.Query, []probes.Field{{Name: "v", Value: "1"}, {Name: "V", Value: "2"}})
	equal(t, "expectations", []bool{one.Expect.Expects(204), two.Expect.Expects(204)}, []bool{true, false})
	equal(t, "severity", []string{one.Notice.Severity, two.Notice.Severity, first.Severity}, []string{"page", "", ""})
	equal(t, "client", first.Client, &probes.Client{
		Kind: "go-net-http", MaxIdle: probes.Limit{Mode: probes.LimitNone}, Retry: &probes.RetryPolicy{
			Layer: probes.LayerInside, Attempts: 2, Methods: []string{"GET", "HEAD", "PUT", "DELETE"}, Errors: []string{},
		},
	})
	equal(t, "methods that nobody declares", second.Client.Retry.Methods, nil)
	equal(t, "client of the other target", second.Client.MaxIdle, probes.Limit{Mode: probes.LimitAfter, After: 90 * time.Second})
	equal(t, "owners", []string{first.Owner, one.Notice.Owner, second.Owner, second.Probes[0].Notice.Owner}, []string{"platform", "platform", "", ""})
	equal(t, "budgets", fmt.Sprintf("%.4f %.4f", first.Budget(), second.Budget()), "0.0833 2.5000")
	equal(t, "http probe's holds", second.Probes[0].Holds, nil)
	equal(t, "idle probe's holds", second.Probes[1].Holds, []time.Duration{2 * time.Second})
	equal(t, "idle probe's keep_alive", second.Probes[1].KeepAlive, 5*time.Second)
}

func TestEnvironmentAndFlagsWin(t *testing.T) {
	vars := map[string]string{"PERCH_NAME": "from-env", "PERCH_VANTAGE": "from-env", "PERCH_VERSION": "1.2.3", "PERCH_STATE_FILE": "/env"}
	env := func(key string) (string, bool) { v, ok := vars[key]; return v, ok }
	c := load(t, Options{Env: env, Overrides: map[string]string{"vantage": "from-flag", "state.file": "/flag", "alerts.fire_after": "7"}},
		smallest+"name: from-file\nvantage: from-file\nstate: {file: /file}\nalerts: {mode: report}\n")
	equal(t, "config", fmt.Sprint(c.Name, c.Vantage, c.State.File, c.Alerts), "from-envfrom-flag/flag{report 7 2 24h0m0s 10s []}")

	vars["PERCH_NAME"] = "From Env"
	for _, o := range []Options{
		{Env: env},
		{Overrides: map[string]string{"alerts.fire_after": "seven", "alerts.Mode": "report", "targets": "x", "name": "null"}},
	} {
		_, err := Parse(o, File{"perch.yaml", []byte(smallest)})
		if err == nil {
			t.Fatalf("%v: no error", o.Overrides)
		}
		for _, line := range strings.Split(err.Error(), "\n") {
			if !strings.HasPrefix(line, "env PERCH_NAME: ") && !strings.HasPrefix(line, "flag ") {
				t.Errorf("not where it comes from: %s", line)
			}
		}
	}

	_, err := Parse(Options{Env: env}, File{"perch.yaml", []byte(smallest + "name: FROM_FILE\nmetrics: {textfile: a.prom}\n")})
	if err == nil || strings.Contains(err.Error(), "needs a name") {
		t.Errorf("a name that is wrong in both is missing in neither: %v", err)
	}
}

func TestFolder(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A ConfigMap is mounted as links into a hidden folder.
	if err := os.Mkdir(filepath.Join(folder, "..data"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("..data/linked.yaml", strings.ReplaceAll(smallest, "name: a,", "name: linked,"))
	if err := os.Symlink("..data/linked.yaml", filepath.Join(folder, "c-linked.yaml")); err != nil {
		t.Fatal(err)
	}
	write("b.yml", strings.ReplaceAll(smallest, "name: a,", "name: b,")+"name: shop\n")
	write("a.yaml", smallest)
	write("notes.txt", "no: config")
	write(".hidden.yaml", "no: config")
	c, err := Load(folder, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, target := range c.Targets {
		names = append(names, target.Name)
	}
	equal(t, "targets", names, []string{"a", "b", "linked"})
	equal(t, "name", c.Name, "shop")

	write("d.yaml", smallest+"name: other\nalerts: {mode: report}\n")
	write("e.yaml", "targets:\n  - {name: e, url: \"https://e.example\", probes: [{name: p, kind: http, every: 5}]}\n")
	_, err = Load(folder, Options{})
	want := fmt.Sprintf(`%[1]s/d.yaml:4: targets[0].name: another target is called "a" already (%[1]s/a.yaml:4); give each a name of its own
%[1]s/d.yaml:5: name: is given in %[1]s/b.yml already; keep one: only targets are joined
%[1]s/e.yaml:2: targets[0].probes[0].every: "5" has no unit; write 5s`, folder)
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestUnreadable(t *testing.T) {
	folder := t.TempDir()
	large := filepath.Join(folder, "large.txt")
	if err := os.WriteFile(large, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{folder + "/none.yaml": "reading the config: ", folder: "holds no *.yaml", large: "larger than 4 MiB"} {
		_, err := Load(path, Options{})
		var mistakes *Errors
		if err == nil || errors.As(err, &mistakes) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if want == nil && reflect.ValueOf(got).IsZero() {
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}
