//go:build peers

package k8s

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"perch.example/internal/cluster"
)

// No registry can be reached where this runs, so the image's first stage gets
// a local stand-in under the real one's name: a shell, its libraries and the
// authorities of this machine. Go and the modules are this machine's own,
// mounted. `vfs` and `chroot` work in any container and on any file system,
// where overlays and namespaces may be forbidden; with layers this small the
// copies of `vfs` cost nothing.

// What the image is built with, and its name.
const (
	testVersion  = "9.8.7-test"
	testRevision = "0123abc"
	testImage    = "perch:test"
)

type builder struct {
	t    *testing.T
	dir  string
	root string // the image's files
}

// buildImage builds the Dockerfile and returns what it made.
func buildImage(t *testing.T) *builder {
	t.Helper()
	b := &builder{t: t, dir: t.TempDir()}
	t.Cleanup(func() { b.buildah("rm", "--all") })
	b.standIn()
	goroot, modules := command(t, "go", "env", "GOROOT"), command(t, "go", "env", "GOMODCACHE")
	b.buildah("bud", "--isolation", "chroot", "--pull-never", "-t", testImage,
		"--volume", goroot+":/usr/local/go:ro",
		"--volume", filepath.Join(modules, "cache", "download")+":/modules:ro",
		"--build-arg", "GOPROXY=file:///modules",
		"--build-arg", "VERSION="+testVersion, "--build-arg", "REVISION="+testRevision, "..")
	b.root = b.buildah("mount", b.buildah("from", "--pull-never", "--name", "perch", testImage))
	return b
}

// storage are the arguments that give buildah and podman a storage of the
// test's own.
func (b *builder) storage() []string {
	return []string{"--root=" + filepath.Join(b.dir, "root"), "--runroot=" + filepath.Join(b.dir, "run"), "--storage-driver=vfs"}
}

func (b *builder) buildah(args ...string) string {
	b.t.Helper()
	return command(b.t, "buildah", append(b.storage(), args...)...)
}

// podman is a command that is not started yet. In a container there may be no
// systemd to ask for control groups, and no journal.
func (b *builder) podman(args ...string) *exec.Cmd {
	own := append(b.storage(), "--cgroup-manager=cgroupfs", "--events-backend=none", "--runtime="+cluster.Program(b.t, "runc"))
	cmd := exec.Command(cluster.Program(b.t, "podman"), append(own, args...)...)
	cmd.Dir = b.dir // where conmon leaves a file when the kernel ends a container for its memory
	return cmd
}

// command returns what a program printed; the suite fails without the program.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	return output(t, exec.Command(cluster.Program(t, name), args...))
}

// output runs a command that must succeed.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, out.String(), errs.String())
	}
	return strings.TrimSpace(out.String())
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
