package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestMemory holds every value of testdata/good/memory.yaml.
func TestMemory(t *testing.T) {
	c, err := parseFile(t, "testdata/good/memory.yaml")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "state", c.State, State{ConfigMap: "perch-state"})
	equal(t, "kept", c.State.Kept(), true)
	equal(t, "blackbox names", c.Metrics.BlackboxNames, true)
	equal(t, "slack", c.Slack, Slack{BotToken: probes.Source{File: "/etc/perch/secrets/bot-token"}})
	equal(t, "webhook", c.Webhook, Webhook{From: probes.Source{Env: "WEBHOOK_URL"}, Headers: []probes.Field{
		{Name: "Authorization", Prefix: "Bearer ", From: probes.Source{Env: "WEBHOOK_TOKEN"}}, {Name: "X-Team", Value: "stock"},
	}})
	equal(t, "alertmanager", c.Alertmanager, Alertmanager{URL: "http://alertmanager:9093/prefix", Headers: []probes.Field{
		{Name: "Authorization", Prefix: "Basic ", From: probes.Source{Env: "ALERTMANAGER"}},
	}})
	equal(t, "push headers", c.Metrics.PushHeaders, []probes.Field{{Name: "Authorization", Prefix: "Basic ", From: probes.Source{Env: "PUSHGATEWAY"}}})
	equal(t, "sources", c.Sources(), []probes.Source{
		{File: "/etc/perch/secrets/bot-token"}, {Env: "WEBHOOK_URL"}, {Env: "WEBHOOK_TOKEN"}, {Env: "ALERTMANAGER"}, {Env: "PUSHGATEWAY"},
	})
	day := func(month time.Month, day int) time.Time { return time.Date(2027, month, day, 0, 0, 0, 0, time.UTC) }
	equal(t, "silences", c.Alerts.Silences, []Silence{
		{Match: "stock-api", From: day(1, 1), Until: day(1, 3), Reason: "two days"},
		{Match: "*", Until: day(1, 2), Reason: "everything"},
		{Match: "*/calendar-????", Until: day(1, 1).Add(500 * time.Millisecond), Reason: "one probe"},
	})
	accepted := []probes.Accepted{
		{Diagnosis: probes.DiagnosisStaleConnection, Until: day(4, 1), Reason: "in quotes"},
		{Diagnosis: probes.DiagnosisUnauthorized, Until: day(3, 31), Reason: "they rotate the keys"},
		{Diagnosis: probes.DiagnosisEarlyClose, IdleTo: 65 * time.Second, Until: day(4, 1), Reason: "from the start"},
	}
	equal(t, "accepted", c.Targets[0].Accepted, accepted)
	equal(t, "accepted by a probe", c.Targets[0].Probes[0].Accepted, accepted)
	equal(t, "accepted by the other target", c.Targets[1].Probes[0].Accepted, nil)
	equal(t, "channels", []string{c.Targets[0].Channel, c.Targets[0].Probes[1].Notice.Channel, c.Targets[1].Probes[0].Notice.Channel},
		[]string{"C0123456789", "C0123456789", "#rates"})
}

// TestDoubtUntil: an end is looked at from the day on which the config is read.
func TestDoubtUntil(t *testing.T) {
	const config = `
version: 1
targets:
  - name: a
    url: https://a.example
    probes: [{name: p, kind: idle}]
    accepted: [{diagnosis: early_close, until: 2027-03-31, reason: x}]
alerts: {silences: [{match: a, until: 2027-03-31, reason: x}]}
`
	for now, want := range map[time.Time]string{
		{}: "",
		time.Date(2026, 3, 30, 0, 0, 0, 0, time.UTC):                     "is more than a year ahead",
		time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC):                     "",
		time.Date(2027, 3, 31, 23, 59, 59, 0, time.UTC):                  "",
		time.Date(2027, 4, 1, 0, 0, 0, 0, time.UTC):                      "is over",
		time.Date(2027, 3, 31, 20, 0, 0, 0, time.FixedZone("", -5*3600)): "is over",
	} {
		warnings := load(t, Options{Now: now}, config).Warnings
		count := 2
		if want == "" {
			count = 0
		}
		if len(warnings) != count || count > 0 && (!strings.Contains(warnings[0], "until: "+want) || !strings.Contains(warnings[1], "until: "+want)) {
			t.Errorf("%s: %q, want two times %q", now, warnings, want)
		}
	}
}

// TestStateInFlag: a ConfigMap counts as a state wherever a file does, in a flag too.
func TestStateInFlag(t *testing.T) {
	c := load(t, Options{Overrides: map[string]string{"state.configmap": "perch-state", "name": "a", "vantage": "v"}}, smallest+"metrics: {push: {url: http://push.example}}\n")
	equal(t, "state", c.State, State{ConfigMap: "perch-state"})
	_, err := Parse(Options{Overrides: map[string]string{"state.configmap": "perch-state", "name": "a", "vantage": "v"}}, File{"perch.yaml", []byte(smallest + "state: {file: /state}\n")})
	if !strings.Contains(fmt.Sprint(err), "stands beside file") {
		t.Errorf("%v, want that there is one state", err)
	}
}

// TestSilenceMeans: the patterns as alert reads them.
func TestSilenceMeans(t *testing.T) {
	c := load(t, Options{}, `
version: 1
targets:
  - {name: stock-api, url: "https://a.example", probes: [{name: calendar, kind: http}, {name: calendar-idle, kind: idle}]}
  - {name: rates, url: "https://b.example", probes: [{name: latest, kind: http}]}
`)
	for match, want := range map[string]bool{
		"*": true, "stock-api": true, "stock-*": true, "stock-api/*": true, "*/latest": true, "*-idle": true, "stock*idle": true, "r?tes": true,
		"stock": false, "calendar": false, "rates/calendar": false, "stock-api/latest": false, "?rates": false, "stock-api/calendar?": false,
	} {
		if got := matchesAny(match, c.Targets); got != want {
			t.Errorf("%s: %v, want %v", match, got, want)
		}
	}
}
