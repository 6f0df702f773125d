package config

import (
	"testing"

	"perch.example/probes"
)

// TestUserOf: each source has a user, and it is where the config says.
func TestUserOf(t *testing.T) {
	of := func(name string) probes.Source { return probes.Source{Env: name} }
	field := func(name, env string) []probes.Field { return []probes.Field{{Name: name, From: of(env)}} }
	c := Config{
		Places: map[string]string{"a/p": "perch.yaml:9"},
		Targets: []probes.Target{{Name: "a", Probes: []probes.Spec{
			{Target: "a", Probe: "bare"},
			{Target: "a", Probe: "p", Headers: field("Authorization", "H"), Query: field("key", "Q"), Way: probes.Way{Proxy: probes.Proxy{Credentials: of("P")}}},
			{Target: "a", Probe: "o", Headers: field("Other", "H"), OAuth: &probes.OAuth{Secret: of("O")}},
		}}},
	}
	c.Slack.Webhook, c.Slack.BotToken, c.Webhook.From = of("SW"), of("SB"), of("W")
	c.Webhook.Headers, c.Alertmanager.Headers, c.Metrics.PushHeaders, c.OTLP.Headers = field("x", "WH"), field("x", "A"), field("x", "M"), field("x", "T")
	for name, want := range map[string]string{
		"H": "perch.yaml:9: the header Authorization of a/p", "Q": "perch.yaml:9: the parameter key of a/p", "P": "perch.yaml:9: proxy_credentials of a/p",
		"O": "oauth2.client_secret of a/o", "SW": "slack.webhook", "SB": "slack.bot_token", "W": "webhook", "WH": "webhook",
		"A": "alertmanager.headers", "M": "metrics.push.headers", "T": "otlp.headers", "nobody": "",
	} {
		if got := c.UserOf(of(name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, s := range c.Sources() {
		if c.UserOf(s) == "" {
			t.Errorf("%s has no user", s)
		}
	}
}
