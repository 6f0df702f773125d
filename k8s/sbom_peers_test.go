//go:build peers

package k8s

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// checkBOM holds the image's bill of materials to CycloneDX's schema, and to
// what Go's own command reads in the program.
func checkBOM(t *testing.T, root string) {
	raw := mustRead(t, filepath.Join(root, "perch.cdx.json"))
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	schema := bomSchema(t)
	if err := schema.Validate(document); err != nil {
		t.Errorf("the schema of CycloneDX 1.6: %v", err)
	}
	if err := schema.Validate(map[string]any{"bomFormat": "CycloneDX"}); err == nil {
		t.Error("the schema lets a document without a version pass: this test proves nothing")
	}
	type component struct {
		Name, Version, PURL string
		Hashes              []struct{ Content string }
	}
	var bom struct {
		Metadata   struct{ Component component }
		Components []component
	}
	if err := json.Unmarshal(raw, &bom); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(mustRead(t, filepath.Join(root, "perch")))
	if c := bom.Metadata.Component; c.Name != "perch" || c.Version != testVersion || c.Hashes[0].Content != hex.EncodeToString(sum[:]) {
		t.Errorf("it is of %+v, want of perch %s with the hash of /perch", c, testVersion)
	}
	var listed []string
	for _, c := range bom.Components {
		listed = append(listed, c.Name+" "+c.Version)
	}
	first, rest, _ := strings.Cut(command(t, "go", "version", "-m", filepath.Join(root, "perch")), "\n")
	linked := []string{"stdlib " + strings.TrimPrefix(strings.Fields(first)[1], "go")}
	for line := range strings.Lines(rest) {
		if f := strings.Fields(line); f[0] == "dep" {
			linked = append(linked, f[1]+" "+f[2])
		}
	}
	if !slices.Equal(listed, linked) || len(linked) < 10 {
		t.Errorf("it lists\n%s\nthe program is linked from\n%s", strings.Join(listed, "\n"), strings.Join(linked, "\n"))
	}
}

// bomSchema compiles the schema that lies in the folder of CycloneDX's library.
func bomSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	const at = "http://cyclonedx.org/schema/"
	command(t, "go", "mod", "download", "-C", "testdata/dockerlint", "github.com/CycloneDX/cyclonedx-go")
	dir := filepath.Join(command(t, "go", "list", "-C", "testdata/dockerlint", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go"), "schema")
	compiler := jsonschema.NewCompiler()
	for name, file := range map[string]string{"bom-1.6.schema.json": "", "spdx.schema.json": "", "jsf-0.82.schema.json": "jsf-0.82.schemax.json"} {
		if file == "" {
			file = name
		}
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(mustRead(t, filepath.Join(dir, file))))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource(at+name, schema); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile(at + "bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestTheDockerfileBreaksNoRule runs the linter of `docker build --check`.
func TestTheDockerfileBreaksNoRule(t *testing.T) {
	linter := filepath.Join(t.TempDir(), "dockerlint")
	command(t, "go", "build", "-C", "testdata/dockerlint", "-o", linter, ".")
	if out, err := exec.Command(linter, "../Dockerfile").CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
	bad := filepath.Join(t.TempDir(), "Dockerfile")
	if err := os.WriteFile(bad, []byte("FROM scratch as Base\nENV API_TOKEN=any\nENTRYPOINT perch\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(linter, bad).CombinedOutput()
	for _, rule := range []string{"FromAsCasing", "StageNameCasing", "SecretsUsedInArgOrEnv", "JSONArgsRecommended"} {
		if err == nil || !strings.Contains(string(out), rule) {
			t.Errorf("the linter lets a bad Dockerfile pass (%v), want %s:\n%s", err, rule, out)
		}
	}
}
