//go:build soak

package soak

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// mounted is a folder as the kubelet mounts a ConfigMap: perch.yaml is a link into
// ..data, and that one to a folder which is never written again; a change makes a new
// folder, and swaps the link.
type mounted struct {
	dir  string
	turn int
}

func mount(t *testing.T, text string) *mounted {
	t.Helper()
	m := &mounted{dir: t.TempDir()}
	m.change(t, text)
	if err := os.Symlink("..data/perch.yaml", m.path()); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *mounted) path() string { return filepath.Join(m.dir, "perch.yaml") }

func (m *mounted) change(t *testing.T, text string) {
	t.Helper()
	old, _ := os.Readlink(filepath.Join(m.dir, "..data")) // the first time there is none
	m.turn++
	now := fmt.Sprintf("..2026_%d", m.turn)
	if err := os.Mkdir(filepath.Join(m.dir, now), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(m.dir, now, "perch.yaml"), text)
	next := filepath.Join(m.dir, "..data_tmp")
	if err := os.Symlink(now, next); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(m.dir, "..data")); err != nil {
		t.Fatal(err)
	}
	if old != "" {
		if err := os.RemoveAll(filepath.Join(m.dir, old)); err != nil {
			t.Fatal(err)
		}
	}
}
