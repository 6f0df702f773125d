package config

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const policyDoc = "../docs/policy.md"

// TestPolicyReference keeps the table of docs/policy.md in step with the policy's
// own; -update writes it anew.
func TestPolicyReference(t *testing.T) {
	raw, err := os.ReadFile(policyDoc)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile(`(?s)(<!-- generated: policy -->\n).*?(<!-- end -->)`)
	if !block.Match(raw) {
		t.Fatal("no place for the table")
	}
	want := block.ReplaceAllString(string(raw), "${1}"+strings.ReplaceAll(rows(policyTable(), nil), "$", "$$")+"${2}")
	if updating() {
		if err := os.WriteFile(policyDoc, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Errorf("%s is not in step with the table: go test ./config -run TestPolicyReference -update", policyDoc)
	}
}

// TestPolicySamples: what people copy from there is right, by itself and in its
// ConfigMap.
func TestPolicySamples(t *testing.T) {
	raw, err := os.ReadFile(policyDoc)
	if err != nil {
		t.Fatal(err)
	}
	found := map[bool]int{}
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(raw), -1) {
		var object struct {
			Kind string
			Data map[string]string
		}
		text := m[1]
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		if object.Kind == "ConfigMap" {
			text = object.Data["policy.yaml"]
		}
		if _, err := ParsePolicy(File{policyDoc, []byte(text)}); err != nil {
			t.Errorf("a sample: %v\n%s", err, text)
		}
		found[object.Kind == "ConfigMap"]++
	}
	if found[true] != 1 || found[false] != 1 {
		t.Errorf("%d samples in a ConfigMap and %d by themselves found", found[true], found[false])
	}
}
