//go:build peers

package k8s

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"perch.example/internal/cluster"
)

// TestTheKustomizationsOfTheDocsAreBuilt: those of docs/deploy.md and of README.md,
// beside the folders that they name.
func TestTheKustomizationsOfTheDocsAreBuilt(t *testing.T) {
	dir, files := t.TempDir(), deployFiles(t)
	for _, folder := range []string{"base", "overlays", "components"} {
		if err := os.CopyFS(filepath.Join(dir, "k8s", folder), os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][]string{
		"k8s/prod/kustomization.yaml": {
			"namespace: shop", "image: registry.example/tools/perch:0.1.0", "schedule: 7-59/15 * * * *", "egress: partner-api", "activeDeadlineSeconds: 330",
		},
		"k8s/serve/kustomization.yaml": {
			"namespace: shop", "image: registry.example/tools/perch:0.1.0", "kind: Deployment", "kind: NetworkPolicy", "kind: PodMonitor", "kind: PrometheusRule",
		},
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{path: files[name], filepath.Join(filepath.Dir(path), "perch.yaml"): string(manifest(t, "perch.yaml"))} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		built := kustomized(t, filepath.Dir(path))
		for _, part := range want {
			if !strings.Contains(built, part) {
				t.Errorf("%s: the built objects lack %q", name, part)
			}
		}
	}
}

// TestTheChartTakesTheValuesOfTheDocs: by Helm's command line as docs/deploy.md
// shows it, and by Argo CD's Application.
func TestTheChartTakesTheValuesOfTheDocs(t *testing.T) {
	dir, files := t.TempDir(), deployFiles(t)
	var a application
	if err := decode([]byte(files["argocd/perch-chart.yaml"]), &a); err != nil {
		t.Fatal(err)
	}
	object, err := yaml.Marshal(a.Spec.Source.Helm.ValuesObject)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		values string
		more   []string
	}{
		"values.yaml":  {files["values.yaml"], []string{"--set-file", "config=base/perch.yaml"}},
		"valuesObject": {string(object), nil},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.values), 0o600); err != nil {
			t.Fatal(err)
		}
		args := slices.Concat([]string{"template", a.Spec.Source.Helm.ReleaseName, "chart", "-n", "shop", "-f", path}, c.more)
		objects := normal(t, output(t, exec.Command(cluster.Program(t, "helm"), args...)))
		if objects["CronJob/perch"] == nil || objects["ConfigMap/perch-state"] == nil || objects["Lease/perch-state"] == nil {
			t.Errorf("%s: the chart makes %d objects, without a CronJob or a state", name, len(objects))
		}
		if text := asYAML(objects["CronJob/perch"]); !strings.Contains(text, "schedule: 7-59/15 * * * *") {
			t.Errorf("%s: the schedule is not that of the docs:\n%s", name, text)
		}
	}
}
