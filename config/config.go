// Package config turns bytes into validated values. Viper lives here and
// nowhere else.
package config

import (
	"strings"
	"time"

	"perch.example/probes"
)

// Config is a whole, validated configuration. Load makes one.
type Config struct {
	Name         string
	Vantage      string // empty only where nothing is remembered: cmd may then show the host's name
	Targets      []probes.Target
	Alerts       Alerts
	Slack        Slack
	Webhook      Webhook
	Alertmanager Alertmanager
	Metrics      Metrics
	OTLP         OTLP
	State        State
	Policy       *probes.Policy    // what the platform team allows, which all of this keeps; nil: there is none
	Shard        Shard             // which part of the targets these are; Load gives all of them
	AllTargets   []probes.Target   // of a part: those of the whole, which the policy's limits of a host are for; else nil
	Places       map[string]string // where each target and target/probe is written: "perch.yaml:12"
	Written      map[string]string // likewise each setting outside of targets, by its dotted path, where one of the files or the environment has it
	Warnings     []string          // what is allowed but should be looked at, each with file:line
}

// WrittenAt is where a setting outside of targets is written, or what it would stand in:
// "perch.yaml:12"; empty: nowhere, it is as perch has it built in.
func (c Config) WrittenAt(key string) string {
	for {
		if at := c.Written[key]; at != "" {
			return at
		}
		dot := strings.LastIndexByte(key, '.')
		if dot < 0 {
			return ""
		}
		key = key[:dot]
	}
}

// tells reports whether there is anybody to be told.
func (c Config) tells() bool {
	return !c.Slack.Webhook.Zero() || !c.Slack.BotToken.Zero() || c.Webhook.URL != "" || !c.Webhook.From.Zero() || c.Alertmanager.URL != ""
}

// Alerts say when an incident is told.
type Alerts struct {
	Mode         Mode          // notify or report
	FireAfter    int           // failed runs, of the last FireAfter+1
	ResolveAfter int           // good runs in a row
	RemindEvery  time.Duration // while an incident is open; 0: never
	Settle       time.Duration // how long after the start a connection that cannot be opened is tried again; 0: never
	Silences     []Silence
}

// Silence mutes the notices of what it matches for a time.
type Silence struct {
	Match       string // "target/probe", "target", or a pattern with *
	From, Until time.Time
	Reason      string
}

// Mode says whether notices are sent.
type Mode string

// The modes.
const (
	ModeNotify Mode = "notify"
	ModeReport Mode = "report" // decide and record, send nothing
)

// Slack is where notices go: to a webhook, or with a bot's token to a channel.
// With neither: nowhere.
type Slack struct {
	Webhook      probes.Source
	BotToken     probes.Source
	Channel      string // with BotToken; a target may have its own
	DashboardURL string
}

// Webhook gets each notice as JSON. Neither URL nor From: nowhere.
type Webhook struct {
	URL     string
	From    probes.Source // of the URL, where it is a secret
	Headers []probes.Field
}

// Alertmanager gets what is firing, in each run. An empty URL means nowhere.
type Alertmanager struct {
	URL     string
	Headers []probes.Field
}

// Metrics say where the numbers go. Empty strings mean nowhere.
type Metrics struct {
	PushURL       string
	PushHeaders   []probes.Field
	PushStateless bool
	Textfile      string
	MaxSeries     int
	Listen        string // of perch serve: "host:port", the host may be empty
	BlackboxNames bool   // also probe_success and the like, for dashboards made for blackbox_exporter
}

// OTLP is where spans and numbers go by OpenTelemetry's protocol. An empty Endpoint
// means nowhere.
type OTLP struct {
	Endpoint   string // without /v1/traces
	Headers    []probes.Field
	Traces     bool
	Metrics    bool          // what the counters grew
	Histograms string        // exponential or explicit
	Timeout    time.Duration // of one request

	CAFile, CertFile, KeyFile string
}

// State is where that is kept which survives between runs: in a file, or in a
// ConfigMap of the cluster. Neither means nothing does.
type State struct{ File, ConfigMap string }

// Kept reports whether anything survives.
func (s State) Kept() bool { return s.File != "" || s.ConfigMap != "" }
