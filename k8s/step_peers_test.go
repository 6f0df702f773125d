//go:build peers

package k8s

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"perch.example/internal/cluster"
)

// The same perch three times: from `perch manifest`, from kustomize and from Helm.
// What one has and another has not is a fault in one of them.

// step is one way of deploying perch.
type step struct {
	config  string            // the folder of its perch.yaml
	options Options           // of the manifest
	lacks   []string          // kinds that only the manifest has here: components add them
	overlay string            // the folder of k8s; empty: none
	values  map[string]string // of the chart; nil: none
}

func steps() map[string]step {
	apart := []string{"NetworkPolicy", "PodMonitor"}
	return map[string]step{
		"base":       {config: "base", lacks: apart, overlay: "base", values: map[string]string{}},
		"deployment": {config: "overlays/deployment", options: Options{Kind: KindDeployment}, lacks: apart, overlay: "overlays/deployment", values: map[string]string{"kind": "deployment"}},
		"replicas": {config: "overlays/deployment", options: Options{Kind: KindDeployment, Replicas: 2}, lacks: apart, overlay: "overlays/replicas",
			values: map[string]string{"kind": "deployment", "replicas": "2"}},
		"indexed job": {config: "overlays/indexed-job", options: Options{Kind: KindIndexedJob, Shards: 3}, lacks: apart, overlay: "overlays/indexed-job",
			values: map[string]string{"kind": "indexed-job"}},
		"state in a file": {config: "overlays/state-file", lacks: apart, overlay: "overlays/state-file", values: map[string]string{"state.kind": "file"}},
		"Istio": {config: "overlays/istio", lacks: apart, overlay: "overlays/istio", options: Options{Path: &Path{
			Labels: map[string]string{"sidecar.istio.io/inject": "true"}, Annotations: map[string]string{"sidecar.istio.io/nativeSidecar": "true"},
			Sidecar: &Sidecar{Mesh: "Istio", Ready: "http://127.0.0.1:15021/healthz/ready"},
		}}, values: map[string]string{
			"podLabels.sidecar\\.istio\\.io/inject": "true", "podAnnotations.sidecar\\.istio\\.io/nativeSidecar": "true",
			"extraArgs[0]": "--wait-for=http://127.0.0.1:15021/healthz/ready", "deadline": "4m", "activeDeadlineSeconds": "360",
		}},
		"a network policy, the chart's": {config: "base", values: map[string]string{"networkPolicy.enabled": "true"}},
		"a deployment that is scraped, the chart's": {config: "overlays/deployment", options: Options{Kind: KindDeployment}, lacks: []string{"NetworkPolicy"},
			values: map[string]string{"kind": "deployment", "podMonitor.enabled": "true"}},
	}
}

func TestManifestKustomizeAndChartAreInStep(t *testing.T) {
	for name, s := range steps() {
		t.Run(name, func(t *testing.T) {
			want := normal(t, s.manifest(t))
			for id := range want {
				if kind, _, _ := strings.Cut(id, "/"); slices.Contains(s.lacks, kind) {
					delete(want, id)
				}
			}
			if s.overlay != "" {
				same(t, "kustomize", normal(t, kustomized(t, s.overlay)), want)
			}
			if s.values != nil {
				same(t, "the chart", normal(t, s.chart(t)), want)
			}
		})
	}
}

// TestComponentsAreTheManifests: what a component adds to an overlay.
func TestComponentsAreTheManifests(t *testing.T) {
	for name, s := range map[string]struct {
		config, file, id string
		options          Options
	}{
		"network policy": {config: "base", file: "components/networkpolicy/networkpolicy.yaml", id: "NetworkPolicy/perch"},
		"pod monitor":    {config: "overlays/deployment", file: "components/podmonitor/podmonitor.yaml", id: "PodMonitor/perch", options: Options{Kind: KindDeployment}},
	} {
		want := normal(t, step{config: s.config, options: s.options}.manifest(t))[s.id]
		if got := normal(t, string(mustRead(t, s.file)))[s.id]; want == nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the component has\n%s\nthe manifest\n%s", name, asYAML(got), asYAML(want))
		}
	}
}

// TestEveryOverlayIsBuilt: those, too, that no manifest makes.
func TestEveryOverlayIsBuilt(t *testing.T) {
	for _, folder := range glob(t, "overlays/*") {
		if objects := normal(t, kustomized(t, folder)); objects["ConfigMap/perch"] == nil || objects["ServiceAccount/perch"] == nil {
			t.Errorf("%s: has no config or no account", folder)
		}
	}
}

func (s step) manifest(t *testing.T) string {
	return written(t, made(t, string(mustRead(t, filepath.Join(s.config, "perch.yaml"))), s.options))
}

func kustomized(t *testing.T, folder string) string {
	t.Helper()
	return output(t, exec.Command(cluster.Program(t, "kubectl"), "kustomize", folder))
}

// chart is what Helm makes of this step's perch.yaml. Its defaults are for base's.
func (s step) chart(t *testing.T) string {
	t.Helper()
	args := []string{"template", "perch", "chart", "--set-file", "config=" + filepath.Join(s.config, "perch.yaml")}
	for key, value := range s.values {
		kind := "--set"
		if strings.HasPrefix(key, "pod") && value == "true" && !strings.HasSuffix(key, ".enabled") {
			kind = "--set-string"
		}
		args = append(args, kind, key+"="+value)
	}
	return output(t, exec.Command(cluster.Program(t, "helm"), args...))
}

// TestTheChartsOwnConfigIsTheBases: as YAML in the values, where comments are lost.
func TestTheChartsOwnConfigIsTheBases(t *testing.T) {
	rendered := normal(t, output(t, exec.Command(cluster.Program(t, "helm"), "template", "perch", "chart")))
	data := rendered["ConfigMap/perch"].(map[string]any)["data"].(map[string]any)["perch.yaml"].(string)
	var texts [2]bytes.Buffer
	for i, config := range []string{data, string(mustRead(t, "base/perch.yaml"))} {
		_, p, _ := parsed(t, config, "")
		if err := p.Text(&texts[i]); err != nil {
			t.Fatal(err)
		}
	}
	if texts[0].String() != texts[1].String() {
		t.Errorf("the chart's own config plans\n%s\nthe base's\n%s", texts[0].String(), texts[1].String())
	}
}

// TestTheChartsRulesKnowItsName: they look at a CronJob by its name.
func TestTheChartsRulesKnowItsName(t *testing.T) {
	for name, want := range map[string]string{"perch": `cronjob=~"perch(-.+)?"`, "perch-eu": `cronjob=~"perch(-.+)?"`, "canary": `cronjob=~"(perch|canary)(-.+)?"`} {
		out := output(t, exec.Command(cluster.Program(t, "helm"), "template", name, "chart", "--set", "rules.health.enabled=true"))
		if !strings.Contains(out, want) {
			t.Errorf("a release called %s: its rules do not look at %s", name, want)
		}
	}
}

// TestTheChartRefuses: what Kubernetes or perch would refuse later.
func TestTheChartRefuses(t *testing.T) {
	for _, c := range []struct{ what, set, says string }{
		{"a config's unknown key", "config.targetz=1", "targetz"},
		{"a number where a unit is needed", "deadline=5", "deadline"},
		{"an unknown value", "podMonitor.enabld=true", "enabld"},
		{"a kind that is none", "kind=daemonset", "kind"},
		{"one shard", "shards=1", "shards"},
		{"a kind of schedule that cron is not", "schedule=15m", `schedule "15m": want cron's five fields`},
		{"a Job that is ended before perch ends", "activeDeadlineSeconds=229", "want 20 more than deadline (3m30s)"},
		{"a monitor of what is gone", "serviceMonitor.enabled=true", "for kind: deployment, and this is cronjob"},
		{"two monitors", "kind=deployment,serviceMonitor.enabled=true,podMonitor.enabled=true", "scraped twice"},
		{"replicas of a CronJob", "replicas=2", "only kind: deployment runs all the time"},
		{"replicas of a volume", "kind=deployment,replicas=2,state.kind=file", "want state.kind configmap"},
		{"replicas without a state", "kind=deployment,replicas=2,state.kind=none", "each would probe"},
		{"too many replicas", "kind=deployment,replicas=9", "replicas"},
		{"docs that are no address", "dashboards.docs=wiki", "docs"},
		{"a text that names another state", "config=version: 1", "configmap: perch-state"},
	} {
		out, err := exec.Command(cluster.Program(t, "helm"), "template", "perch", "chart", "--set", c.set).CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.says) {
			t.Errorf("%s: %v, %s", c.what, err, out)
		}
	}
}

// normal maps kind and name to what an object says, without what may differ: the
// order of what has names, the image's name, the hashes of a config.
func normal(t *testing.T, text string) map[string]any {
	t.Helper()
	hashed := regexp.MustCompile(`\bperch-[a-z0-9]{10}\b`) // kustomize's name of a generated ConfigMap
	all := map[string]any{}
	for _, doc := range strings.Split("\n"+text, "\n---") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(doc), &object); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		if object == nil {
			continue
		}
		raw, err := json.Marshal(plain(object))
		if err != nil {
			t.Fatal(err)
		}
		clear(object)
		if err := json.Unmarshal([]byte(hashed.ReplaceAllStringFunc(string(raw), func(name string) string {
			if name == "perch-dashboards" || !strings.ContainsAny(name[6:], "0123456789") {
				return name
			}
			return "perch"
		})), &object); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("%s/%s", object["kind"], object["metadata"].(map[string]any)["name"])
		if all[id] != nil {
			t.Errorf("%s is there twice", id)
		}
		all[id] = object
	}
	return all
}

// plain drops and orders, all the way down.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			switch key {
			case "namespace", "perch.example/config-hash", "perch.example/path", "helm.sh/resource-policy":
				continue
			case "image":
				value = "perch"
			}
			if value = plain(value); !empty(value) {
				out[key] = value
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		slices.SortStableFunc(out, func(a, b any) int { return strings.Compare(nameOf(a), nameOf(b)) })
		return out
	case string:
		return strings.TrimSpace(v)
	default:
		return v
	}
}

// nameOf is what a list of named things is ordered by: variables, volumes, mounts.
// Of anything else it is nothing, and its order stays.
func nameOf(v any) string {
	m, _ := v.(map[string]any)
	name, _ := m["name"].(string)
	return name
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return false
	}
}

func same(t *testing.T, who string, got, want map[string]any) {
	t.Helper()
	for _, id := range slices.Sorted(func(yield func(string) bool) {
		for id := range got {
			if !yield(id) {
				return
			}
		}
		for id := range want {
			if got[id] == nil && !yield(id) {
				return
			}
		}
	}) {
		if !reflect.DeepEqual(got[id], want[id]) {
			t.Errorf("%s of %s:\n%s\nthe manifest's:\n%s", id, who, asYAML(got[id]), asYAML(want[id]))
		}
	}
}

func asYAML(v any) string {
	raw, err := yaml.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
