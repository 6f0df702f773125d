//go:build peers

package k8s

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// shipment is one way to get perch's objects.
type shipment struct {
	name    string                                // and the namespace
	objects func(*kit, *testing.T, string) string // as YAML, for a namespace
	idle    bool                                  // admitted and not run: another is the same, a test says
}

// shipments are all that is shipped: what appears in the folders is among them.
func shipments(t *testing.T) []shipment {
	t.Helper()
	all := []shipment{
		{name: "base", objects: fromFolder("base")},
		{name: "manifest-cronjob", objects: fromManifest(KindCronJob), idle: true},
		{name: "manifest-indexed-job", objects: fromManifest(KindIndexedJob, "--shards=2"), idle: true},
		{name: "manifest-deployment", objects: fromManifest(KindDeployment), idle: true},
		{name: "chart-cronjob", objects: fromChart("kind=cronjob")},
		{name: "chart-indexed-job", objects: fromChart("kind=indexed-job,shards=2,networkPolicy.enabled=true"), idle: true},
		{name: "chart-deployment", objects: fromChart("kind=deployment,serviceMonitor.enabled=true,rules.health.enabled=true,rules.findings.enabled=true,dashboards.enabled=true"), idle: true},
		{name: "components", objects: fromFolder("overlays/deployment", glob(t, "components/*")...), idle: true},
	}
	for _, folder := range glob(t, "overlays/*") {
		all = append(all, shipment{name: filepath.Base(folder), objects: fromFolder(folder)})
	}
	return all
}

// fromManifest is what `perch manifest` in the image prints.
func fromManifest(kind Kind, more ...string) func(*kit, *testing.T, string) string {
	return func(k *kit, t *testing.T, namespace string) string {
		args := append([]string{"manifest", "--kind=" + string(kind), "--config=" + k.world.configDir(t, namespace, inConfigMap), "--namespace=" + namespace, "--image=" + testImage}, more...)
		return output(t, exec.Command(k.perch, args...))
	}
}

// fromChart is what Helm renders.
func fromChart(values string) func(*kit, *testing.T, string) string {
	return func(k *kit, t *testing.T, namespace string) string {
		name, tag, _ := strings.Cut(testImage, ":")
		return command(t, "helm", "template", "perch", "chart", "--namespace="+namespace, "--set="+values+",image.repository="+name+",image.tag="+tag,
			"--set-file=config="+filepath.Join(k.world.configDir(t, namespace, inConfigMap), "perch.yaml"))
	}
}

// fromFolder is a folder of k8s with a config of the test's own, as docs/deploy.md
// shows it; the state is where the folder's own config has it.
func fromFolder(folder string, components ...string) func(*kit, *testing.T, string) string {
	return func(k *kit, t *testing.T, namespace string) string {
		dir := k.world.configDir(t, namespace, stateOf(t, command(t, "kubectl", "kustomize", folder)))
		name, tag, _ := strings.Cut(testImage, ":")
		text := fmt.Sprintf(`apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: %s
resources: [%s]
images: [{name: perch, newName: %s, newTag: %s}]
configMapGenerator:
  - {name: perch, behavior: replace, files: [perch.yaml], options: {disableNameSuffixHash: true}}
patches:
  - target: {kind: CronJob}
    patch: '[{"op": "add", "path": "/spec/jobTemplate/spec/template/spec/containers/0/args/-", "value": "--output=json"}]'
components: [%s]
`, namespace, relative(t, dir, folder), name, tag, relative(t, dir, components...))
		if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return command(t, "kubectl", "kustomize", dir)
	}
}

// relative are paths of folders from a folder, as a list: kustomize takes no
// absolute ones.
func relative(t *testing.T, dir string, folders ...string) string {
	t.Helper()
	var all []string
	for _, folder := range folders {
		here, err := filepath.Abs(folder)
		if err != nil {
			t.Fatal(err)
		}
		to, err := filepath.Rel(dir, here)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, to)
	}
	return strings.Join(all, ", ")
}

// stateOf is where the config in some objects has its state.
func stateOf(t *testing.T, objects string) string {
	t.Helper()
	for _, document := range strings.Split(objects, "\n---\n") {
		var object corev1.ConfigMap
		if err := yaml.Unmarshal([]byte(document), &object); err != nil || object.Data["perch.yaml"] == "" {
			continue // another kind, or another ConfigMap
		}
		var config struct{ State map[string]string }
		if err := yaml.Unmarshal([]byte(object.Data["perch.yaml"]), &config); err != nil {
			t.Fatal(err)
		}
		for key, value := range config.State {
			return fmt.Sprintf("{%s: %s}", key, value)
		}
	}
	t.Fatalf("no perch.yaml with a state in\n%s", objects)
	return ""
}
