package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perch.example/k8s"
)

// TestManifestShipsCalls: small files of calls go beside the config, others are refused
// with what to do.
func TestManifestShipsCalls(t *testing.T) { // not parallel: it changes the working directory
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("calls.txt", "1700000000 0.1\n1700000002 0.1\n")
	write("large.txt", strings.Repeat("1700000000 0.1\n", k8s.MostCalls/15+1))
	write("none.txt", "no time\n")
	if err := os.Mkdir("folder", 0o700); err != nil {
		t.Fatal(err)
	}
	absolute, err := filepath.Abs("missing.txt")
	if err != nil {
		t.Fatal(err)
	}
	for calls, c := range map[string]struct {
		code           int
		stdout, stderr string
	}{
		"calls.txt":   {exitOK, "  calls.txt: |\n    1700000000 0.1\n    1700000002 0.1\n", ""},
		absolute:      {exitOK, "kind: ConfigMap", "the Pod has no " + absolute},
		"large.txt":   {exitUsage, "", "api/p: calls: large.txt: 524295 bytes, and beside the config there is room for 524288: keep the newest calls alone (tail -n 5000 FILE), or mount it"},
		"none.txt":    {exitUsage, "", "api/p: calls: "},
		"folder":      {exitUsage, "", `api/p: calls: "folder" is not a regular file`},
		"missing.txt": {exitUsage, "", "missing.txt"},
	} {
		write("perch.yaml", "version: 1\ntargets: [{name: api, url: 'https://api.example', probes: [{name: p, kind: idle, holds: [10s], calls: "+calls+"}, {name: q, kind: idle, holds: [10s], calls: "+calls+"}]}]\n")
		r := perch(t.Context(), nil, "manifest", "--image", "registry.example/perch:1")
		if r.code != c.code {
			t.Errorf("%s: exit status %d, want %d: %s", calls, r.code, c.code, r.stderr)
		}
		want(t, calls, r.stdout, c.stdout)
		want(t, calls, r.stderr, c.stderr)
	}
}
