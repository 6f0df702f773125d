package state

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	rbac "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// TestDocumentedObjects: the manifest in docs/state.md is complete and gives no
// right beyond the four calls.
func TestDocumentedObjects(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "state.md"))
	must(t, err)
	kinds := map[string]int{}
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for _, document := range strings.Split(block[1], "---\n") {
			var head struct {
				Kind     string
				Metadata struct{ Name, Namespace string }
			}
			must(t, yaml.Unmarshal([]byte(document), &head))
			kinds[head.Kind]++
			if head.Kind == "Role" {
				checkRole(t, document)
			}
		}
	}
	for _, kind := range []string{"ConfigMap", "Lease", "ServiceAccount", "Role", "RoleBinding"} {
		if kinds[kind] != 1 {
			t.Errorf("%d objects of kind %s, want one", kinds[kind], kind)
		}
	}
}

func checkRole(t *testing.T, document string) {
	t.Helper()
	var role rbac.Role
	must(t, yaml.UnmarshalStrict([]byte(document), &role))
	want := []rbac.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"perch-state"}, Verbs: []string{"get", "update"}},
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{"perch-state"}, Verbs: []string{"get", "update"}},
	}
	if !reflect.DeepEqual(role.Rules, want) {
		t.Errorf("the Role allows %+v, want %+v", role.Rules, want)
	}
}
