package k8s

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordination "k8s.io/api/coordination/v1"
	"sigs.k8s.io/yaml"

	"perch.example/config"
	"perch.example/plan"
)

// deployPages are those whose YAML can be copied.
func deployPages() []string {
	return []string{"../docs/deploy.md", "../docs/same-path.md", "../docs/rollout.md", "README.md"}
}

// deployFiles are the YAML blocks of these pages, by the file that the first line
// names. Each has to name one.
func deployFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, page := range deployPages() {
		for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(mustRead(t, page)), -1) {
			name := regexp.MustCompile(`^# ([\w./-]+\.yaml)\b`).FindStringSubmatch(m[1])
			if name == nil || files[name[1]] != "" {
				t.Fatalf("%s: a block that names no file, or one that is there already:\n%s", page, m[1])
			}
			files[name[1]] = m[1]
		}
	}
	return files
}

// application is what the docs use of Argo CD's type.
type application struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       struct {
		Project string `json:"project"`
		Source  struct {
			RepoURL        string `json:"repoURL"`
			TargetRevision string `json:"targetRevision"`
			Path           string `json:"path"`
			Helm           struct {
				ReleaseName  string         `json:"releaseName"`
				ValuesObject map[string]any `json:"valuesObject"`
			} `json:"helm"`
		} `json:"source"`
		Destination map[string]string `json:"destination"`
		SyncPolicy  struct {
			Automated   map[string]bool `json:"automated"`
			SyncOptions []string        `json:"syncOptions"`
		} `json:"syncPolicy"`
		IgnoreDifferences []struct {
			Group        string   `json:"group"`
			Kind         string   `json:"kind"`
			Name         string   `json:"name"`
			JSONPointers []string `json:"jsonPointers"`
		} `json:"ignoreDifferences"`
	} `json:"spec"`
}

// TestTheYAMLOfTheDocsDecodes, each block strictly as what it is. Those of the
// fleet are held by cmd/perch, which plans them.
func TestTheYAMLOfTheDocsDecodes(t *testing.T) {
	files := deployFiles(t)
	for name, into := range map[string]any{
		"k8s/prod/kustomization.yaml": &kustomization{}, "k8s/serve/kustomization.yaml": &kustomization{},
		"argocd/perch.yaml": &application{}, "argocd/perch-chart.yaml": &application{}, "lease.yaml": &coordination.Lease{},
		"values.yaml": &map[string]any{},
	} {
		if err := decode([]byte(files[name]), into); err != nil || files[name] == "" {
			t.Errorf("%s: %v:\n%s", name, err, files[name])
		}
		delete(files, name)
	}
	if _, err := config.ParsePolicy(config.File{Name: "policy.yaml", Data: []byte(files["policy.yaml"])}); err != nil {
		t.Error(err)
	}
	delete(files, "policy.yaml")
	for name := range files {
		if !strings.HasPrefix(name, "fleet/") {
			t.Errorf("%s: no test knows what it is", name)
		}
	}
}

// overlay is the kustomization that docs/deploy.md shows.
func overlay(t *testing.T) kustomization {
	t.Helper()
	var k kustomization
	if err := decode([]byte(deployFiles(t)["k8s/prod/kustomization.yaml"]), &k); err != nil {
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
	if schedule, err := parseCron(patch.Spec.Schedule); err != nil || schedule.gap() <= active {
		t.Errorf("the schedule %q leaves no room for %s (%v)", patch.Spec.Schedule, active, err)
	}
}

// TestApplicationsLeaveTheStateAlone: what perch writes is not compared, by the
// names of the base; both sources are folders that are there.
func TestApplicationsLeaveTheStateAlone(t *testing.T) {
	files, state := deployFiles(t), shipped(t).State.ConfigMap
	folders := map[string]string{"argocd/perch.yaml": "k8s/prod", "argocd/perch-chart.yaml": "k8s/chart"}
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		var a application
		if err := decode([]byte(files[name]), &a); err != nil {
			t.Fatal(err)
		}
		ignored := map[string]string{}
		for _, d := range a.Spec.IgnoreDifferences {
			if d.Name != state {
				t.Errorf("%s: ignores %s %s, the state is %s", name, d.Kind, d.Name, state)
			}
			ignored[d.Group+"/"+d.Kind] = strings.Join(d.JSONPointers, " ")
		}
		if want := map[string]string{"/ConfigMap": "/binaryData", "coordination.k8s.io/Lease": "/spec"}; !maps.Equal(ignored, want) {
			t.Errorf("%s ignores %v, want %v", name, ignored, want)
		}
		if !slices.Contains(a.Spec.SyncPolicy.SyncOptions, "RespectIgnoreDifferences=true") || a.Spec.Source.Path != folders[name] {
			t.Errorf("%s: %+v", name, a.Spec)
		}
	}
	var lease coordination.Lease
	if err := decode([]byte(files["lease.yaml"]), &lease); err != nil || lease.Name != state {
		t.Errorf("the Lease %q is not the state's, %q (%v)", lease.Name, state, err)
	}
}

// TestTheChartsConfigInTheDocsLoads, with the state that the chart adds.
func TestTheChartsConfigInTheDocsLoads(t *testing.T) {
	var a application
	if err := decode([]byte(deployFiles(t)["argocd/perch-chart.yaml"]), &a); err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(a.Spec.Source.Helm.ValuesObject["config"])
	if err != nil {
		t.Fatal(err)
	}
	cfg := loaded(t, map[string]string{"perch.yaml": string(text) + "state: {configmap: perch-state}\n"})
	if len(cfg.Warnings) > 0 {
		t.Errorf("%v", cfg.Warnings)
	}
}

// TestTheLimitsOfTheDocs: the memory limits of docs/rollout.md are those that a
// manifest of as many time series and connections sets: runs in the first table, a
// Deployment in the second.
func TestTheLimitsOfTheDocs(t *testing.T) {
	run, deployment, _ := strings.Cut(string(mustRead(t, "../docs/rollout.md")), "A Deployment needs more")
	for kind, table := range map[Kind]struct {
		text string
		rows int
	}{KindCronJob: {run, 5}, KindDeployment: {deployment, 4}} {
		rows := regexp.MustCompile(`(?m)^\| [\w, ]+ \| ([\d,]+) \| ([\d,]+) \| (\d+) MiB \| (\d+) MiB \|$`).FindAllStringSubmatch(table.text, -1)
		if len(rows) != table.rows {
			t.Fatalf("%s: %d rows, want %d", kind, len(rows), table.rows)
		}
		for _, m := range rows {
			var number [5]int
			for i := range number {
				number[i], _ = strconv.Atoi(strings.ReplaceAll(m[i], ",", ""))
			}
			open, series, measured, limit := number[1], number[2], number[3], number[4]
			b := &maker{plan: &plan.Plan{Series: series, PeakOpen: open}, o: Options{Kind: kind}}
			if got := b.memoryNeeded(); got != limit || measured*5 > limit*4 {
				t.Errorf("%s, %d series: the docs say %d MiB of %d, a manifest sets %d", kind, series, measured, limit, got)
			}
		}
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
