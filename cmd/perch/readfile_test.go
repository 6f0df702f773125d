package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFileIsBounded(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	small, link, large := filepath.Join(folder, "small"), filepath.Join(folder, "link"), filepath.Join(folder, "large")
	writeFile(t, small, "token")
	writeFile(t, large, strings.Repeat("x", mostRead+1))
	if err := os.Symlink(small, link); err != nil { // a mounted Secret is made of such
		t.Fatal(err)
	}
	for _, name := range []string{small, link} {
		if got, err := readFile(name); err != nil || string(got) != "token" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	// A device has no end: the file's kind is looked at before it is read.
	for name, says := range map[string]string{large: "larger than", folder: "regular file", os.DevNull: "regular file", small + "x": "no such file"} {
		if _, err := readFile(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want an error that says %q", name, err, says)
		}
	}
}
