package k8s

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	coordination "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// objects decodes each document of a file as strictly as an API server, by its
// kind.
func objects(t *testing.T, file string) map[string]meta.Object {
	t.Helper()
	found := map[string]meta.Object{}
	for _, document := range strings.Split(file, "\n---\n") {
		var head meta.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			t.Fatal(err)
		}
		id := head.APIVersion + " " + head.Kind
		object, known := map[string]meta.Object{
			"batch/v1 CronJob":                         &batchv1.CronJob{},
			"coordination.k8s.io/v1 Lease":             &coordination.Lease{},
			"rbac.authorization.k8s.io/v1 Role":        &rbac.Role{},
			"rbac.authorization.k8s.io/v1 RoleBinding": &rbac.RoleBinding{},
			"v1 ConfigMap":                             &corev1.ConfigMap{},
			"v1 PersistentVolumeClaim":                 &corev1.PersistentVolumeClaim{},
			"v1 ServiceAccount":                        &corev1.ServiceAccount{},
		}[id]
		if !known || found[head.Kind] != nil {
			t.Fatalf("an object %q: unknown to this test, or there twice", id)
		}
		if err := decode([]byte(document), object); err != nil {
			t.Fatalf("decoding %s: %v", id, err)
		}
		found[head.Kind] = object
	}
	return found
}

// TestTheStateIsWithinReach: the config names the objects that the Role allows,
// the binding gives them to the Pod, and the Pod has a token.
func TestTheStateIsWithinReach(t *testing.T) {
	all, pod := objects(t, string(manifest(t, "state.yaml"))), podSpec(t)
	name := shipped(t).State.ConfigMap
	kept := all["ConfigMap"].(*corev1.ConfigMap)
	if name == "" || kept.Name != name || all["Lease"].GetName() != name {
		t.Errorf("the config's state is %q, the ConfigMap %q, the Lease %q: want one name", name, kept.Name, all["Lease"].GetName())
	}
	if kept.Data != nil || kept.BinaryData != nil || kept.Immutable != nil {
		t.Error("the ConfigMap's manifest holds data: applying it again would replace the state")
	}
	verbs := []string{"get", "update"} // what package state calls; its own tests hold it to that
	if rules, want := all["Role"].(*rbac.Role).Rules, []rbac.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{name}, Verbs: verbs},
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{name}, Verbs: verbs},
	}; !reflect.DeepEqual(rules, want) {
		t.Errorf("the Role allows %+v, want %+v", rules, want)
	}
	account, binding := all["ServiceAccount"].(*corev1.ServiceAccount), all["RoleBinding"].(*rbac.RoleBinding)
	if want := (rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "Role", Name: all["Role"].GetName()}); binding.RoleRef != want {
		t.Errorf("the binding gives %+v, want %+v", binding.RoleRef, want)
	}
	if want := []rbac.Subject{{Kind: rbac.ServiceAccountKind, Name: account.Name}}; !reflect.DeepEqual(binding.Subjects, want) {
		t.Errorf("the binding gives it to %+v, want %+v: of the namespace that it is applied to", binding.Subjects, want)
	}
	if pod.ServiceAccountName != account.Name || pod.AutomountServiceAccountToken == nil || !*pod.AutomountServiceAccountToken {
		t.Errorf("the Pod runs as %q and mounts no token, or as another than %q", pod.ServiceAccountName, account.Name)
	}
	if account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken {
		t.Error("each Pod of the account gets its token: want only the one that asks for it")
	}
}

// stateDocs returns the YAML blocks of docs/state.md that hold a text.
func stateDocs(t *testing.T, with string) []string {
	t.Helper()
	var found []string
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(mustRead(t, "../docs/state.md")), -1) {
		if strings.Contains(m[1], with) {
			found = append(found, m[1])
		}
	}
	return found
}

// TestTheDocsShowTheSameObjects: those of docs/state.md are the base's, in a
// namespace and without the labels.
func TestTheDocsShowTheSameObjects(t *testing.T) {
	blocks := stateDocs(t, "kind: Role\n")
	if len(blocks) != 1 {
		t.Fatalf("docs/state.md shows %d Roles, want one", len(blocks))
	}
	shown, own := objects(t, blocks[0]), objects(t, string(manifest(t, "state.yaml")))
	for kind, object := range own {
		object.SetLabels(nil)
		object.SetNamespace("shop")
		if binding, is := object.(*rbac.RoleBinding); is {
			binding.Subjects[0].Namespace = "shop"
		}
		if !reflect.DeepEqual(shown[kind], object) {
			t.Errorf("%s: docs/state.md shows\n%+v\nthe base has\n%+v", kind, shown[kind], object)
		}
	}
	if len(shown) != len(own) {
		t.Errorf("docs/state.md shows %d objects, the base has %d", len(shown), len(own))
	}
}

// TestAVolumeInPlaceOfTheConfigMap: what docs/state.md says of a claim fits the
// base's CronJob.
func TestAVolumeInPlaceOfTheConfigMap(t *testing.T) {
	blocks := stateDocs(t, "PersistentVolumeClaim\n")
	patches := stateDocs(t, "kind: CronJob\n")
	if len(blocks) != 1 || len(patches) != 1 {
		t.Fatalf("docs/state.md shows %d claims and %d CronJobs, want one each", len(blocks), len(patches))
	}
	claim, patch := objects(t, blocks[0])["PersistentVolumeClaim"].GetName(), objects(t, patches[0])["CronJob"].(*batchv1.CronJob)
	cron := read[batchv1.CronJob](t, "cronjob.yaml")
	pod, own := patch.Spec.JobTemplate.Spec.Template.Spec, cron.Spec.JobTemplate.Spec.Template.Spec
	if patch.Name != cron.Name || pod.Containers[0].Name != own.Containers[0].Name {
		t.Errorf("the patch is for %s/%s", patch.Name, pod.Containers[0].Name)
	}
	if !mounted(pod, "/var/lib/perch/state", func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
	}) {
		t.Errorf("the file lies on no volume of the claim %q", claim)
	}
	if group := pod.SecurityContext.FSGroup; group == nil || *group != *own.SecurityContext.RunAsGroup {
		t.Error("perch's group may not write to the volume")
	}
}

// TestAnotherCommandByAJob: the arguments that the docs put in place of the
// CronJob's are those of its one container, and read its config.
func TestAnotherCommandByAJob(t *testing.T) {
	for file, command := range map[string][]string{"state.md": {"silence", "add"}, "deploy.md": {"alert", "test"}, "same-path.md": {"path"}} {
		quoted := regexp.MustCompile(`(?s)--type=json -p '(.*?)'`).FindStringSubmatch(string(mustRead(t, "../docs/"+file)))
		if quoted == nil {
			t.Fatalf("docs/%s shows no patch of a Job", file)
		}
		var operations []struct {
			Op    string   `json:"op"`
			Path  string   `json:"path"`
			Value []string `json:"value"`
		}
		if err := decode([]byte(quoted[1]), &operations); err != nil || len(operations) != 1 || len(operations[0].Value) < len(command) {
			t.Fatalf("docs/%s: operations %+v (%v), want one with a command", file, operations, err)
		}
		o := operations[0]
		if o.Op != "replace" || o.Path != "/spec/template/spec/containers/0/args" || len(podSpec(t).Containers) != 1 {
			t.Errorf("docs/%s: %s %s is not the one container's arguments", file, o.Op, o.Path)
		}
		if !slices.Equal(o.Value[:len(command)], command) || !slices.Contains(o.Value, "--config="+flag(t, "--config")) {
			t.Errorf("docs/%s: the arguments are %q: want %q with the Pod's config", file, o.Value, command)
		}
	}
}
