//go:build peers

package k8s

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// No registry can be reached where this runs, so the image's first stage gets
// a local stand-in under the real one's name: a shell, its libraries and the
// authorities of this machine. Go and the modules are this machine's own,
// mounted. `vfs` and `chroot` work in any container and on any file system,
// where overlays and namespaces may be forbidden; with layers this small the
// copies of `vfs` cost nothing.

// image builds the Dockerfile and returns what it made.
func image(t *testing.T) *builder {
	t.Helper()
	b := &builder{t: t, dir: t.TempDir()}
	t.Cleanup(func() { b.buildah("rm", "--all") })
	b.standIn()
	goroot, modules := goEnv(t, "GOROOT"), goEnv(t, "GOMODCACHE")
	b.buildah("bud", "--isolation", "chroot", "--pull-never", "-t", "perch:test",
		"--volume", goroot+":/usr/local/go:ro",
		"--volume", filepath.Join(modules, "cache", "download")+":/modules:ro",
		"--build-arg", "GOPROXY=file:///modules",
		"--build-arg", "VERSION=9.8.7-test", "--build-arg", "REVISION=0123abc", "..")
	return b
}

type builder struct {
	t   *testing.T
	dir string
}

// buildah runs one command on a storage of the test's own.
func (b *builder) buildah(args ...string) string {
	b.t.Helper()
	own := []string{"--root", filepath.Join(b.dir, "root"), "--runroot", filepath.Join(b.dir, "run"), "--storage-driver", "vfs"}
	return command(b.t, "buildah", append(own, args...)...)
}

// command returns what a program printed; the suite fails without the program.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("the peers suite needs %s: %v", name, err)
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out.String(), errs.String())
	}
	return strings.TrimSpace(out.String())
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	return command(t, "go", "env", name)
}

// standIn makes the local golang image.
func (b *builder) standIn() {
	b.t.Helper()
	root := filepath.Join(b.dir, "golang")
	libraries := regexp.MustCompile(`/[^ ]+`).FindAllString(command(b.t, "ldd", "/bin/sh"), -1)
	for _, file := range append(libraries, "/bin/sh", "/etc/ssl/certs/ca-certificates.crt") {
		to := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			b.t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(to, mustRead(b.t, file), info.Mode()); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "tmp"), 0o777); err != nil {
		b.t.Fatal(err)
	}
	recipe := "FROM scratch\nCOPY . /\nENV PATH=/usr/local/go/bin:/bin GOPATH=/go GOTOOLCHAIN=local\n"
	file := filepath.Join(b.dir, "Standin")
	if err := os.WriteFile(file, []byte(recipe), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.buildah("bud", "--isolation", "chroot", "--pull-never", "-t", dockerfileBase(b.t), "-f", file, root)
}

// dockerfileBase is the image that the Dockerfile builds in.
func dockerfileBase(t *testing.T) string {
	t.Helper()
	return regexp.MustCompile(`(?m)^FROM (golang:\S+)`).FindStringSubmatch(string(mustRead(t, "../Dockerfile")))[1]
}

// TestTheImage builds it once and looks at all of it.
func TestTheImage(t *testing.T) {
	b := image(t)
	root := b.buildah("mount", b.buildah("from", "--pull-never", "--name", "perch", "perch:test"))
	t.Run("holds perch and the authorities only", func(t *testing.T) { checkFiles(t, root) })
	t.Run("is small", func(t *testing.T) { b.checkSize(t) })
	t.Run("says what it is", func(t *testing.T) { b.checkLabels(t) })
	t.Run("runs read-only", func(t *testing.T) {
		out := run(t, root, nil, "version")
		if !strings.HasPrefix(out, "perch 9.8.7-test 0123abc go") {
			t.Errorf("perch version says %q, want the version and revision that the build was given", out)
		}
	})
	t.Run("runs the demo without network", func(t *testing.T) {
		if out := run(t, root, nil, "demo"); !strings.Contains(out, "NoHttpResponseException") {
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
		if out := run(t, root, map[string]string{at: dir}, "plan", "--config="+at); !strings.Contains(out, "calendar-idle") {
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
	if want := []string{"/LICENSE", "/etc/ssl/certs/ca-certificates.crt", "/perch"}; err != nil || !slices.Equal(files, want) {
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
	b.buildah("push", "perch:test", "oci:"+dir)
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
	if err := json.Unmarshal([]byte(b.buildah("inspect", "--type", "image", "perch:test")), &made); err != nil {
		t.Fatal(err)
	}
	c := made.OCIv1.Config
	if c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/perch"}) {
		t.Errorf("user %q, entrypoint %q: want 65532:65532 and /perch", c.User, c.Entrypoint)
	}
	for label, want := range map[string]string{"title": "perch", "version": "9.8.7-test", "revision": "0123abc", "licenses": "Apache-2.0"} {
		if got := c.Labels["org.opencontainers.image."+label]; got != want {
			t.Errorf("label %s: %q, want %q", label, got, want)
		}
	}
}

// run runs perch as the CronJob would: the image's user, no capability, no
// writable file system anywhere, and here no network but loopback either.
// mounts are read-only, from a path inside to one outside.
func run(t *testing.T, root string, mounts map[string]string, args ...string) string {
	t.Helper()
	bundle := t.TempDir()
	command(t, "runc", "spec", "--bundle", bundle)
	file := filepath.Join(bundle, "config.json")
	var spec map[string]any
	if err := json.Unmarshal(mustRead(t, file), &spec); err != nil {
		t.Fatal(err)
	}
	spec["root"] = map[string]any{"path": root, "readonly": true}
	process := spec["process"].(map[string]any)
	process["terminal"] = false
	process["user"] = map[string]any{"uid": 65532, "gid": 65532}
	process["capabilities"] = map[string]any{}
	process["args"] = append([]string{"/perch"}, args...)
	list := readOnly(spec["mounts"].([]any))
	for inside, outside := range mounts {
		list = append(list, map[string]any{"destination": inside, "source": outside, "type": "bind", "options": []string{"bind", "ro"}})
	}
	spec["mounts"] = list
	raw, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return command(t, "runc", "--root", filepath.Join(bundle, "state"), "run", "--bundle", bundle, "perch-"+filepath.Base(filepath.Dir(bundle)))
}

// readOnly takes the writable memory file systems out of a runc default.
func readOnly(mounts []any) []any {
	return slices.DeleteFunc(mounts, func(m any) bool {
		at := m.(map[string]any)["destination"]
		return at == "/dev/shm" || at == "/dev/mqueue"
	})
}
