package grafana

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// RuleOptions say where rules will stand. The zero value is what is shipped.
type RuleOptions struct {
	// Runbooks is the URL under which docs/runbooks is read, with its last
	// slash. Empty: a placeholder.
	Runbooks string
	// CronJobs matches the names of perch's CronJobs, anchored. Empty:
	// "perch" and what begins with "perch-".
	CronJobs string
	// Jobs matches the label job of the scrapes of `perch serve`, anchored.
	// Empty: "perch" and what begins with "perch-", after a namespace and a
	// slash, too, as a PodMonitor makes it.
	Jobs string
	// Faster divides every duration of the rules, so that a test need not wait
	// for hours. What is counted in runs or in a schedule's intervals stays. 0
	// is 1.
	Faster int
}

const defaultRunbooks = "https://perch.example/docs/runbooks/"

func (o RuleOptions) runbook(alert string) string {
	base := o.Runbooks
	if base == "" {
		base = defaultRunbooks
	}
	return base + alert + ".md"
}

func (o RuleOptions) cronJobs() string {
	if o.CronJobs != "" {
		return o.CronJobs
	}
	return "perch(-.+)?"
}

func (o RuleOptions) jobs() string {
	if o.Jobs != "" {
		return o.Jobs
	}
	return "(.+/)?perch(-.+)?"
}

// number writes a duration as the seconds that a value is compared with.
func (o RuleOptions) number(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds()/float64(max(o.Faster, 1)), 'f', -1, 64)
}

// span writes a duration as PromQL and `for` read it.
func (o RuleOptions) span(d time.Duration) string {
	d /= time.Duration(max(o.Faster, 1))
	for _, unit := range []struct {
		name string
		is   time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if d%unit.is == 0 {
			return fmt.Sprint(int64(d/unit.is), unit.name)
		}
	}
	return fmt.Sprint(d.Milliseconds(), "ms")
}

// RuleFile is a file of Prometheus rules; its groups are the spec of a
// PrometheusRule, too.
type RuleFile struct {
	Groups []RuleGroup `yaml:"groups"`
}

// RuleGroup is evaluated in the order of its rules: one may use those above.
type RuleGroup struct {
	Name     string `yaml:"name"`
	Interval string `yaml:"interval"`
	Rules    []Rule `yaml:"rules"`
}

// Rule records a series or is an alert.
type Rule struct {
	Record      string            `yaml:"record,omitempty"`
	Alert       string            `yaml:"alert,omitempty"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

// The severities, as a target of a config has them.
const (
	severityPage   = "page"
	severityTicket = "ticket"
	severityInfo   = "info"
)

// told is what people read of an alert.
type told struct {
	severity, summary, description string
}

// alert makes a rule that fires after expr has held for a while. 0: at once.
func (o RuleOptions) alert(name, expr string, after time.Duration, t told) Rule {
	r := Rule{
		Alert: name, Expr: expr, Labels: map[string]string{"severity": t.severity},
		Annotations: map[string]string{"summary": t.summary, "description": t.description, "runbook_url": o.runbook(name)},
	}
	if after > 0 {
		r.For = o.span(after)
	}
	return r
}

const ruleHeader = "# Made from %s; do not edit. To write it anew: go test ./grafana -run TestRuleFiles -update\n"

// encode writes the file as it is shipped; source names the code it is made of.
func (f RuleFile) encode(source string) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, ruleHeader, source)
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(f); err != nil {
		return nil, fmt.Errorf("writing rules: %w", err)
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("writing rules: %w", err)
	}
	return b.Bytes(), nil
}
