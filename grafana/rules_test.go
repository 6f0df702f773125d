package grafana

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// ruleFiles are what is shipped, by name.
func ruleFiles(o RuleOptions) map[string]RuleFile {
	return map[string]RuleFile{"perch-health.yaml": HealthRules(o), "perch-findings.yaml": FindingRules(o)}
}

// TestRuleFiles: what a Prometheus loads is what the code says.
func TestRuleFiles(t *testing.T) {
	for name, f := range ruleFiles(RuleOptions{}) {
		want, err := f.encode("grafana/rules*.go")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("rules", name)
		if *update {
			if err := os.WriteFile(path, want, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s is not what the code says: go test ./grafana -run TestRuleFiles -update", path)
		}
	}
}

// alertRules are the alerts of all files.
func alertRules(o RuleOptions) []Rule {
	var all []Rule
	for _, f := range ruleFiles(o) {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if r.Alert != "" {
					all = append(all, r)
				}
			}
		}
	}
	return all
}

// TestAlertsAreWhole: whoever gets one reads what it is, how urgent, and where
// to go on.
func TestAlertsAreWhole(t *testing.T) {
	documented := map[string]bool{"README.md": true}
	index, err := os.ReadFile("../docs/runbooks/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range alertRules(RuleOptions{}) {
		switch r.Labels["severity"] {
		case severityPage, severityTicket, severityInfo:
		default:
			t.Errorf("%s: severity %q", r.Alert, r.Labels["severity"])
		}
		for _, part := range []string{"summary", "description"} {
			text := regexp.MustCompile(`{{ range .* }}`).ReplaceAllString(r.Annotations[part], "")
			if len(text) < 20 || len(text) > 420 {
				t.Errorf("%s: its %s has %d signs", r.Alert, part, len(text))
			}
			// Alertmanager may show one of them alone.
			if first, _, _ := strings.Cut(text, " "); !strings.Contains(text, "$labels.") || slices.Contains([]string{"That", "This", "It", "Its"}, first) {
				t.Errorf("%s: its %s does not say of what it is: %s", r.Alert, part, text)
			}
		}
		if want := "https://perch.example/docs/runbooks/" + r.Alert + ".md"; r.Annotations["runbook_url"] != want {
			t.Errorf("%s: runbook %q, want %q", r.Alert, r.Annotations["runbook_url"], want)
		}
		documented[r.Alert+".md"] = true
		checkRunbook(t, r)
		if !strings.Contains(string(index), "["+r.Alert+"]("+r.Alert+".md)") {
			t.Errorf("docs/runbooks/README.md does not list %s", r.Alert)
		}
	}
	files, err := os.ReadDir("../docs/runbooks")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !documented[f.Name()] {
			t.Errorf("docs/runbooks/%s is of no alert", f.Name())
		}
	}
}

// checkRunbook holds a runbook to the parts that an engineer looks for.
func checkRunbook(t *testing.T, r Rule) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../docs/runbooks", r.Alert+".md"))
	if err != nil {
		t.Error(err)
		return
	}
	text := string(raw)
	if !strings.HasPrefix(text, "# "+r.Alert+"\n") || !strings.Contains(text, "**"+r.Labels["severity"]+"**") {
		t.Errorf("%s: its runbook does not begin with its name, or lacks its severity", r.Alert)
	}
	at := -1
	for _, part := range []string{"\n## What it means\n", "\n## What the application experiences\n", "\n## Check now\n", "\n## Causes and what to do\n",
		"\n## Mute it\n", "\n## When it ends\n"} {
		next := strings.Index(text, part)
		if next <= at {
			t.Errorf("%s: its runbook has no part %q in its place", r.Alert, strings.TrimSpace(part))
		}
		at = next
	}
}

func TestSpans(t *testing.T) {
	for _, c := range []struct {
		is     time.Duration
		faster int
		want   string
		number string
	}{
		{24 * time.Hour, 0, "1d", "86400"},
		{15 * time.Minute, 1, "15m", "900"},
		{24 * time.Hour, 60, "24m", "1440"},
		{time.Minute, 60, "1s", "1"},
		{time.Minute, 120, "500ms", "0.5"},
		{90 * time.Minute, 1, "90m", "5400"},
	} {
		o := RuleOptions{Faster: c.faster}
		if got := o.span(c.is); got != c.want {
			t.Errorf("%s %d times faster is written %q, want %q", c.is, c.faster, got, c.want)
		}
		if got := o.number(c.is); got != c.number {
			t.Errorf("%s %d times faster is the number %q, want %q", c.is, c.faster, got, c.number)
		}
	}
}

func TestRuleOptions(t *testing.T) {
	o := RuleOptions{Runbooks: "https://wiki.example/", CronJobs: "canary", Jobs: "canaries"}
	raw, err := HealthRules(o).encode("")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`cronjob=~"canary"`, `owner_name=~"canary"`, `job=~"canaries"`, "https://wiki.example/PerchGone.md"} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the rules do not say %s", want)
		}
	}
	if strings.Contains(string(raw), `"perch(`) {
		t.Error("the rules still match the names that are the default")
	}
}
