package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perch.example/config"
	"perch.example/k8s/like"
	"perch.example/probes"
)

const likeConfig = `
version: 1
name: shop
vantage: prod
targets: [{name: stock-api, url: "https://api.partner.example/v1", probes: [{name: get, kind: http, path: /, every: 10m}]}]
state: {configmap: perch-state}
`

const likeObjects = "../../k8s/like/testdata/"

// TestManifestLike: what was copied and what was not stands on stderr and on top
// of the manifest, whose every line there is a comment.
func TestManifestLike(t *testing.T) {
	path := configFile(t, "", likeConfig)
	r := perch(t.Context(), nil, "manifest", "--config", path, "--like", likeObjects+"istio-namespace.in.yaml")
	if r.code != exitOK {
		t.Fatalf("status %d\n%s", r.code, r.stderr)
	}
	head, _, _ := strings.Cut(r.stdout, "\napiVersion")
	for line := range strings.Lines(head) {
		if !strings.HasPrefix(line, "#") {
			t.Errorf("no comment: %q", line)
		}
	}
	for _, text := range []string{head, r.stderr} {
		want(t, "the head, and stderr", text, "Deployment shop/checkout", "sidecar of Istio", "Write `via: mesh` for stock-api", "VirtualService stock/stock")
	}
	want(t, "the manifest", r.stdout, "namespace: shop", "perch.example/path: perch", "--wait-for=http://127.0.0.1:15021/healthz/ready",
		"--quit=http://127.0.0.1:15020/quitquitquit", "kind: DestinationRule")
}

func TestManifestLikeRefuses(t *testing.T) {
	path, empty := configFile(t, "", likeConfig), filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"--like " + likeObjects + "statefulset-irsa.in.yaml", "choose with --workload"},
		{"--like " + likeObjects + "deployment.in.yaml --workload sts/checkout", "no such workload"},
		{"--like " + likeObjects + "deployment.in.yaml --namespace other", "leave --namespace out"},
		{"--like " + likeObjects + "none.yaml", "reading --like"},
		{"--like " + empty, "no object in it"},
		{"--workload deploy/checkout", "want --like FILE"},
		{"--like-no-services", "want --like FILE"},
	} {
		r := perch(t.Context(), nil, append([]string{"manifest", "--config", path}, strings.Fields(c.args)...)...)
		if r.code != exitUsage || r.stdout != "" || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: status %d, want %d and %q\n%s%s", c.args, r.code, exitUsage, c.want, r.stdout, r.stderr)
		}
	}
}

// TestLikeReadsStdin and stops reading where it is too much.
func TestLikeReadsStdin(t *testing.T) {
	raw, err := os.ReadFile(likeObjects + "deployment.in.yaml")
	if err != nil {
		t.Fatal(err)
	}
	from := likeFlags{file: "-"}
	p, err := from.path(strings.NewReader(string(raw)), config.Config{Targets: []probes.Target{{Name: "a"}}}, "perch")
	if err != nil || p.Workload != "Deployment shop/checkout" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := from.path(endless{}, config.Config{}, "perch"); err == nil || !strings.Contains(err.Error(), "at most 16") {
		t.Errorf("%v, want a limit of %d MiB", err, like.MaxInput>>20)
	}
}

// endless is an input that never ends.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}
