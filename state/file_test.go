package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func open(t *testing.T, path string) *File {
	t.Helper()
	s, err := OpenFile(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func load(t *testing.T, s *File) Document {
	t.Helper()
	d, err := s.Load(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestStoreKeepsADocument(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	first := open(t, path)
	if d := load(t, first); !reflect.DeepEqual(d, Document{Version: version}) {
		t.Errorf("the first run starts with %+v, want an empty document", d)
	}
	if err := first.Save(context.Background(), sample()); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if d := load(t, open(t, path)); !reflect.DeepEqual(d, sample()) {
		t.Errorf("the second run starts with %+v, want %+v", d, sample())
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v, want 0600", info.Mode().Perm())
	}
	if _, err := os.Stat(path + ".tmp"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary file is left behind: %v", err)
	}
}

func TestOpenSaysWhatToDo(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, path, want string }{
		{"no folder", filepath.Join(folder, "missing", "state"), "create it"},
		{"a file for a folder", filepath.Join(file, "state"), "not a"},
		{"a folder for a file", folder, "not a regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := OpenFile(tt.path, Options{})
			if err == nil {
				t.Fatal("opened", s.Close(context.Background()))
			}
			if !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.path) {
				t.Errorf("opening: %v, want %q and the path in it", err, tt.want)
			}
		})
	}
}

func TestASecondPerchIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	first := open(t, path)
	_, err := OpenFile(path, Options{})
	var locked *LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("opening a second time: %v, want a LockedError", err)
	}
	if want := fmt.Sprintf("pid %d ", os.Getpid()); !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
		t.Errorf("the error %q lacks %q or the path", err, want)
	}
	if err := first.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	open(t, path)
}

// TestLockByExistence: the lock of systems without flock, which every system
// can run.
func TestLockByExistence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	held, err := lockByExistence(path, path+".lock")
	if err != nil {
		t.Fatal(err)
	}
	_, err = lockByExistence(path, path+".lock")
	var locked *LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("locking a second time: %v, want a LockedError", err)
	}
	if want := fmt.Sprintf("pid %d ", os.Getpid()); !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "remove") {
		t.Errorf("the error %q lacks %q or what to do", err, want)
	}
	if err := held.release(); err != nil {
		t.Fatal(err)
	}
	again, err := lockByExistence(path, path+".lock")
	if err != nil {
		t.Fatalf("locking what was released: %v", err)
	}
	if err := again.release(); err != nil {
		t.Fatal(err)
	}
}

func TestUnreadableFilesAreKeptAside(t *testing.T) {
	tests := []struct {
		name, suffix string
		content      []byte
		newer        bool
	}{
		{"cut short", ".corrupt-", pack(t, `{"version":1}`)[:12], false},
		{"cut to a byte", ".corrupt-", []byte{0x1f}, false},
		{"zeros of a power cut", ".corrupt-", make([]byte, 4096), false},
		{"a flipped bit", ".corrupt-", flip(pack(t, `{"version":1}`)), false},
		{"newer", ".newer-", pack(t, `{"version":99}`), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state")
			s := open(t, path)
			var names []string
			for range 3 { // thrice within one second: each copy has its own name
				if err := os.WriteFile(path, tt.content, 0o600); err != nil {
					t.Fatal(err)
				}
				d, err := s.Load(context.Background())
				var aside *AsideError
				if !errors.As(err, &aside) {
					t.Fatalf("loading: %v, want an AsideError", err)
				}
				if aside.Newer != tt.newer || !strings.Contains(aside.Aside, tt.suffix) || !strings.Contains(err.Error(), aside.Aside) {
					t.Errorf("kept aside as %+v, want %q in the name and the name in the error", aside, tt.suffix)
				}
				if !reflect.DeepEqual(d, Document{Version: version}) {
					t.Errorf("goes on with %+v, want an empty document", d)
				}
				if err := s.Save(context.Background(), sample()); err != nil {
					t.Fatal(err)
				}
				names = append(names, aside.Aside)
			}
			for i, name := range names {
				kept, err := os.ReadFile(name)
				if err != nil || !bytes.Equal(kept, tt.content) {
					t.Errorf("copy %d holds %q (%v), want %q", i, kept, err, tt.content)
				}
			}
		})
	}
}

func TestSaveNeverReplacesWhatItDoesNotKnow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	precious := pack(t, `{"version":1}`)
	if err := os.WriteFile(path, precious, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	if err := s.Save(context.Background(), sample()); err == nil {
		t.Error("saved before loading")
	}
	if content, err := os.ReadFile(path); err != nil || !bytes.Equal(content, precious) {
		t.Errorf("the file holds %q (%v)", content, err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(context.Background(), sample()); err == nil {
		t.Error("saved after closing")
	}
}
