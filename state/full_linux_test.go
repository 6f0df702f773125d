package state

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// A full disk by /dev/full, which only Linux has.
func TestAFailedSaveKeepsTheOldDocument(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	s := open(t, path)
	load(t, s)
	if err := s.Save(context.Background(), sample()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", path+".tmp"); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(context.Background(), Document{}); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("saving on a full disk: %v, want an error that says so", err)
	}
	if d := load(t, s); !reflect.DeepEqual(d, sample()) {
		t.Errorf("after the failed save the file holds %+v", d)
	}
	if err := s.Save(context.Background(), sample()); err != nil {
		t.Errorf("saving once there is room again: %v", err)
	}
}
