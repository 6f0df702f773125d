package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A literal credential is warned about wherever a config is read; it is not
// written into a ConfigMap.
func TestLiteralCredential(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "perch.yaml")
	writeFile(t, path, "version: 1\nname: shop\nvantage: here\ntargets:\n  - name: api\n    url: https://192.0.2.1\n    headers: [{name: Authorization, value: \"Bearer hunter2\"}]\n    probes: [{name: get, kind: http, path: /, every: 5m}]\n")
	where := path + ":7: targets[0].headers[0].value: the literal value of"
	const fix = "from: {file: PATH}"
	r := perch(t.Context(), nil, "manifest", "--config", path)
	if r.code != exitUsage || r.stdout != "" {
		t.Errorf("manifest: status %d, stdout %q", r.code, r.stdout)
	}
	want(t, "manifest's stderr", r.stderr, where, fix)
	r = perch(t.Context(), nil, "plan", "--check", path)
	if r.code != exitOK {
		t.Errorf("plan --check: status %d: %s", r.code, r.stderr)
	}
	want(t, "plan's stderr", r.stderr, "WARN", ":7: targets[0].headers[0].value", fix)
	if strings.Contains(r.stderr, "hunter2") {
		t.Errorf("the secret is shown: %s", r.stderr)
	}
}
