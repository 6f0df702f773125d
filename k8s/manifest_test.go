package k8s

import (
	"bytes"
	"encoding/json"
	goflag "flag"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordination "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	rbac "k8s.io/api/rbac/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"perch.example/config"
	"perch.example/diagnose/clients"
	"perch.example/plan"
)

var update = goflag.Bool("update", false, "write the goldens of testdata/manifest anew") //nolint:gochecknoglobals // a test's flag

// parsed is a config of one file, and what a manifest needs of it.
func parsed(t *testing.T, text, vantage string) (config.Config, *plan.Plan, []config.File) {
	t.Helper()
	files := []config.File{{Name: "perch.yaml", Data: []byte(text)}}
	env := func(name string) (string, bool) { return vantage, name == "PERCH_VANTAGE" && vantage != "" }
	cfg, err := config.Parse(config.Options{Env: env, ClientKinds: clients.Kinds(), ClientWrappers: clients.Wrappers()}, files...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(cfg, plan.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return cfg, p, files
}

func made(t *testing.T, text string, o Options) *Manifest {
	t.Helper()
	cfg, p, files := parsed(t, text, o.Vantage)
	o.Files = files
	m, err := New(cfg, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func written(t *testing.T, m *Manifest) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// typed is a new object of each kind that a manifest may hold.
func typed(kind string) meta.Object {
	switch kind {
	case "apps/v1 Deployment":
		return &appsv1.Deployment{}
	case "batch/v1 CronJob":
		return &batchv1.CronJob{}
	case "coordination.k8s.io/v1 Lease":
		return &coordination.Lease{}
	case "networking.k8s.io/v1 NetworkPolicy":
		return &networking.NetworkPolicy{}
	case "rbac.authorization.k8s.io/v1 Role":
		return &rbac.Role{}
	case "rbac.authorization.k8s.io/v1 RoleBinding":
		return &rbac.RoleBinding{}
	case "v1 ConfigMap":
		return &corev1.ConfigMap{}
	case "v1 PersistentVolumeClaim":
		return &corev1.PersistentVolumeClaim{}
	case "v1 ServiceAccount":
		return &corev1.ServiceAccount{}
	}
	return nil
}

// checked decodes what Write wrote as strictly as an API server, and holds each
// Pod to Pod Security's restricted.
func checked(t *testing.T, text string) []meta.Object {
	t.Helper()
	var all []meta.Object
	for document := range strings.SplitSeq(text, "\n---\n") {
		var head meta.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			t.Fatal(err)
		}
		id := head.APIVersion + " " + head.Kind
		object := typed(id)
		if object == nil {
			other := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(document), &other.Object); err != nil || head.Kind == "" {
				t.Fatalf("a document %q: %v", id, err)
			}
			all = append(all, other)
			continue
		}
		if err := decode([]byte(document), object); err != nil {
			t.Fatalf("decoding %s: %v\n%s", id, err, document)
		}
		for _, unwanted := range []string{"\nstatus:", "creationTimestamp", ": null"} {
			if head.Kind != "ConfigMap" && strings.Contains(document, unwanted) {
				t.Errorf("%s holds %q", id, unwanted)
			}
		}
		if pod := podOf(object); pod != nil {
			if bad := forbidden(t, *pod); len(bad) > 0 {
				t.Errorf("%s: the pod is not allowed under restricted: %v", id, bad)
			}
		}
		named(t, object)
		all = append(all, object)
	}
	return all
}

// named holds an object's names and labels to what an API server takes.
func named(t *testing.T, object meta.Object) {
	t.Helper()
	if wrong := validation.IsDNS1123Subdomain(object.GetName()); len(wrong) > 0 {
		t.Errorf("the name %q: %v", object.GetName(), wrong)
	}
	all := object.GetLabels()
	if pod := podOf(object); pod != nil {
		all = pod.Labels
		keys := map[string]bool{}
		for _, e := range pod.Spec.Containers[0].Env {
			if keys[e.Name] {
				t.Errorf("the variable %s is there twice", e.Name)
			}
			keys[e.Name] = true
			if ref := e.ValueFrom; ref != nil && ref.SecretKeyRef != nil && len(validation.IsConfigMapKey(ref.SecretKeyRef.Key)) > 0 {
				t.Errorf("%s: the key %q", e.Name, ref.SecretKeyRef.Key)
			}
		}
	}
	for key, value := range all {
		if len(validation.IsQualifiedName(key)) > 0 || len(validation.IsValidLabelValue(value)) > 0 {
			t.Errorf("%s: the label %s=%q", object.GetName(), key, value)
		}
	}
	switch o := object.(type) {
	case *corev1.ConfigMap:
		for key := range o.Data {
			if wrong := validation.IsConfigMapKey(key); len(wrong) > 0 {
				t.Errorf("the key %q: %v", key, wrong)
			}
		}
	case *batchv1.CronJob:
		if _, err := parseCron(o.Spec.Schedule); err != nil || len(o.Name) > 52 {
			t.Errorf("the CronJob %s with the schedule %q: %v", o.Name, o.Spec.Schedule, err)
		}
	case *networking.NetworkPolicy:
		for _, rule := range o.Spec.Egress {
			for _, to := range rule.To {
				if _, err := netip.ParsePrefix(to.IPBlock.CIDR); err != nil {
					t.Error(err)
				}
			}
			for _, port := range rule.Ports {
				if n := port.Port.IntValue(); n < 1 || n > 65535 {
					t.Errorf("the port %d", n)
				}
			}
		}
	}
}

// podOf is the Pod that an object makes; nil: it makes none.
func podOf(object meta.Object) *corev1.PodTemplateSpec {
	switch o := object.(type) {
	case *batchv1.CronJob:
		return &o.Spec.JobTemplate.Spec.Template
	case *appsv1.Deployment:
		return &o.Spec.Template
	}
	return nil
}

// goldens are the options of each config in testdata/manifest.
func goldens() map[string]Options {
	return map[string]Options{
		"cronjob":     {Namespace: "shop", Image: "registry.example/tools/perch:0.1.0"},
		"deployment":  {Kind: KindDeployment, Name: "perch-checkout", Namespace: "shop"},
		"indexed-job": {Kind: KindIndexedJob, Shards: 3},
		"file":        {Schedule: "15m", Vantage: "tokyo"},
		"nothing":     {},
	}
}

func TestManifestGoldens(t *testing.T) {
	for name, o := range goldens() {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join("testdata", "manifest")
			text := string(mustRead(t, filepath.Join(folder, name+".yaml")))
			m := made(t, text, o)
			m.Head = []string{"Made by a test."}
			yes := written(t, m)
			checked(t, yes)
			for file, got := range map[string]string{name + ".golden": yes, name + ".notes": strings.Join(append(m.Notes, ""), "\n")} {
				path := filepath.Join(folder, file)
				if *update {
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if want := string(mustRead(t, path)); got != want {
					t.Errorf("%s differs (-update writes it anew); got\n%s", path, got)
				}
			}
		})
	}
}

// TestTheHeadIsAComment, whatever a file is called: YAML ends a line where others do
// not.
func TestTheHeadIsAComment(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n", "\u0085", "\u2028", "\u2029", "\x00", "\xff", "\v"} {
		m := made(t, small, Options{})
		plain := written(t, m)
		m.Head = []string{"perch manifest --config 'y" + end + "kind: Evil" + end + ".json'", ""}
		text := written(t, m)
		checked(t, text)
		head, found := strings.CutSuffix(text, plain)
		if !found {
			t.Fatalf("%q: the objects are not as they are without a head", end)
		}
		for _, line := range regexp.MustCompile("[\n\r\u0085\u2028\u2029\v\x00]").Split(strings.TrimSuffix(head, "\n"), -1) {
			if !strings.HasPrefix(line, "#") || !utf8.ValidString(line) {
				t.Errorf("%q: no comment: %q", end, line)
			}
		}
	}
}

// TestTheBaseIsWhatTheGeneratorMakes: the base's objects are the manifest's of its
// perch.yaml, but for what kustomize makes (the config's ConfigMap, the image) and
// knows nothing of: a change of the config changes neither the hash of it nor the ports
// that a NetworkPolicy would let out, so that the base has none.
func TestTheBaseIsWhatTheGeneratorMakes(t *testing.T) {
	m := made(t, string(manifest(t, "perch.yaml")), Options{})
	want := map[string]any{}
	for _, o := range m.Objects {
		if pod := podOf(o); pod != nil {
			delete(pod.Annotations, "perch.example/config-hash")
		}
		kind := o.GetObjectKind().GroupVersionKind().Kind
		if kind != "NetworkPolicy" && (kind != "ConfigMap" || o.GetName() != "perch") {
			want[kind+" "+o.GetName()] = bare(t, o)
		}
	}
	for _, file := range read[kustomization](t, "kustomization.yaml").Resources {
		for document := range strings.SplitSeq(string(manifest(t, file)), "\n---\n") {
			var fields map[string]any
			if err := yaml.Unmarshal([]byte(document), &fields); err != nil {
				t.Fatal(err)
			}
			object := typed(strings.TrimSpace(fields["apiVersion"].(string) + " " + fields["kind"].(string)))
			if err := decode([]byte(document), object); err != nil {
				t.Fatal(err)
			}
			id := fields["kind"].(string) + " " + object.GetName()
			if got := bare(t, object); !reflect.DeepEqual(got, want[id]) {
				t.Errorf("base/%s: %s is\n%s\nthe generator makes\n%s", file, id, indented(t, got), indented(t, want[id]))
			}
			delete(want, id)
		}
	}
	for id := range want {
		t.Errorf("the base has no %s", id)
	}
}

// bare is an object as JSON says it.
func bare(t *testing.T, object any) any {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "status")
	withoutNull(fields)
	return fields
}

func indented(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// found is the object of a type, of which there must be one.
func found[T meta.Object](t *testing.T, m *Manifest) T {
	t.Helper()
	var all []T
	for _, o := range m.Objects {
		if one, is := o.(T); is {
			all = append(all, one)
		}
	}
	if len(all) != 1 {
		var zero T
		t.Fatalf("%d objects of type %T, want one", len(all), zero)
	}
	return all[0]
}
