//go:build peers

package k8s

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shipment is one way to get perch's objects.
type shipment struct {
	name string // and the namespace
	kind Kind   // what runs perch
	// own says that the objects hold a config of their own, which probes nothing on
	// loopback.
	own  bool
	yaml func(*kit, *testing.T, string) string // for a namespace
}

// shipments are all that is shipped: what appears in the folders is among them.
func shipments() []shipment {
	return []shipment{
		{name: "base", kind: KindCronJob, yaml: (*kit).base},
		{name: "cronjob", kind: KindCronJob, yaml: manifestOf(KindCronJob)},
		{name: "indexed-job", kind: KindIndexedJob, yaml: manifestOf(KindIndexedJob, "--shards=2")},
		{name: "deployment", kind: KindDeployment, yaml: manifestOf(KindDeployment)},
	}
}

// manifestOf is what `perch manifest` in the image prints.
func manifestOf(kind Kind, more ...string) func(*kit, *testing.T, string) string {
	return func(k *kit, t *testing.T, namespace string) string {
		args := append([]string{"manifest", "--kind=" + string(kind), "--config=" + k.world.configDir(t, namespace), "--namespace=" + namespace, "--image=" + testImage}, more...)
		return output(t, exec.Command(k.perch, args...))
	}
}

// base is an overlay as docs/deploy.md shows one.
func (k *kit) base(t *testing.T, namespace string) string {
	return k.kustomize(t, "base", fmt.Sprintf(`
namespace: %s
configMapGenerator:
  - {name: perch, behavior: replace, files: [perch.yaml], options: {disableNameSuffixHash: true}}
patches:
  - target: {kind: CronJob}
    patch: '[{"op": "add", "path": "/spec/jobTemplate/spec/template/spec/containers/0/args/-", "value": "--output=json"}]'
`, namespace), k.world.configDir(t, namespace))
}

// kustomize builds a folder of k8s through a kustomization of the test's own, in
// a folder that may hold files for it.
func (k *kit) kustomize(t *testing.T, folder, more, dir string) string {
	t.Helper()
	name, tag, _ := strings.Cut(testImage, ":")
	here, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	to, err := filepath.Rel(dir, here) // kustomize takes no absolute path
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [%s]\nimages: [{name: perch, newName: %s, newTag: %s}]\n%s", to, name, tag, more)
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return command(t, "kubectl", "kustomize", dir)
}
