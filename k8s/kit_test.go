package k8s

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kitFiles are those files of components and chart that are made of others: a
// kustomization may not reach out of its folder, nor a chart.
func kitFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{"chart/values.schema.json": chartSchema(t)}
	for _, from := range glob(t, "../grafana/dashboards/*.json") {
		data := mustRead(t, from)
		files[filepath.Join("components/dashboards", filepath.Base(from))] = data
		files[filepath.Join("chart/files", filepath.Base(from))] = data
	}
	for _, which := range []string{"health", "findings"} {
		name := "perch-" + which + ".yaml"
		rules := mustRead(t, filepath.Join("../grafana/rules", name))
		files[filepath.Join("chart/files", name)] = rules
		files["components/rules-"+which+"/prometheusrule.yaml"] = prometheusRule(which, string(rules))
	}
	return files
}

// prometheusRule wraps a rule file into an object of the Prometheus Operator.
func prometheusRule(which, rules string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `# Made of grafana/rules/perch-%s.yaml; do not edit: go test ./k8s -run TestKitFiles -update
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: perch-%s
  labels: {app.kubernetes.io/name: perch, app.kubernetes.io/instance: perch}
spec:
`, which, which)
	for line := range strings.Lines(rules) {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.TrimSpace(line) == "":
			b.WriteString(line)
		default:
			b.WriteString("  " + line)
		}
	}
	return []byte(b.String())
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	return files
}

func TestKitFiles(t *testing.T) {
	for name, want := range kitFiles(t) {
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if !bytes.Equal(mustRead(t, name), want) {
			t.Errorf("k8s/%s is not what it is made of: go test ./k8s -run TestKitFiles -update", name)
		}
	}
}

// TestKitFilesAreAllMade: what its source no longer has is not shipped.
func TestKitFilesAreAllMade(t *testing.T) {
	made := kitFiles(t)
	for _, pattern := range []string{"chart/files/*", "components/dashboards/*.json", "components/rules-*/prometheusrule.yaml"} {
		for _, name := range glob(t, pattern) {
			if _, is := made[name]; !is {
				t.Errorf("k8s/%s is made of nothing any more: delete it", name)
			}
		}
	}
	listed := string(mustRead(t, "components/dashboards/kustomization.yaml"))
	for name := range made {
		if strings.HasPrefix(name, "components/dashboards/") && !strings.Contains(listed, filepath.Base(name)) {
			t.Errorf("components/dashboards/kustomization.yaml does not list %s", filepath.Base(name))
		}
	}
}
