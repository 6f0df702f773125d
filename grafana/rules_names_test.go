package grafana

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// clusterNames are the series of others that rules use, and their labels.
func clusterNames() map[string][]string {
	cronJob, job := []string{"namespace", "cronjob"}, []string{"namespace", "job_name"}
	return map[string][]string{ // kube-state-metrics 2; Prometheus
		"kube_cronjob_created":                     cronJob,
		"kube_cronjob_spec_suspend":                cronJob,
		"kube_cronjob_next_schedule_time":          cronJob,
		"kube_cronjob_status_last_schedule_time":   cronJob,
		"kube_cronjob_status_last_successful_time": cronJob,
		"kube_job_status_start_time":               job,
		"kube_job_failed":                          append(slices.Clone(job), "condition"),
		"kube_job_owner":                           append(slices.Clone(job), "owner_kind", "owner_name"),
		"up":                                       {"job", "instance"},
	}
}

// perchNames are perch's series and their labels, as docs/metrics.md lists
// them; a test of package metrics holds that page to what perch exposes.
func perchNames(t *testing.T) map[string][]string {
	t.Helper()
	raw, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| \\[`(perch_[a-z_]+)`\\]\\([^)]*\\) \\| ([a-z]+) \\| ([^|]*) \\|").FindAllStringSubmatch(string(raw), -1) {
		labels := []string{"perch", "vantage", "shard", "job", "instance"}
		for _, l := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[3], -1) {
			labels = append(labels, l[1])
		}
		if row[2] != "histogram" {
			all[row[1]] = labels
			continue
		}
		all[row[1]+"_count"], all[row[1]+"_bucket"] = labels, append(slices.Clone(labels), "le")
	}
	if len(all) < 20 {
		t.Fatalf("docs/metrics.md lists %d metrics: its table is not as this test reads it", len(all))
	}
	return all
}

// TestRulesNameWhatExists: every series of a rule is one that perch or
// kube-state-metrics exposes, or a rule above records, with the labels that are
// selected on it.
func TestRulesNameWhatExists(t *testing.T) {
	name := regexp.MustCompile(`\b(perch:[a-z_0-9:]+|perch_[a-z_]+|kube_[a-z_]+|up)\b(\{[^}]*\})?`)
	selected := regexp.MustCompile(`([a-z_]+)(?:=~|!=|!~|=)"`)
	for file, f := range ruleFiles(RuleOptions{}) {
		known := clusterNames()
		for n, labels := range perchNames(t) {
			known[n] = labels
		}
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				for _, m := range name.FindAllStringSubmatch(r.Expr, -1) {
					labels, there := known[m[1]]
					if !there {
						t.Errorf("%s: %s%s uses %s, which nothing exposes", file, r.Alert, r.Record, m[1])
					}
					for _, l := range selected.FindAllStringSubmatch(m[2], -1) {
						if !slices.Contains(labels, l[1]) {
							t.Errorf("%s: %s%s selects the label %s of %s, which has %v", file, r.Alert, r.Record, l[1], m[1], labels)
						}
					}
				}
				if r.Record != "" {
					known[r.Record] = nil
				}
			}
		}
	}
}

// TestTextsNameLabelsThatAlertsHave: a label that is not there is an empty word
// in the middle of a sentence.
func TestTextsNameLabelsThatAlertsHave(t *testing.T) {
	used := regexp.MustCompile(`\$labels\.([a-z_]+)`)
	kept := map[string]string{} // the expression of what is recorded
	for _, f := range ruleFiles(RuleOptions{}) {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				kept[r.Record] = r.Expr
			}
		}
	}
	for _, r := range alertRules(RuleOptions{}) {
		whole := r.Expr
		for name, expr := range kept {
			if name != "" && strings.Contains(r.Expr, name) {
				whole += expr
			}
		}
		for _, text := range r.Annotations {
			for _, m := range used.FindAllStringSubmatch(text, -1) {
				if !strings.Contains(whole, m[1]) && !slices.Contains([]string{"instance", "job"}, m[1]) {
					t.Errorf("%s speaks of the label %s, which its expression does not keep", r.Alert, m[1])
				}
			}
		}
	}
}

// ruleTests are the files that promtool runs.
type ruleTests struct {
	Tests []struct {
		Name  string
		Exprs []struct {
			Expr    string
			Samples []any `yaml:"exp_samples"`
		} `yaml:"promql_expr_test"`
	}
}

// TestEveryAlertIsTested: promtool has a case in which it fires and one in
// which it does not.
func TestEveryAlertIsTested(t *testing.T) {
	paths, err := filepath.Glob("rules/tests/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	fires, silent := map[string]bool{}, map[string]bool{}
	of := regexp.MustCompile(`^ALERTS\{alertname="(\w+)", alertstate="firing"\}$`)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var f ruleTests
		if err := yaml.Unmarshal(raw, &f); err != nil {
			t.Fatalf("reading %s: %v", path, err)
		}
		for _, c := range f.Tests {
			for _, e := range c.Exprs {
				m := of.FindStringSubmatch(e.Expr)
				if m == nil {
					t.Fatalf("%s: %q asks for %q, not for an alert", path, c.Name, e.Expr)
				}
				if len(e.Samples) > 0 {
					fires[m[1]] = true
				} else {
					silent[m[1]] = true
				}
			}
		}
	}
	known := map[string]bool{}
	for _, r := range alertRules(RuleOptions{}) {
		known[r.Alert] = true
		if !fires[r.Alert] || !silent[r.Alert] {
			t.Errorf("%s: a case in which it fires: %t; one in which it does not: %t; want both", r.Alert, fires[r.Alert], silent[r.Alert])
		}
	}
	for name := range fires {
		if !known[name] {
			t.Errorf("%s is tested, and no rule", name)
		}
	}
}
