package trace

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocumentNamesAll: every attribute of perch's own is in docs/traces.md, and none that it is not able to set.
func TestDocumentNamesAll(t *testing.T) {
	text, err := os.ReadFile("../docs/traces.md")
	if err != nil {
		t.Fatal(err)
	}
	var set []string
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`\("(perch\.[a-z_]+)",`).FindAllStringSubmatch(string(code), -1) {
			set = append(set, found[1])
		}
	}
	if len(set) < 30 {
		t.Fatalf("only %d attributes are found: %v", len(set), set)
	}
	var said []string
	for _, found := range regexp.MustCompile("(?:`perch|`|span\\.perch|\\bperch)\\.([a-z_]+)\\b").FindAllStringSubmatch(string(text), -1) {
		said = append(said, "perch."+found[1])
	}
	for _, name := range set {
		if !slices.Contains(said, name) {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range said {
		if !slices.Contains(set, name) && name != "perch.yaml" {
			t.Errorf("%s is set nowhere", name)
		}
	}
}
