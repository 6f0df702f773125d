package k8s

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"perch.example/config"
	"perch.example/diagnose/clients"
)

// shippedFiles are those of the generated ConfigMap, by name.
func shippedFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, m := range read[kustomization](t, "kustomization.yaml").ConfigMaps {
		for _, name := range m.Files {
			files[name] = string(manifest(t, name))
		}
	}
	return files
}

// shipped loads the ConfigMap's files as a run in the pod would.
func shipped(t *testing.T) config.Config {
	t.Helper()
	return loaded(t, shippedFiles(t))
}

func loaded(t *testing.T, files map[string]string) config.Config {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(dir, config.Options{ClientKinds: clients.Kinds(), ClientWrappers: clients.Wrappers()})
	if err != nil {
		t.Fatalf("the config does not load: %v", err)
	}
	return cfg
}

// whole is the shipped perch.yaml with everything that it shows as a comment.
func whole(t *testing.T) config.Config {
	t.Helper()
	text := shippedFiles(t)["perch.yaml"]
	for _, block := range []string{"slack:", "  webhook: ", "metrics:", "  push: "} {
		if !strings.Contains(text, "\n# "+block) {
			t.Fatalf("the shipped config no longer shows %q as a comment", block)
		}
		text = strings.Replace(text, "\n# "+block, "\n"+block, 1)
	}
	text = strings.NewReplacer("    # headers:", "    headers:", "    #   - {name: Auth", "      - {name: Auth", "mode: report", "mode: notify").Replace(text)
	return loaded(t, map[string]string{"perch.yaml": text})
}

func podSpec(t *testing.T) corev1.PodSpec {
	t.Helper()
	return read[batchv1.CronJob](t, "cronjob.yaml").Spec.JobTemplate.Spec.Template.Spec
}

func TestTheShippedConfigFitsThePod(t *testing.T) {
	cfg, pod := shipped(t), podSpec(t)
	generated := read[kustomization](t, "kustomization.yaml").ConfigMaps[0]
	if !generated.Options.DisableNameSuffixHash {
		t.Error("the generated ConfigMap's name changes with its content: each change leaves one behind")
	}
	if !mounted(pod, flag(t, "--config")+"/perch.yaml", func(v corev1.Volume) bool {
		return v.ConfigMap != nil && v.ConfigMap.Name == generated.Name
	}) {
		t.Errorf("--config=%s is no mount of the ConfigMap %q", flag(t, "--config"), generated.Name)
	}
	for _, w := range cfg.Warnings {
		t.Errorf("the shipped config warns: %s", w)
	}
}

// TestItStartsWithoutASecret: as shipped it sends nothing to anybody, and the
// kubelet must not wait for what nobody has made.
func TestItStartsWithoutASecret(t *testing.T) {
	cfg, pod := shipped(t), podSpec(t)
	if cfg.Alerts.Mode != config.ModeReport || len(cfg.Sources()) > 0 {
		t.Errorf("mode %s, secrets %v: want report, and none", cfg.Alerts.Mode, cfg.Sources())
	}
	for _, e := range pod.Containers[0].Env {
		if ref := e.ValueFrom; ref != nil && ref.FieldRef == nil && (ref.SecretKeyRef == nil || ref.SecretKeyRef.Optional == nil || !*ref.SecretKeyRef.Optional) {
			t.Errorf("%s: the Pod would not start without it", e.Name)
		}
	}
	for _, v := range pod.Volumes {
		if v.Secret != nil && (v.Secret.Optional == nil || !*v.Secret.Optional) {
			t.Errorf("volume %s: the Pod would not start without its Secret", v.Name)
		}
	}
}

// TestWhatTheShippedConfigShowsFitsThePod: taking the comment signs away is all
// that is left to do, the Secret aside.
func TestWhatTheShippedConfigShowsFitsThePod(t *testing.T) {
	cfg, pod := whole(t), podSpec(t)
	if len(cfg.Warnings) > 0 || len(cfg.Sources()) != 2 {
		t.Errorf("warnings %v, secrets %v: want none, and a token and the webhook", cfg.Warnings, cfg.Sources())
	}
	for _, s := range cfg.Sources() {
		inEnv := slices.ContainsFunc(pod.Containers[0].Env, func(e corev1.EnvVar) bool {
			return e.Name == s.Env && e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil
		})
		inFile := mounted(pod, s.File, func(v corev1.Volume) bool { return v.Secret != nil })
		if !inEnv && !inFile {
			t.Errorf("%s comes from no Secret that the pod has", s)
		}
	}
}
