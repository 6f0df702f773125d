package report

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"perch.example/probes"
)

// TestEveryJSONKeyIsExplained: docs/json.md names each key that the report can
// have.
func TestEveryJSONKeyIsExplained(t *testing.T) {
	text, err := os.ReadFile("../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	keys := jsonKeys(reflect.TypeFor[document]())
	if len(keys) < 60 {
		t.Fatalf("only %d keys found: the walk misses some", len(keys))
	}
	for key := range keys {
		if !strings.Contains(string(text), "`"+key+"`") {
			t.Errorf("docs/json.md does not explain `%s`", key)
		}
	}
	_, incident, _ := strings.Cut(string(text), "## An incident")
	for _, s := range probes.IncidentStates() {
		if !strings.Contains(incident, "`"+string(s)+"`") {
			t.Errorf("docs/json.md does not explain the state `%s` of an incident", s)
		}
	}
	for _, s := range probes.NoticeStates() {
		if !strings.Contains(incident, "`"+string(s)+"`") {
			t.Errorf("docs/json.md does not explain the notice `%s` of an incident", s)
		}
	}
	_, outcome, _ := strings.Cut(string(text), "## An outcome")
	for _, v := range probes.Verdicts() {
		if !strings.Contains(outcome, "`"+string(v)+"`") {
			t.Errorf("docs/json.md does not explain the verdict `%s` of an outcome", v)
		}
	}
}

// jsonKeys are the keys of a document type, at any depth.
func jsonKeys(t reflect.Type) map[string]bool {
	keys := map[string]bool{}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return jsonKeys(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.Anonymous { // its fields stand in its place
				keys[name] = true
			}
			for k := range jsonKeys(f.Type) {
				keys[k] = true
			}
		}
	default: // a value: it has no keys
	}
	return keys
}
