package k8s

import (
	"regexp"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"perch.example/plan"
)

// overlay is the kustomization that docs/deploy.md shows.
func overlay(t *testing.T) kustomization {
	t.Helper()
	m := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(mustRead(t, "../docs/deploy.md")), -1)
	if len(m) != 1 {
		t.Fatalf("docs/deploy.md shows %d YAML files, want one", len(m))
	}
	var k kustomization
	if err := decode([]byte(m[0][1]), &k); err != nil {
		t.Fatalf("decoding the overlay of docs/deploy.md: %v", err)
	}
	return k
}

func TestTheOverlayOfTheDocsFitsTheBase(t *testing.T) {
	base, over := read[kustomization](t, "kustomization.yaml"), overlay(t)
	if len(over.ConfigMaps) != 1 || over.ConfigMaps[0].Name != base.ConfigMaps[0].Name || over.ConfigMaps[0].Behavior != "replace" ||
		!slices.Equal(over.ConfigMaps[0].Files, base.ConfigMaps[0].Files) || !over.ConfigMaps[0].Options.DisableNameSuffixHash {
		t.Errorf("the overlay's ConfigMap %+v does not replace the base's %+v", over.ConfigMaps, base.ConfigMaps)
	}
	if len(over.Images) != 1 || over.Images[0].Name != base.Images[0].Name {
		t.Errorf("the overlay's images %v do not name the base's %v", over.Images, base.Images)
	}
	if !slices.Equal(over.Resources, []string{"../base"}) || len(over.Patches) != 1 {
		t.Fatalf("resources %v, %d patches", over.Resources, len(over.Patches))
	}
	var patch batchv1.CronJob
	if err := decode([]byte(over.Patches[0].Patch), &patch); err != nil {
		t.Fatalf("decoding the patch: %v", err)
	}
	cron := read[batchv1.CronJob](t, "cronjob.yaml")
	if patch.Kind != cron.Kind || patch.Name != cron.Name || patch.APIVersion != cron.APIVersion {
		t.Errorf("the patch is for %s %s, the base has %s %s", patch.Kind, patch.Name, cron.Kind, cron.Name)
	}
	job, own := patch.Spec.JobTemplate.Spec, cron.Spec.JobTemplate.Spec.Template.Spec
	if c := job.Template.Spec.Containers[0]; c.Name != own.Containers[0].Name || !slices.Equal(c.Args, own.Containers[0].Args) {
		t.Errorf("the patch gives %s %v, the base %s %v", c.Name, c.Args, own.Containers[0].Name, own.Containers[0].Args)
	}
	deadline, err := time.ParseDuration(flag(t, "--deadline"))
	active := time.Duration(*job.ActiveDeadlineSeconds) * time.Second
	if err != nil || active < deadline+time.Duration(*own.TerminationGracePeriodSeconds)*time.Second {
		t.Errorf("activeDeadlineSeconds %s against --deadline %s (%v)", active, deadline, err)
	}
}

// TestADayOfTheShippedConfigFits: what plan says of a run, times the schedule's
// runs, is below the target's limit.
func TestADayOfTheShippedConfigFits(t *testing.T) {
	cfg := shipped(t)
	p, err := plan.New(cfg, plan.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := parseCron(read[batchv1.CronJob](t, "cronjob.yaml").Spec.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	if most := p.MaxRequests * schedule.runs(); len(cfg.Targets) != 1 || most > cfg.Targets[0].DailyLimit {
		t.Errorf("%d targets, up to %d requests a day, of %d", len(cfg.Targets), most, cfg.Targets[0].DailyLimit)
	}
}
