// Package config turns bytes into validated values. Viper lives here and
// nowhere else.
package config

import "perch.example/probes"

// Config is a whole, validated configuration. Load makes one.
type Config struct {
	Name     string
	Vantage  string // empty only where nothing is remembered: cmd may then show the host's name
	Targets  []probes.Target
	Alerts   Alerts
	Slack    Slack
	Metrics  Metrics
	State    State
	Warnings []string // what is allowed but should be looked at, each with file:line
}

// Alerts say when an incident is told.
type Alerts struct {
	Mode         Mode // notify or report
	FireAfter    int  // failed runs, of the last FireAfter+1
	ResolveAfter int  // good runs in a row
}

// Mode says whether notices are sent.
type Mode string

// The modes.
const (
	ModeNotify Mode = "notify"
	ModeReport Mode = "report" // decide and record, send nothing
)

// Slack is where notices go. A zero Webhook means nowhere.
type Slack struct {
	Webhook      probes.Source
	DashboardURL string
}

// Metrics say where the numbers go. Empty strings mean nowhere.
type Metrics struct {
	PushURL       string
	PushStateless bool
	Textfile      string
	MaxSeries     int
}

// State is what survives between runs. An empty File means nothing does.
type State struct{ File string }
