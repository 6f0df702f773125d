package runner

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"perch.example/probes"
)

// The real system: its counts follow what this process opens.
func TestDescriptorsAreCounted(t *testing.T) {
	const more = 25
	before := descriptors()
	for range more {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
	}
	after := descriptors()
	if d := after.Used - before.Used; d < more || d > 2*more || after.Limit <= after.Used || after.Limit != before.Limit {
		t.Errorf("%+v, then %+v with %d more", before, after, more)
	}
}

// What was open before the limit was lowered lies above it: no more than all of
// them are in use.
func TestDescriptorsAreNeverMoreThanAll(t *testing.T) {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	few := syscall.Rlimit{Cur: 2, Max: was.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	got := descriptors()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if want := (probes.Usage{Used: 2, Limit: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Before Linux 6.2 the folder has no size and its names are counted, less the
// one that reading takes.
func TestOpenFilesOfAFolder(t *testing.T) {
	if _, err := openFiles(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	folder := t.TempDir()
	for _, name := range []string{"0", "1", "2", "3"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := openNames(folder); err != nil || n != 3 {
		t.Errorf("%d, %v; want 3", n, err)
	}
}

func TestPortsAreCounted(t *testing.T) {
	s := hostSystem()
	before := s.ports()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	const more = 300 // and as many on the other side
	for range more {
		c, err := net.Dial("tcp4", l.Addr().String())
		if errors.Is(err, syscall.EADDRNOTAVAIL) {
			t.Fatal("this machine has no ports left")
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
	}
	after := s.ports()
	// Others on this machine close some meanwhile, hundreds where it stood still.
	if d := after.Used - before.Used; d < more/2 || after.Limit <= 0 {
		t.Errorf("%+v, then %+v with %d connections more", before, after, more)
	}
}
