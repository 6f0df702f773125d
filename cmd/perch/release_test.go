package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// releaser is what is relied on of .goreleaser.yaml. What is not named here fails.
type releaser struct {
	Version int    `yaml:"version"`
	Project string `yaml:"project_name"`
	Before  struct {
		Hooks []string `yaml:"hooks"`
	} `yaml:"before"`
	Builds    []releaseBuild   `yaml:"builds"`
	Archives  []releaseArchive `yaml:"archives"`
	Materials []struct {
		ID        string   `yaml:"id"`
		Artifacts string   `yaml:"artifacts"`
		Command   string   `yaml:"cmd"`
		Args      []string `yaml:"args"`
		Documents []string `yaml:"documents"`
	} `yaml:"sboms"`
	Checksum  map[string]string `yaml:"checksum"`
	Snapshot  map[string]string `yaml:"snapshot"`
	Changelog map[string]string `yaml:"changelog"`
	Release   struct {
		Disable bool `yaml:"disable"`
	} `yaml:"release"`
}

type releaseBuild struct {
	ID        string   `yaml:"id"`
	Main      string   `yaml:"main"`
	Binary    string   `yaml:"binary"`
	Env       []string `yaml:"env"`
	Flags     []string `yaml:"flags"`
	Linker    []string `yaml:"ldflags"`
	Systems   []string `yaml:"goos"`
	Machines  []string `yaml:"goarch"`
	Timestamp string   `yaml:"mod_timestamp"`
}

type releaseArchive struct {
	ID      string      `yaml:"id"`
	IDs     []string    `yaml:"ids"`
	Formats []string    `yaml:"formats"`
	Name    string      `yaml:"name_template"`
	Wrapped bool        `yaml:"wrap_in_directory"`
	Builds  releaseInfo `yaml:"builds_info"`
	Files   []struct {
		From string      `yaml:"src"`
		Info releaseInfo `yaml:"info"`
	} `yaml:"files"`
}

type releaseInfo struct {
	Owner string `yaml:"owner"`
	Group string `yaml:"group"`
	Mode  int    `yaml:"mode"`
	Time  string `yaml:"mtime"`
}

func readReleaser(t *testing.T) releaser {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(read(t, "../../.goreleaser.yaml")))
	d.KnownFields(true)
	var r releaser
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if len(r.Builds) != 1 || len(r.Archives) != 1 || len(r.Materials) != 1 || r.Version != 2 {
		t.Fatalf("version %d, %d builds, %d archives, %d bills", r.Version, len(r.Builds), len(r.Archives), len(r.Materials))
	}
	return r
}

// stamps are the linker's values, by the variable that each is for.
func stamps(flags string) map[string]string {
	found := map[string]string{}
	for _, m := range regexp.MustCompile(`-X (\S+?)=(\{\{[^}]*\}\}|\S+?)(?:"|\s|$)`).FindAllStringSubmatch(flags, -1) {
		found[m[1]] = m[2]
	}
	return found
}

// stringVariables are the package's variables that the linker can set.
func stringVariables(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != gotoken.VAR {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, name := range v.Names {
					if i < len(v.Values) {
						if lit, ok := v.Values[i].(*ast.BasicLit); ok && lit.Kind == gotoken.STRING {
							names = append(names, "main."+name.Name)
						}
					}
				}
			}
		}
	}
	return names
}

// TestReleaseStampsWhatThereIs: the linker says nothing of a variable that it does not
// find, and `perch version` would say "dev".
func TestReleaseStampsWhatThereIs(t *testing.T) {
	t.Parallel()
	b := readReleaser(t).Builds[0]
	have := stringVariables(t)
	got := stamps(strings.Join(b.Linker, " "))
	if want := map[string]string{"main.version": "{{ .Version }}", "main.revision": "{{ .FullCommit }}"}; !maps.Equal(got, want) {
		t.Errorf("it stamps %v, want %v", got, want)
	}
	image := stamps(strings.ReplaceAll(read(t, "../../Dockerfile"), "\\\n", ""))
	if want := map[string]string{"main.version": "${VERSION}", "main.revision": "${REVISION}"}; !maps.Equal(image, want) {
		t.Errorf("the image stamps %v, want %v", image, want)
	}
	for name := range got {
		if !slices.Contains(have, name) {
			t.Errorf("%s is no string variable of cmd/perch; there are %q", name, have)
		}
	}
}

// TestReleaseIsReproducible: static, without the machine's paths and times.
func TestReleaseIsReproducible(t *testing.T) {
	t.Parallel()
	r := readReleaser(t)
	b, a := r.Builds[0], r.Archives[0]
	if !slices.Equal(b.Env, []string{"CGO_ENABLED=0"}) || !slices.Equal(b.Flags, []string{"-trimpath", "-buildvcs=false"}) || b.Timestamp != "{{ .CommitTimestamp }}" {
		t.Errorf("env %q, flags %q, time %q", b.Env, b.Flags, b.Timestamp)
	}
	infos := []releaseInfo{a.Builds}
	for _, f := range a.Files {
		infos = append(infos, f.Info)
	}
	for _, i := range infos {
		if i.Time != "{{ .CommitDate }}" || i.Owner != "root" || i.Group != "root" || i.Mode == 0 {
			t.Errorf("in the archive: %+v", i)
		}
	}
	// goreleaser sets these two, and itself puts nothing in the place of any other.
	const bill = "go run perch.example/internal/sbom -version {{ .Version }} $artifact > $document"
	if m := r.Materials[0]; m.Artifacts != "binary" || m.Command != "sh" || !slices.Equal(m.Args, []string{"-c", bill}) {
		t.Errorf("the bill of materials: %+v", m)
	}
	if _, err := os.Stat("../../internal/sbom/main.go"); err != nil {
		t.Error(err)
	}
	if r.Checksum["algorithm"] != "sha256" || !r.Release.Disable {
		t.Errorf("checksums %v, release %+v", r.Checksum, r.Release)
	}
}

// TestReleaseFilesAreThere, or are made by the hooks, by commands that perch has.
func TestReleaseFilesAreThere(t *testing.T) {
	t.Parallel()
	r := readReleaser(t)
	var packed []string
	for _, f := range r.Archives[0].Files {
		packed = append(packed, f.From)
		if f.From == "completions/*" {
			continue
		}
		if _, err := os.Stat("../../" + f.From); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"README.md", "LICENSE", "CHANGELOG.md", "completions/*"}; !slices.Equal(packed, want) {
		t.Errorf("packed are %q, want %q", packed, want)
	}
	ignored := strings.Split(read(t, "../../.gitignore"), "\n")
	if !slices.Contains(ignored, "/completions/") || !slices.Contains(ignored, "/dist/") {
		t.Error("git does not ignore what a release makes: goreleaser refuses a tree that is not clean")
	}
	made := 0
	for _, hook := range r.Before.Hooks {
		m := regexp.MustCompile(`go run \./cmd/perch (completion \w+) > completions/`).FindStringSubmatch(hook)
		if m == nil {
			continue
		}
		made++
		if got := perch(t.Context(), nil, strings.Fields(m[1])...); got.code != exitOK || len(got.stdout) < 1000 {
			t.Errorf("perch %s: exit status %d, %d bytes", m[1], got.code, len(got.stdout))
		}
	}
	if made != 3 {
		t.Errorf("%d completions are made, want 3", made)
	}
}

// TestReleaseTargetsHaveAllFiles: for each of them go finds every package that perch is
// made of, with files of that system.
func TestReleaseTargetsHaveAllFiles(t *testing.T) {
	t.Parallel()
	b := readReleaser(t).Builds[0]
	if !slices.Equal(b.Systems, []string{"linux", "darwin"}) || !slices.Equal(b.Machines, []string{"amd64", "arm64"}) || b.Main != "./cmd/perch" || b.Binary != "perch" {
		t.Errorf("%+v", b)
	}
	for _, system := range b.Systems {
		for _, machine := range b.Machines {
			cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.ImportPath}}", b.Main)
			cmd.Dir = "../.."
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			if err != nil || !strings.Contains(string(out), "perch.example/cmd/perch\n") {
				t.Errorf("%s/%s: %v: %s", system, machine, err, errs.String())
			}
		}
	}
}
