package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perch.example/internal/kubefake"
	"perch.example/lab"
)

// TestTwoConfigsOnOneState: the second is refused before it sends anything, in
// both stores, and nothing of the first's is undone; told to, it takes it over.
func TestTwoConfigsOnOneState(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := &collector{status: http.StatusNotFound}
			apis := httptest.NewServer(api)
			defer apis.Close()
			first := configFile(t, apis.URL, strings.Replace(remembering, "STATE", store.state, 1))
			text := strings.Replace(read(t, first), "name: memory", "name: second", 1)
			second := configFile(t, apis.URL, strings.Replace(text, "name: api", "name: other", 1))
			on := func(code int, args ...string) ran {
				t.Helper()
				r := perch(t.Context(), store.env, args...)
				if r.code != code {
					t.Fatalf("perch %s: exit status %d, want %d\n%s%s", strings.Join(args, " "), r.code, code, r.stdout, r.stderr)
				}
				return r
			}
			on(exitFindings, "run", "--all", "--config", first)
			before := strings.Count(api.text(), "GET /")

			refused := []string{`named "memory"`, `named "second"`, "state.file or state.configmap", "--adopt-state"}
			want(t, "run", on(exitUsage, "run", "--all", "--config", second).stderr, refused...)
			want(t, "add", on(exitUsage, "silence", "add", "other", "--for=1h", "--reason=x", "--config", second).stderr, refused...)
			want(t, "list", on(exitUsage, "silence", "list", "--config", second).stderr, refused...)
			want(t, "expire", on(exitUsage, "silence", "expire", "abc", "--config", second).stderr, refused...)
			planned := on(exitUsage, "plan", "--config", second)
			want(t, "plan", planned.stderr, append(refused, second+": the state")...)
			want(t, "the plan, all the same", planned.stdout, "other/")
			if n := strings.Count(api.text(), "GET /"); n != before {
				t.Errorf("the refused run sent %d requests", n-before)
			}
			want(t, "the first", on(exitFindings, "run", "--all", "--config", first).stdout, "2 of 2 runs failed")

			want(t, "adopting", on(exitFindings, "run", "--all", "--adopt-state", "--config", second).stderr, "taken over", "was=memory", "is=second")
			if r := on(exitFindings, "run", "--all", "--config", second); strings.Contains(r.stderr, "taken over") {
				t.Errorf("the second run says it again:\n%s", r.stderr)
			}
			want(t, "the first, then", on(exitUsage, "run", "--all", "--config", first).stderr, `named "second"`)
		})
	}
}

// TestARefusedStateIsLeftAlone: what a killed run had reserved there still
// counts, and its lock is given back.
func TestARefusedStateIsLeftAlone(t *testing.T) {
	t.Parallel()
	fake, env := cluster(t)
	path := configFile(t, startLab(t, "healthy", lab.Options{}).URL(), strings.Replace(remembering, "STATE", "{configmap: perch-state}", 1))
	if r := perch(t.Context(), env, "run", "--all", "--config", path); r.code != exitOK {
		t.Fatalf("exit status %d\n%s", r.code, r.stderr)
	}
	writes := fake.Calls()[kubefake.UpdateConfigMap]
	env["PERCH_NAME"] = "renamed"
	if r := perch(t.Context(), env, "run", "--all", "--config", path); r.code != exitUsage {
		t.Fatalf("exit status %d, want 2\n%s", r.code, r.stderr)
	}
	if n := fake.Calls()[kubefake.UpdateConfigMap] - writes; n != 0 {
		t.Errorf("the refused run wrote %d times", n)
	}
	delete(env, "PERCH_NAME")
	if r := perch(t.Context(), env, "run", "--all", "--config", path); r.code != exitOK {
		t.Errorf("the owner's next run: exit status %d\n%s", r.code, r.stderr)
	}
}

// TestAStateWithoutANameIsTaken: perches before this one wrote such.
func TestAStateWithoutANameIsTaken(t *testing.T) {
	t.Parallel()
	d := &diary{}
	p, _ := newPass(t, noted, d)
	if err := p.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.doc.Name != "noted" {
		t.Errorf("the state is %q's, want noted's", p.doc.Name)
	}
}

// TestTheStateIsNamed: where a silence goes, and loudly when that made a state,
// which perch may never look into.
func TestTheStateIsNamed(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := configFile(t, "http://127.0.0.1:1", strings.Replace(remembering, "STATE", store.state, 1))
			on := func(args ...string) ran {
				t.Helper()
				r := perch(t.Context(), store.env, append(append([]string{"silence"}, args...), "--config", path)...)
				if r.code != exitOK {
					t.Fatalf("perch silence %s: exit status %d\n%s%s", strings.Join(args, " "), r.code, r.stdout, r.stderr)
				}
				return r
			}
			which := "configmap shop/perch-state"
			if name == "file" {
				which = fileOfState(t, path)
			}
			r := on("list")
			want(t, "list without a state", r.stderr, "there is no state in "+which)
			want(t, "list without a state", r.stdout, "no silences")
			r = on("add", "api", "--for=1h", "--reason=x")
			want(t, "the first add", r.stdout, "in the state "+which)
			want(t, "the first add", r.stderr, "there was no state in "+which, "nothing is muted unless perch runs with this very state")
			id, _, _ := strings.Cut(r.stdout, " ")
			r = on("add", "api", "--for=1h", "--reason=y")
			want(t, "the second add", r.stdout, "in the state "+which)
			if r.stderr != "" {
				t.Errorf("the second add says %q", r.stderr)
			}
			r = on("list", "--output=json")
			want(t, "list", r.stderr, "the state is "+which)
			if !json.Valid([]byte(r.stdout)) {
				t.Errorf("no JSON: %s", r.stdout)
			}
			want(t, "expire", on("expire", id).stdout, "in the state "+which)
		})
	}
}

// fileOfState is the file that a config written by configFile keeps its state in.
func fileOfState(t *testing.T, path string) string {
	t.Helper()
	_, rest, _ := strings.Cut(read(t, path), "state: {file: ")
	file, _, _ := strings.Cut(rest, "}")
	return file
}

// TestAStatesPathIsWhole: what a config writes without its folder leads
// elsewhere from elsewhere, so it is said with it.
func TestAStatesPathIsWhole(t *testing.T) {
	sys := system{env: func(string) (string, bool) { return "", false }, readFile: os.ReadFile}
	path := configFile(t, "http://127.0.0.1:1", strings.Replace(remembering, "STATE", "{file: state}", 1))
	cfg, err := loadAnywhere(sys, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	here, elsewhere := t.TempDir(), t.TempDir()
	t.Chdir(here)
	r := perch(t.Context(), nil, "silence", "add", "api", "--for=1h", "--reason=x", "--config", path)
	want(t, "add", r.stdout, "in the state "+filepath.Join(here, "state"))
	t.Chdir(elsewhere)
	if got := whichState(sys, cfg); got != filepath.Join(elsewhere, "state") {
		t.Errorf("the state is %q", got)
	}
	r = perch(t.Context(), nil, "silence", "list", "--config", path)
	want(t, "list from elsewhere", r.stderr, "there is no state in "+filepath.Join(elsewhere, "state"))
}
