package state

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Looking takes no lock, so that it works beside a run, and changes nothing.
func TestReadOnlyLooks(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "state")
	if d, err := ReadFile(path); err != nil || len(d.EarlyCloses) != 0 {
		t.Fatalf("no file: %+v, %v, want an empty document", d, err)
	}
	store, err := OpenFile(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close(context.Background())
	if _, err := store.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	var d Document
	d.SetEarlyCloses("api/idle", map[time.Duration]time.Duration{time.Minute: time.Second}, nil)
	if err := store.Save(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	before := files(t, folder)
	read, err := ReadFile(path)
	if err != nil || read.EarlyCloses["api/idle"][time.Minute] != time.Second {
		t.Errorf("beside a run: %+v, %v, want what it saved", read, err)
	}
	if err := os.WriteFile(path, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); err == nil {
		t.Error("a corrupt file was read")
	}
	if after := files(t, folder); !slices.Equal(before, after) {
		t.Errorf("files before %v, after %v", before, after)
	}
}

func files(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
