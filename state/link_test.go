package state

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A state behind a link stays where the link leads, and has one lock.
func TestStateBehindALink(t *testing.T) {
	real, link := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "state")
	save := func(path string) {
		t.Helper()
		s, err := OpenFile(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close(context.Background()) }()
		d, err := s.Load(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		d.AddRequests("api", at("2026-03-01T10:00:00Z").Add(time.Hour), 1)
		if err := s.Save(context.Background(), d); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenFile(real, Options{}); err == nil {
			t.Errorf("%s and the file it leads to were opened together", path)
		}
	}
	save(real)
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	save(link)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info.Mode(), err)
	}
	s, err := OpenFile(real, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(context.Background()) }()
	if d, err := s.Load(context.Background()); err != nil || d.Daily["api"].Requests != 2 {
		t.Errorf("%d requests are remembered, %v; want 2", d.Daily["api"].Requests, err)
	}
}

func TestStateBehindALinkToNothing(t *testing.T) {
	target, link := filepath.Join(t.TempDir(), "not there"), filepath.Join(t.TempDir(), "state")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	_, err := OpenFile(link, Options{})
	_, looked := ReadFile(link)
	for _, err := range []error{err, looked} {
		if err == nil || !strings.Contains(err.Error(), target) || !strings.Contains(err.Error(), "touch") {
			t.Errorf("a link to nothing: %v, want what to do", err)
		}
	}
	must(t, os.WriteFile(target, nil, 0o600)) // as it says
	s := open(t, link)
	if err := s.Save(t.Context(), load(t, s)); err != nil {
		t.Errorf("once it is there: %v", err)
	}
}
