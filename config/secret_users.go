package config

import "perch.example/probes"

// UserOf says what a secret is for, the first that refers to it, with its place where
// that is a probe: "perch.yaml:9: the header Authorization of a/p". Empty: nothing does.
func (c Config) UserOf(s probes.Source) string {
	for _, t := range c.Targets {
		for _, p := range t.Probes {
			use := useIn(p, s)
			if use == "" {
				continue
			}
			use += " of " + p.ID()
			if at := c.Places[p.ID()]; at != "" {
				use = at + ": " + use
			}
			return use
		}
	}
	for _, top := range []struct {
		use    string
		source []probes.Source
	}{
		{"slack.webhook", []probes.Source{c.Slack.Webhook}},
		{"slack.bot_token", []probes.Source{c.Slack.BotToken}},
		{"webhook", append(sourcesOf(c.Webhook.Headers), c.Webhook.From)},
		{"alertmanager.headers", sourcesOf(c.Alertmanager.Headers)},
		{"metrics.push.headers", sourcesOf(c.Metrics.PushHeaders)},
		{"otlp.headers", sourcesOf(c.OTLP.Headers)},
	} {
		for _, has := range top.source {
			if has == s {
				return top.use
			}
		}
	}
	return ""
}

// useIn is what a probe needs the secret for; empty: nothing.
func useIn(p probes.Spec, s probes.Source) string {
	for _, h := range p.Headers {
		if h.From == s {
			return "the header " + h.Name
		}
	}
	for _, q := range p.Query {
		if q.From == s {
			return "the parameter " + q.Name
		}
	}
	switch {
	case p.Way.Proxy.Credentials == s:
		return "proxy_credentials"
	case p.OAuth != nil && p.OAuth.Secret == s:
		return "oauth2.client_secret"
	}
	return ""
}

func sourcesOf(fields []probes.Field) []probes.Source {
	var all []probes.Source
	for _, f := range fields {
		all = append(all, f.From)
	}
	return all
}
