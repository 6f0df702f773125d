package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"perch.example/probes"
)

// settings is the decoded config: the table's shape in Go types.
type settings struct {
	Version int              `mapstructure:"version"`
	Name    string           `mapstructure:"name"`
	Vantage string           `mapstructure:"vantage"`
	Targets []targetSettings `mapstructure:"targets"`
	Alerts  struct {
		Mode         string            `mapstructure:"mode"`
		FireAfter    int               `mapstructure:"fire_after"`
		ResolveAfter int               `mapstructure:"resolve_after"`
		RemindEvery  time.Duration     `mapstructure:"remind_every"`
		Settle       time.Duration     `mapstructure:"settle"`
		Silences     []silenceSettings `mapstructure:"silences"`
	} `mapstructure:"alerts"`
	Slack struct {
		Webhook      secretSettings `mapstructure:"webhook"`
		BotToken     secretSettings `mapstructure:"bot_token"`
		Channel      string         `mapstructure:"channel"`
		DashboardURL string         `mapstructure:"dashboard_url"`
	} `mapstructure:"slack"`
	Webhook struct {
		URL     string          `mapstructure:"url"`
		From    sourceSettings  `mapstructure:"from"`
		Headers []fieldSettings `mapstructure:"headers"`
	} `mapstructure:"webhook"`
	Alertmanager struct {
		URL     string          `mapstructure:"url"`
		Headers []fieldSettings `mapstructure:"headers"`
	} `mapstructure:"alertmanager"`
	Metrics struct {
		Push struct {
			URL       string          `mapstructure:"url"`
			Headers   []fieldSettings `mapstructure:"headers"`
			Stateless bool            `mapstructure:"stateless"`
		} `mapstructure:"push"`
		Textfile      string `mapstructure:"textfile"`
		MaxSeries     int    `mapstructure:"max_series"`
		Listen        string `mapstructure:"listen"`
		BlackboxNames bool   `mapstructure:"blackbox_names"`
	} `mapstructure:"metrics"`
	OTLP struct {
		Endpoint   string          `mapstructure:"endpoint"`
		Headers    []fieldSettings `mapstructure:"headers"`
		Traces     bool            `mapstructure:"traces"`
		Metrics    string          `mapstructure:"metrics"`
		Histograms string          `mapstructure:"histograms"`
		Timeout    time.Duration   `mapstructure:"timeout"`
		CAFile     string          `mapstructure:"ca_file"`
		CertFile   string          `mapstructure:"cert_file"`
		KeyFile    string          `mapstructure:"key_file"`
	} `mapstructure:"otlp"`
	State struct {
		File      string `mapstructure:"file"`
		ConfigMap string `mapstructure:"configmap"`
	} `mapstructure:"state"`
}

type silenceSettings struct {
	Place  place     `mapstructure:"@place"`
	Match  string    `mapstructure:"match"`
	From   time.Time `mapstructure:"from"`
	Until  time.Time `mapstructure:"until"`
	Reason string    `mapstructure:"reason"`
}

type acceptedSettings struct {
	Place     place     `mapstructure:"@place"`
	Diagnosis string    `mapstructure:"diagnosis"`
	Idle      between   `mapstructure:"idle"`
	Until     time.Time `mapstructure:"until"`
	Reason    string    `mapstructure:"reason"`
}

type secretSettings struct {
	From sourceSettings `mapstructure:"from"`
}

type sourceSettings struct {
	Env  string `mapstructure:"env"`
	File string `mapstructure:"file"`
}

type targetSettings struct {
	Place          place              `mapstructure:"@place"`
	Name           string             `mapstructure:"name"`
	URL            string             `mapstructure:"url"`
	RateLimit      float64            `mapstructure:"rate_limit"`
	Share          float64            `mapstructure:"share"`
	DailyLimit     int                `mapstructure:"daily_limit"`
	MaxConnections int                `mapstructure:"max_connections"`
	Via            string             `mapstructure:"via"`
	Channel        string             `mapstructure:"channel"`
	Client         *clientSettings    `mapstructure:"client"`
	Accepted       []acceptedSettings `mapstructure:"accepted"`
	Probes         []probeSettings    `mapstructure:"probes"`
	Shared         sharedSettings     `mapstructure:",squash"`
}

type clientSettings struct {
	Kind             string        `mapstructure:"kind"`
	WrappedBy        string        `mapstructure:"wrapped_by"`
	MaxIdle          probes.Limit  `mapstructure:"max_idle"`
	ValidateAfter    probes.Limit  `mapstructure:"validate_after"`
	TCPKeepAlive     time.Duration `mapstructure:"tcp_keep_alive"`
	HTTP2Ping        time.Duration `mapstructure:"http2_ping"`
	AutomaticRetries string        `mapstructure:"automatic_retries"`
	Retry            *struct {
		Layer    string   `mapstructure:"layer"`
		Attempts int      `mapstructure:"attempts"`
		Methods  []string `mapstructure:"methods"`
		Errors   []string `mapstructure:"errors"`
	} `mapstructure:"retry"`
}

type sharedSettings struct {
	Owner    string          `mapstructure:"owner"`
	Severity string          `mapstructure:"severity"`
	Runbook  string          `mapstructure:"runbook"`
	Every    time.Duration   `mapstructure:"every"`
	Method   string          `mapstructure:"method"`
	Headers  []fieldSettings `mapstructure:"headers"`
	Query    []fieldSettings `mapstructure:"query"`
	TLS      struct {
		CAFile     string `mapstructure:"ca_file"`
		CertFile   string `mapstructure:"cert_file"`
		KeyFile    string `mapstructure:"key_file"`
		ServerName string `mapstructure:"server_name"`
		MinVersion string `mapstructure:"min_version"`
	} `mapstructure:"tls"`
	Timeouts struct {
		DNS      time.Duration `mapstructure:"dns"`
		Connect  time.Duration `mapstructure:"connect"`
		TLS      time.Duration `mapstructure:"tls"`
		Response time.Duration `mapstructure:"response"`
	} `mapstructure:"timeouts"`
	FollowRedirects int      `mapstructure:"follow_redirects"`
	MaxBody         int64    `mapstructure:"max_body"`
	Expect          []string `mapstructure:"expect"`
	Retry           struct {
		Attempts int           `mapstructure:"attempts"`
		Backoff  time.Duration `mapstructure:"backoff"`
	} `mapstructure:"retry"`
	KeepAlive time.Duration   `mapstructure:"keep_alive"`
	Holds     []time.Duration `mapstructure:"holds"`
	Reach     reachSettings   `mapstructure:",squash"`
}

type fieldSettings struct {
	Place  place          `mapstructure:"@place"`
	Name   string         `mapstructure:"name"`
	Prefix string         `mapstructure:"prefix"`
	Value  string         `mapstructure:"value"`
	From   sourceSettings `mapstructure:"from"`
}

type probeSettings struct {
	Place  place          `mapstructure:"@place"`
	Name   string         `mapstructure:"name"`
	Kind   string         `mapstructure:"kind"`
	Path   string         `mapstructure:"path"`
	Reach  reachProbe     `mapstructure:",squash"`
	Shared sharedSettings `mapstructure:",squash"`
}

// merge lets Viper put the layers over each other, and decodes the result
// without any guessing: no weak types, no key that is not used. Viper would read
// `Rate_Limit`, a second document, and 2 as 2 ns: what comes here was checked
// before, and holds nothing of the user's as a key.
func merge(root value, files, environment, overrides map[string]any) (settings, error) {
	v := viper.New()
	for key, val := range builtins(root) {
		if key != "defaults" { // resolved by levels
			v.SetDefault(key, val)
		}
	}
	for _, layer := range []map[string]any{files, environment, overrides} {
		if err := v.MergeConfigMap(layer); err != nil {
			return settings{}, fmt.Errorf("merging the config: %w", err)
		}
	}
	var s settings
	err := v.UnmarshalExact(&s, func(d *mapstructure.DecoderConfig) {
		d.WeaklyTypedInput = false
		d.DecodeHook = nil
	})
	if err != nil {
		return settings{}, fmt.Errorf("decoding the config: %w", err)
	}
	return s, nil
}

// environment checks PERCH_NAME and PERCH_VANTAGE like lines of a file.
func (c *checker) environment() map[string]any {
	out := map[string]any{}
	if c.options.Env == nil {
		return out
	}
	for _, key := range []string{"name", "vantage"} {
		variable := "PERCH_" + strings.ToUpper(key)
		text, set := c.options.Env(variable)
		if !set || text == "" {
			continue
		}
		node := &yaml.Node{Kind: yaml.ScalarNode, Tag: tagText, Value: text}
		f, _ := c.root.field(key)
		if got, ok := c.walk(node, &f.value, place{file: "env " + variable, path: key}); ok {
			out[key] = got
		}
	}
	return out
}

// flags checks overrides like lines of a file.
func (c *checker) flags() map[string]any {
	out := map[string]any{}
	for _, dotted := range slices.Sorted(maps.Keys(c.options.Overrides)) {
		at := place{file: "flag " + dotted}
		if first, _, _ := strings.Cut(dotted, "."); first == "targets" || first == "defaults" {
			c.wrong(at, "targets and defaults are set in files only", "")
			continue
		}
		// A flag gives one key; what its mapping requires may stand in a file.
		c.optional = true
		got, ok := c.walk(nest(dotted, c.options.Overrides[dotted]), &c.root, at)
		c.optional = false
		if m, is := got.(map[string]any); ok && is {
			out = overlay(out, m)
		}
	}
	return out
}

// nest turns a.b and x into a: {b: x}.
func nest(dotted, written string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Value: written}
	for _, key := range slices.Backward(strings.Split(dotted, ".")) {
		name := &yaml.Node{Kind: yaml.ScalarNode, Tag: tagText, Value: key}
		node = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{name, node}}
	}
	return node
}
