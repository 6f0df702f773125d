package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
)

func linked() *debug.BuildInfo {
	return &debug.BuildInfo{
		GoVersion: "go1.26.8", Path: "perch.example/cmd/perch", Main: debug.Module{Path: "perch.example", Version: "(devel)"},
		Deps: []*debug.Module{
			{Path: "github.com/a/b", Version: "v1.2.3+incompatible", Sum: "h1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="},
			{Path: "github.com/c/d", Version: "v1.0.0", Sum: "h1:AA==", Replace: &debug.Module{Path: "github.com/e/f", Version: "v2.0.0"}},
			{Path: "github.com/g/h", Version: "v1.0.0", Replace: &debug.Module{Path: "./h"}},
		},
		Settings: []debug.BuildSetting{{Key: "GOARCH", Value: "arm64"}},
	}
}

func TestMaterials(t *testing.T) {
	got := materials(linked(), []byte("abc"), "9.8.7")
	program := got.Metadata.Component
	if program.Name != "perch" || program.Version != "9.8.7" || program.PURL != "pkg:golang/perch.example@9.8.7" || program.Type != "application" {
		t.Errorf("the program is %+v", program)
	}
	// FIPS 180-2, appendix B.1.
	if want := "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; program.Hashes[0].Content != want {
		t.Errorf("the program's hash is %s, want %s", program.Hashes[0].Content, want)
	}
	if want := []property{{Name: "go:build:GOARCH", Value: "arm64"}}; !slices.Equal(program.Properties, want) {
		t.Errorf("properties %v, want %v", program.Properties, want)
	}
	var purls []string
	for _, c := range got.Components {
		purls = append(purls, c.PURL)
	}
	if want := []string{"pkg:golang/stdlib@1.26.8", "pkg:golang/github.com/a/b@v1.2.3%2Bincompatible", "pkg:golang/github.com/e/f@v2.0.0", "pkg:golang/./h"}; !slices.Equal(purls, want) {
		t.Errorf("components %q, want %q", purls, want)
	}
	if sum := got.Components[1].Hashes; len(sum) != 1 || sum[0].Content != "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f" {
		t.Errorf("hashes of a module: %v, want its line of go.sum in hexadecimal", sum)
	}
	if sum := got.Components[2].Hashes; sum != nil {
		t.Errorf("a replaced module has the hash %v of what it replaces", sum)
	}
	if got := materials(linked(), nil, ""); got.Metadata.Component.Version != "(devel)" {
		t.Errorf("without a version: %q, want what the program says", got.Metadata.Component.Version)
	}
}

// TestAProgram reads a real one: this test's own.
func TestAProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(&out, self, ""); err != nil {
		t.Fatal(err)
	}
	var got bom
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got.Components) == 0 {
		t.Fatalf("%d components (%v) in\n%s", len(got.Components), err, out.String())
	}
	if err := run(&out, filepath.Join(t.TempDir(), "none"), ""); err == nil {
		t.Error("no error for a program that does not exist")
	}
	if err := run(&out, "materials.go", ""); err == nil {
		t.Error("no error for a file that is no program")
	}
}
