//go:build peers

package k8s

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"perch.example/internal/cluster"
)

// check looks at all of the image.
func (b *builder) check(t *testing.T) {
	t.Run("holds perch and the authorities only", func(t *testing.T) { checkFiles(t, b.root) })
	t.Run("holds a bill of its materials", func(t *testing.T) { checkBOM(t, b.root) })
	t.Run("is small", func(t *testing.T) { b.checkSize(t) })
	t.Run("says what it is", func(t *testing.T) { b.checkLabels(t) })
	t.Run("runs read-only", func(t *testing.T) {
		if out := b.run(t, nil, "version"); !strings.HasPrefix(out, "perch "+testVersion+" "+testRevision+" go") {
			t.Errorf("perch version says %q, want the version and revision that the build was given", out)
		}
	})
	t.Run("runs the demo without network", func(t *testing.T) {
		if out := b.run(t, nil, "demo"); !strings.Contains(out, "NoHttpResponseException") {
			t.Errorf("the demo does not name the cause:\n%s", out)
		}
	})
	t.Run("plans the shipped config", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range shippedFiles(t) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		at := flag(t, "--config")
		if out := b.run(t, map[string]string{at: dir}, "plan", "--config="+at); !strings.Contains(out, "calendar-idle") {
			t.Errorf("the plan does not name the probe:\n%s", out)
		}
	})
}

func checkFiles(t *testing.T, root string) {
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, strings.TrimPrefix(path, root))
		}
		return err
	})
	if want := []string{"/LICENSE", "/etc/ssl/certs/ca-certificates.crt", "/perch", "/perch.cdx.json"}; err != nil || !slices.Equal(files, want) {
		t.Errorf("the image holds %v (%v), want %v", files, err, want)
	}
	program, err := elf.Open(filepath.Join(root, "perch"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = program.Close() }()
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("perch is not static: it asks for a loader")
		}
	}
	if !bytes.Contains(mustRead(t, filepath.Join(root, "perch")), []byte("Asia/Tokyo")) {
		t.Error("perch holds no zone data")
	}
}

// checkSize counts what a node would pull.
func (b *builder) checkSize(t *testing.T) {
	dir := filepath.Join(b.dir, "pushed")
	b.buildah("push", testImage, "oci:"+dir)
	size := 0
	err := filepath.WalkDir(filepath.Join(dir, "blobs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			size += len(mustRead(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if size > 40<<20 {
		t.Errorf("the compressed image is %d KiB, want at most 40 MiB", size>>10)
	}
	t.Logf("compressed: %d KiB", size>>10)
}

func (b *builder) checkLabels(t *testing.T) {
	var made struct {
		OCIv1 struct {
			Config struct {
				User       string
				Entrypoint []string
				Labels     map[string]string
			} `json:"config"`
		}
	}
	if err := json.Unmarshal([]byte(b.buildah("inspect", "--type", "image", testImage)), &made); err != nil {
		t.Fatal(err)
	}
	c := made.OCIv1.Config
	if c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/perch"}) {
		t.Errorf("user %q, entrypoint %q: want 65532:65532 and /perch", c.User, c.Entrypoint)
	}
	for label, want := range map[string]string{"title": "perch", "version": testVersion, "revision": testRevision, "licenses": "Apache-2.0"} {
		if got := c.Labels["org.opencontainers.image."+label]; got != want {
			t.Errorf("label %s: %q, want %q", label, got, want)
		}
	}
}

// run runs perch as the image says, with no writable file system, no
// capability and no network. mounts are read-only, from a path inside to one outside.
func (b *builder) run(t *testing.T, mounts map[string]string, args ...string) string {
	t.Helper()
	all := append([]string{"run", "--rm", "--network=none", "--read-only", "--read-only-tmpfs=false", "--cap-drop=all",
		"--security-opt=no-new-privileges"}, cluster.Plain()...)
	for inside, outside := range mounts {
		all = append(all, "--volume="+outside+":"+inside+":ro")
	}
	return output(t, b.podman(append(append(all, testImage), args...)...))
}
