package state

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSomebodyElsesFileStays: a token's file, a config, another program's data,
// given as state.file by mistake.
func TestSomebodyElsesFileStays(t *testing.T) {
	for name, content := range map[string]string{
		"a token": "s3cr3t\n", "one byte": "x", "JSON": `{"version":1}`, "zeros, then data": "\x00\x00data", "a PNG": "\x89PNG\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "token")
			check := func(when string, err error) {
				t.Helper()
				var foreign *ForeignError
				if !errors.As(err, &foreign) || !strings.Contains(err.Error(), "give state.file a path of its own") || strings.Contains(err.Error(), "s3cr3t") {
					t.Errorf("%s: %v, want a ForeignError that says what to do and shows nothing", when, err)
				}
				if got, err := os.ReadFile(path); err != nil || string(got) != content {
					t.Errorf("%s: the file holds %q (%v), want it untouched", when, got, err)
				}
			}
			later := open(t, path)
			if err := os.WriteFile(path, []byte(content), 0o400); err != nil {
				t.Fatal(err)
			}
			_, err := later.Load(context.Background())
			check("loading", err)
			if err := later.Save(context.Background(), sample()); err == nil {
				t.Error("saved over it")
			}
			if err := later.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{path + ".lock", path + ".write", path + ".tmp"} {
				if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
			}
			_, err = OpenFile(path, Options{})
			check("opening", err)
			if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
				t.Errorf("beside it lies something new: %v (%v)", left, err)
			}
		})
	}
}
