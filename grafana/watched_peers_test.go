//go:build peers

package grafana

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"perch.example/internal/cluster"
)

// elsewhere is where the docs' example has the runbooks.
const elsewhere = "https://git.example/platform/perch/blob/main/docs"

// rulesPage is docs/rules.md.
func rulesPage(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestTheWatchedOverlayOfTheDocs: each monitor and rule gets the operator's label,
// and each alert the address of a runbook that is somewhere.
func TestTheWatchedOverlayOfTheDocs(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"base", "overlays", "components"} {
		if err := os.CopyFS(filepath.Join(dir, "k8s", folder), os.DirFS("../k8s/"+folder)); err != nil {
			t.Fatal(err)
		}
	}
	watched := filepath.Join(dir, "k8s/watched")
	if err := os.Mkdir(watched, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```yaml\n(# k8s/watched/(\\w+\\.yaml).*?)```").FindAllStringSubmatch(rulesPage(t), -1) {
		if err := os.WriteFile(filepath.Join(watched, m[2]), []byte(m[1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	built, err := exec.Command(cluster.Program(t, "kubectl"), "kustomize", watched).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl kustomize: %v\n%s", err, built)
	}
	alerts := 0
	for _, g := range HealthRules(RuleOptions{}).Groups {
		for _, r := range g.Rules {
			if r.Alert == "" {
				continue
			}
			alerts++
			if want := "runbook_url: " + elsewhere + "/runbooks/" + r.Alert + ".md\n"; !strings.Contains(string(built), want) {
				t.Errorf("the overlay lacks %q", want)
			}
		}
	}
	if n := strings.Count(string(built), "release: kube-prometheus-stack"); n != 2 || alerts == 0 {
		t.Errorf("%d objects with the operator's label, want the PodMonitor and the PrometheusRule; %d alerts", n, alerts)
	}
}

// TestTheSedLineOfTheDocs: after it nothing points to where nothing is.
func TestTheSedLineOfTheDocs(t *testing.T) {
	line := regexp.MustCompile(`(?ms)^  (sed -i .*?)\n  \x60{3}`).FindStringSubmatch(rulesPage(t))
	if line == nil {
		t.Fatal("docs/rules.md shows no sed line")
	}
	dir := t.TempDir()
	for _, folder := range []string{"grafana/rules", "grafana/dashboards", "k8s/components"} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS("../"+folder)); err != nil {
			t.Fatal(err)
		}
	}
	sed := exec.Command("sh", "-ec", line[1])
	sed.Dir = dir
	if out, err := sed.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line[1], err, out)
	}
	changed := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "/rules/tests/") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.Contains(string(raw), "perch.example/docs") {
			t.Errorf("%s still points to perch.example/docs", strings.TrimPrefix(path, dir))
		}
		if strings.Contains(string(raw), elsewhere) {
			changed++
		}
		return nil
	})
	if err != nil || changed < 12 {
		t.Errorf("%d files changed, want two of rules and four dashboards, each twice: %v", changed, err)
	}
}
