package config

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"perch.example/probes"
	"perch.example/probes/expect"
)

// build turns decoded settings into the values that perch works with, and checks
// what only the whole can show. After a mistake its result is not used.
func (c *checker) build(s settings) Config {
	out := Config{
		Name:    s.Name,
		Vantage: s.Vantage,
		Alerts:  alertsOf(s),
		Slack: Slack{
			Webhook: probes.Source(s.Slack.Webhook.From), BotToken: probes.Source(s.Slack.BotToken.From),
			Channel: s.Slack.Channel, DashboardURL: s.Slack.DashboardURL,
		},
		Webhook:      Webhook{URL: s.Webhook.URL, From: probes.Source(s.Webhook.From), Headers: fields(s.Webhook.Headers)},
		Alertmanager: Alertmanager{URL: s.Alertmanager.URL, Headers: fields(s.Alertmanager.Headers)},
		Metrics: Metrics{
			PushURL: s.Metrics.Push.URL, PushHeaders: fields(s.Metrics.Push.Headers), PushStateless: s.Metrics.Push.Stateless,
			Textfile: s.Metrics.Textfile, MaxSeries: s.Metrics.MaxSeries, BlackboxNames: s.Metrics.BlackboxNames, Listen: s.Metrics.Listen,
		},
		OTLP: OTLP{
			Endpoint: s.OTLP.Endpoint, Headers: fields(s.OTLP.Headers), Traces: s.OTLP.Traces, Metrics: s.OTLP.Metrics == "delta",
			Histograms: s.OTLP.Histograms, Timeout: s.OTLP.Timeout, CAFile: s.OTLP.CAFile, CertFile: s.OTLP.CertFile, KeyFile: s.OTLP.KeyFile,
		},
		State: State(s.State),
	}
	c.sinks(out)
	first := map[string]place{}
	for _, t := range s.Targets {
		c.once(first, t.Name, t.Place, "target")
		c.doubtChannel(out, t)
		out.Targets = append(out.Targets, c.target(t))
	}
	out.Places, out.Written = places(s.Targets), c.settings()
	c.obeyTogether(s.Targets, out.Targets)
	c.slack(out)
	c.doubtNotices(out)
	c.doubtSilences(s.Alerts.Silences, out.Targets)
	return out
}

// places says of each target and probe where it is written, for what only the
// plan can find wrong with it.
func places(targets []targetSettings) map[string]string {
	all := map[string]string{}
	for _, t := range targets {
		all[t.Name] = fmt.Sprintf("%s:%d", t.Place.file, t.Place.line)
		for _, p := range t.Probes {
			all[probes.Spec{Target: t.Name, Probe: p.Name}.ID()] = fmt.Sprintf("%s:%d", p.Place.file, p.Place.line)
		}
	}
	return all
}

// settings says likewise where what is outside of targets is written.
func (c *checker) settings() map[string]string {
	all := make(map[string]string, len(c.tops))
	for path, at := range c.tops {
		all[path] = at.file
		if at.line > 0 { // else the environment or a flag has it
			all[path] += fmt.Sprintf(":%d", at.line)
		}
	}
	return all
}

func alertsOf(s settings) Alerts {
	out := Alerts{
		Mode: Mode(s.Alerts.Mode), FireAfter: s.Alerts.FireAfter, ResolveAfter: s.Alerts.ResolveAfter,
		RemindEvery: s.Alerts.RemindEvery, Settle: s.Alerts.Settle,
	}
	for _, one := range s.Alerts.Silences {
		out.Silences = append(out.Silences, Silence{Match: one.Match, From: one.From, Until: one.Until, Reason: one.Reason})
	}
	return out
}

// once refuses a name that stands for two things: results would be mixed up.
func (c *checker) once(first map[string]place, name string, at place, what string) {
	earlier, twice := first[name]
	if twice && name != "" {
		c.wrong(c.at(at, "name"), fmt.Sprintf("another %s is called %q already (%s:%d)", what, name, earlier.file, earlier.line), "give each a name of its own")
		return
	}
	first[name] = at
}

// sinks: what is remembered or compared between runs needs a name that stays,
// and a counter that grows needs a memory.
func (c *checker) sinks(out Config) {
	uses := map[string]bool{
		"metrics.push": out.Metrics.PushURL != "", "metrics.textfile": out.Metrics.Textfile != "",
		"otlp.endpoint": out.OTLP.Endpoint != "", "state.file": out.State.File != "", "state.configmap": out.State.ConfigMap != "",
	}
	for _, key := range slices.Sorted(maps.Keys(uses)) {
		if !uses[key] {
			continue
		}
		at := c.where(key)
		if out.Name == "" && !c.somewhere("name") {
			c.wrong(at, "needs a name", "write name: at the top; without one this perch cannot be told from others")
		}
		if out.Vantage == "" && !c.somewhere("vantage") {
			c.wrong(at, "needs a vantage", "write vantage: at the top, or set PERCH_VANTAGE; a pod's host name changes with each run")
		}
	}
	kept := out.State.Kept() || c.somewhere("state.file") || c.somewhere("state.configmap")
	if out.Metrics.PushURL != "" && !kept && !out.Metrics.PushStateless && !c.mistaken("metrics.push.stateless") {
		c.wrong(c.where("metrics.push"), "pushes without state: its counters would never grow", "write state: {file: PATH} or {configmap: NAME}, or insist with push: {url: ..., stateless: true}")
	}
	if uses["state.file"] && uses["state.configmap"] {
		c.wrong(c.where("state.configmap"), "stands beside file", "keep one: there is one state")
	}
	if out.Metrics.Textfile != "" && !strings.HasSuffix(out.Metrics.Textfile, ".prom") {
		c.wrong(c.where("metrics.textfile"), "does not end in .prom", "node_exporter reads *.prom only")
	}
}

func (c *checker) target(t targetSettings) probes.Target {
	out := probes.Target{
		Name: t.Name, Owner: t.Shared.Owner, Severity: t.Shared.Severity, Runbook: t.Shared.Runbook,
		RateLimit: probes.Rate(t.RateLimit), Share: t.Share, DailyLimit: t.DailyLimit, MaxConnections: t.MaxConnections,
		Channel: t.Channel, Client: c.client(t), Via: probes.Via(t.Via),
	}
	for _, a := range t.Accepted {
		out.Accepted = append(out.Accepted, probes.Accepted{
			Diagnosis: probes.Diagnosis(a.Diagnosis), IdleFrom: a.Idle.From, IdleTo: a.Idle.To, Until: a.Until, Reason: a.Reason,
		})
	}
	if u, err := url.Parse(t.URL); err == nil && t.URL != "" {
		out.URL = u
		c.doubtPath(c.at(t.Place, "url"), u.Path)
	}
	first := map[string]place{}
	for _, p := range t.Probes {
		c.once(first, p.Name, p.Place, "probe of this target")
		spec := c.spec(out, p)
		c.doubtPlain(spec, t.Place)
		out.Probes = append(out.Probes, spec)
	}
	c.doubtAccepted(t.Accepted, out)
	c.obey(t, out)
	return out
}

func (c *checker) client(t targetSettings) *probes.Client {
	s, at := t.Client, c.at(t.Place, "client")
	if s == nil {
		return nil
	}
	c.needs(at, "kind", s.Kind != "", "want a client's name, such as apache-httpclient-4.5")
	out := &probes.Client{
		Kind: s.Kind, WrappedBy: s.WrappedBy, MaxIdle: s.MaxIdle, ValidateAfter: s.ValidateAfter, TCPKeepAlive: s.TCPKeepAlive, HTTP2Ping: s.HTTP2Ping,
	}
	c.fits(out, at)
	if s.AutomaticRetries == string(probes.SwitchNone) {
		out.AutomaticRetries = probes.SwitchNone
	}
	if s.Retry != nil {
		out.Retry = &probes.RetryPolicy{Layer: probes.RetryLayer(s.Retry.Layer), Attempts: s.Retry.Attempts, Methods: s.Retry.Methods, Errors: s.Retry.Errors}
		at = c.at(at, "retry")
		c.doubtErrors(out, at)
		c.needs(at, "layer", s.Retry.Layer != "", "want inside or around")
		c.needs(at, "attempts", s.Retry.Attempts > 0, "want how often it tries at all, the first time included")
		c.needs(at, "errors", s.Retry.Errors != nil, "want a list; an empty one retries nothing")
	}
	return out
}

// needs refuses what is incomplete after all levels are merged. What is written
// wrongly, here or in the defaults, was told already.
func (c *checker) needs(at place, key string, there bool, fix string) {
	_, below, _ := strings.Cut(at.path, ".")
	if there || c.has(at, key) || c.somewhere("defaults."+below+"."+key) {
		return
	}
	c.wrong(at, fmt.Sprintf("%q is missing", key), fix)
}

func (c *checker) spec(t probes.Target, p probeSettings) probes.Spec {
	s := p.Shared
	out := probes.Spec{
		Target: t.Name, Probe: p.Name, Kind: probes.Kind(p.Kind), Every: s.Every, Method: s.Method,
		Headers: fields(s.Headers), Query: fields(s.Query),
		TLS: probes.TLS{
			CAFile: s.TLS.CAFile, CertFile: s.TLS.CertFile, KeyFile: s.TLS.KeyFile, ServerName: s.TLS.ServerName,
			MinVersion: map[string]uint16{"1.3": tls.VersionTLS13}[s.TLS.MinVersion],
		},
		Timeouts:  probes.Timeouts(s.Timeouts),
		Redirects: s.FollowRedirects, MaxBody: s.MaxBody, Expect: c.expectations(s.Expect),
		Retry:  probes.Retry{Attempts: s.Retry.Attempts, Backoff: s.Retry.Backoff},
		Client: t.Client, Via: t.Via, Accepted: t.Accepted,
		Notice: probes.NoticeInfo{Owner: s.Owner, Severity: s.Severity, Runbook: s.Runbook, Channel: t.Channel},
	}
	c.reach(&out, p)
	if out.TLS.MinVersion == 0 {
		out.TLS.MinVersion = probes.MinTLS
	}
	if out.Kind == probes.KindIdle {
		out.KeepAlive, out.Holds = s.KeepAlive, s.Holds
	}
	out.URL = c.joinURL(t, p)
	out.Notice.URL, out.Notice.Idle = byHand(out)
	out.Notice.Query = out.Notice.URL != "" && (out.URL.RawQuery != "" || len(out.Query) > 0)
	c.handshake(&out, p)
	c.burst(&out, t, p)
	c.postRules(&out, p)
	c.grpcRules(&out, p)
	c.wayRules(&out, p)
	c.doubtSpoken(&out, p)
	c.oauthRules(&out, p)
	return out
}

// joinURL puts a probe's path behind its target's.
func (c *checker) joinURL(t probes.Target, p probeSettings) *url.URL {
	if t.URL == nil {
		return nil
	}
	whole := t.URL.String()
	if p.Path != "" {
		whole = strings.TrimRight(whole, "/") + p.Path
	}
	u, err := url.Parse(whole)
	if err != nil || u.Host != t.URL.Host || u.Scheme != t.URL.Scheme {
		c.wrong(c.at(p.Place, "path"), "gives no URL behind the target's url", "want a path such as /calendar?days=2")
		return nil
	}
	return u
}

// doubtPlain warns when a secret travels unencrypted.
func (c *checker) doubtPlain(s probes.Spec, at place) {
	if s.URL == nil || s.URL.Scheme != "http" || probes.StaysHere(s.URL) && s.Way.Proxy.URL == nil {
		return
	}
	if s.OAuth != nil {
		c.warn(at, "the token goes out over plain http", "use https, or be sure that the network encrypts")
		return
	}
	for _, f := range append(slices.Clone(s.Headers), s.Query...) {
		if !f.From.Zero() {
			c.warn(at, fmt.Sprintf("the secret %q goes out over plain http", clip(f.Name)), "use https, or be sure that the network encrypts")
			return
		}
	}
}

func fields(list []fieldSettings) []probes.Field {
	var out []probes.Field
	for _, f := range list {
		out = append(out, probes.Field{Name: f.Name, Prefix: f.Prefix, Value: f.Value, From: probes.Source(f.From)})
	}
	return out
}

// where is the place of a dotted top-level key in whichever file has it.
func (c *checker) where(path string) place {
	if at, there := c.tops[path]; there {
		return at
	}
	return place{file: "config", path: path}
}

// mistaken reports whether something was wrong with a value.
func (c *checker) mistaken(path string) bool {
	return slices.ContainsFunc(c.mistakes, func(m Mistake) bool { return m.Path == path })
}

// somewhere reports whether a key is written, if wrongly.
func (c *checker) somewhere(path string) bool { return c.where(path).line > 0 }

// expectations returns a probe's compiled set, the same for the same text.
func (c *checker) expectations(expressions []string) *expect.Set {
	key := strings.Join(expressions, "\x00")
	if set := c.sets[key]; set != nil {
		return set
	}
	set, err := c.compiler.Compile(expressions)
	if err != nil {
		return &expect.Set{} // told already, where the expression is written
	}
	c.sets[key] = set
	return set
}
