// Package k8s holds the manifests that perch is deployed with, and holds them
// to what a cluster and perch itself would say of them.
package k8s

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"perch.example/internal/restricted"
	"perch.example/plan"
)

// decode reads one object as strictly as an API server with
// fieldValidation=Strict: no unknown key, no key twice, no other case.
func decode(raw []byte, into any) error {
	asJSON, err := yaml.YAMLToJSONStrict(raw)
	if err != nil {
		return err
	}
	strict, err := json.UnmarshalStrict(asJSON, into)
	if err != nil {
		return err
	}
	if len(strict) > 0 {
		return strict[0]
	}
	return nil
}

func manifest(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("base", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func read[T any](t *testing.T, name string) T {
	t.Helper()
	var object T
	if err := decode(manifest(t, name), &object); err != nil {
		t.Fatalf("decoding base/%s: %v", name, err)
	}
	return object
}

// kustomization is what the base uses of kustomize's own type.
type kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Namespace  string   `json:"namespace"`
	Resources  []string `json:"resources"`
	Components []string `json:"components"`
	Patches    []struct {
		Patch string `json:"patch"`
	} `json:"patches"`
	ConfigMaps []struct {
		Name     string   `json:"name"`
		Behavior string   `json:"behavior"`
		Files    []string `json:"files"`
		Options  struct {
			DisableNameSuffixHash bool              `json:"disableNameSuffixHash"`
			Labels                map[string]string `json:"labels"`
		} `json:"options"`
	} `json:"configMapGenerator"`
	Images []struct {
		Name    string `json:"name"`
		NewName string `json:"newName"`
		NewTag  string `json:"newTag"`
	} `json:"images"`
}

func TestEveryFileOfTheBaseIsListedAndDecodes(t *testing.T) {
	k := read[kustomization](t, "kustomization.yaml")
	files, err := filepath.Glob("base/*")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		if name := filepath.Base(f); name != "kustomization.yaml" {
			names = append(names, name)
		}
	}
	if len(k.ConfigMaps) != 1 {
		t.Fatalf("kustomization.yaml generates %d ConfigMaps, want one", len(k.ConfigMaps))
	}
	if listed := slices.Sorted(slices.Values(append(k.Resources, k.ConfigMaps[0].Files...))); !slices.Equal(names, listed) {
		t.Errorf("kustomization.yaml lists %v, the folder holds %v", listed, names)
	}
	for _, name := range k.Resources {
		if len(objects(t, string(manifest(t, name)))) == 0 {
			t.Errorf("base/%s: holds no object", name)
		}
	}
	if image := container(t).Image; len(k.Images) != 1 || k.Images[0].Name != image || k.Images[0].NewTag == "" {
		t.Errorf("images %v: want one entry with a tag for the container's image %q", k.Images, image)
	}
}

func TestDecodingIsStrict(t *testing.T) {
	raw := string(manifest(t, "cronjob.yaml"))
	for name, bad := range map[string]string{
		"another case":   strings.Replace(raw, "readOnlyRootFilesystem", "readOnlyRootFileSystem", 1),
		"an unknown key": strings.Replace(raw, "backoffLimit", "backofLimit", 1),
		"a key twice":    strings.Replace(raw, "restartPolicy: Never", "restartPolicy: Never\n          restartPolicy: Never", 1),
	} {
		if bad == raw {
			t.Fatalf("%s: the manifest no longer holds what this test changes", name)
		}
		if err := decode([]byte(bad), &batchv1.CronJob{}); err == nil {
			t.Errorf("%s: decoded without an error", name)
		}
	}
}

func TestPodSecurityRestricted(t *testing.T) {
	pod := read[batchv1.CronJob](t, "cronjob.yaml").Spec.JobTemplate.Spec.Template
	if bad := forbidden(t, pod); len(bad) > 0 {
		t.Errorf("the pod is not allowed under restricted: %v", bad)
	}
	loose := pod.DeepCopy()
	loose.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil
	if len(forbidden(t, *loose)) == 0 {
		t.Error("the evaluator lets a pod pass that may escalate: this test proves nothing")
	}
}

// forbidden returns what Pod Security's level restricted forbids of a pod.
func forbidden(t *testing.T, pod corev1.PodTemplateSpec) []string {
	t.Helper()
	bad, err := restricted.Forbidden(pod)
	if err != nil {
		t.Fatal(err)
	}
	return bad
}

func container(t *testing.T) corev1.Container {
	t.Helper()
	return read[batchv1.CronJob](t, "cronjob.yaml").Spec.JobTemplate.Spec.Template.Spec.Containers[0]
}

func TestCronJobRunsOnceAndAlone(t *testing.T) {
	cron := read[batchv1.CronJob](t, "cronjob.yaml").Spec
	job := cron.JobTemplate.Spec
	pod := job.Template.Spec
	main := pod.Containers[0]
	for what, holds := range map[string]bool{
		"concurrencyPolicy Forbid":             cron.ConcurrencyPolicy == batchv1.ForbidConcurrent,
		"startingDeadlineSeconds over 10":      cron.StartingDeadlineSeconds != nil && *cron.StartingDeadlineSeconds > 10,
		"backoffLimit 0":                       job.BackoffLimit != nil && *job.BackoffLimit == 0,
		"ttlSecondsAfterFinished":              job.TTLSecondsAfterFinished != nil,
		"restartPolicy Never":                  pod.RestartPolicy == corev1.RestartPolicyNever,
		"terminationGracePeriodSeconds 15":     pod.TerminationGracePeriodSeconds != nil && *pod.TerminationGracePeriodSeconds == 15,
		"runAsUser of the image":               pod.SecurityContext.RunAsUser != nil && *pod.SecurityContext.RunAsUser == 65532,
		"a read-only root":                     *main.SecurityContext.ReadOnlyRootFilesystem,
		"no CPU limit":                         main.Resources.Limits.Cpu().IsZero(),
		"memory limit equals the request":      main.Resources.Limits.Memory().Cmp(*main.Resources.Requests.Memory()) == 0,
		"a memory limit":                       !main.Resources.Limits.Memory().IsZero(),
		"the command run, never failing a Job": main.Args[0] == "run" && slices.Contains(main.Args, "--fail-on=never"),
	} {
		if !holds {
			t.Errorf("want %s", what)
		}
	}
	if cron.TimeZone == nil {
		t.Fatal("no timeZone: the schedule would follow the controller's own")
	}
	if _, err := time.LoadLocation(*cron.TimeZone); err != nil {
		t.Errorf("timeZone: %v", err)
	}
}

// mounted reports whether a file lies on a volume that is as asked.
func mounted(pod corev1.PodSpec, file string, is func(corev1.Volume) bool) bool {
	for _, m := range pod.Containers[0].VolumeMounts {
		i := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
		if i >= 0 && is(pod.Volumes[i]) && filepath.Dir(file) == m.MountPath {
			return true
		}
	}
	return false
}

// flag returns the value of one of the container's arguments.
func flag(t *testing.T, name string) string {
	t.Helper()
	for _, a := range container(t).Args {
		if value, is := strings.CutPrefix(a, name+"="); is {
			return value
		}
	}
	t.Fatalf("the container's arguments hold no %s", name)
	return ""
}

// The order of ends: the plan, perch's own deadline, the Job's, the next run.
func TestTheRunEndsBeforeItIsEnded(t *testing.T) {
	p, err := plan.New(shipped(t), plan.Options{Seed: 1})
	if err != nil {
		t.Fatalf("the shipped config's plan is refused: %v", err)
	}
	deadline, err := time.ParseDuration(flag(t, "--deadline"))
	if err != nil {
		t.Fatal(err)
	}
	job := read[batchv1.CronJob](t, "cronjob.yaml").Spec.JobTemplate.Spec
	active := time.Duration(*job.ActiveDeadlineSeconds) * time.Second
	grace := time.Duration(*job.Template.Spec.TerminationGracePeriodSeconds) * time.Second
	if p.Wall <= 0 || p.LongestWall < p.Wall {
		t.Fatalf("the plan's wall time is %s, at most %s", p.Wall, p.LongestWall)
	}
	if deadline <= p.LongestWall {
		t.Errorf("--deadline=%s cuts a run short that takes up to %s", deadline, p.LongestWall)
	}
	if active < deadline+grace {
		t.Errorf("activeDeadlineSeconds %s ends the pod before perch could end itself at %s and report", active, deadline)
	}
	t.Logf("wall %s, at most %s; --deadline %s; activeDeadlineSeconds %s", p.Wall, p.LongestWall, deadline, active)
}
