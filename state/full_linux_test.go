package state

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// fullEnv makes the test's binary a perch whose disk is full, with the state in
// the path that it names.
const fullEnv = "PERCH_STATE_TEST_FULL"

// A full disk: every write to a file fails. It keeps nobody from probing (the
// lock holds unsigned), what stood there stays, and it goes on once there is
// room. The limit is a process's, so that perch is one of its own.
func TestAFullDisk(t *testing.T) {
	if path := os.Getenv(fullEnv); path != "" {
		signal.Ignore(syscall.SIGXFSZ)
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{}))
		perchOnAFullDisk(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "state")
	save := func() {
		s := open(t, path)
		load(t, s)
		must(t, s.Save(t.Context(), sample()))
		must(t, s.Close(t.Context()))
	}
	save()
	full := exec.Command(os.Args[0], "-test.run=^TestAFullDisk$")
	full.Env = append(os.Environ(), fullEnv+"="+path)
	if out, err := full.CombinedOutput(); err != nil {
		t.Errorf("on a full disk: %v\n%s", err, out)
	}
	if d, err := ReadFile(path); err != nil || !reflect.DeepEqual(d, sample()) {
		t.Errorf("after the failed save the file holds %+v, %v", d, err)
	}
	if left := files(t, filepath.Dir(path)); len(left) != 3 {
		t.Errorf("after the failed save there are %v", left)
	}
	save()
}

func perchOnAFullDisk(t *testing.T, path string) {
	s := open(t, path)
	if _, err := OpenFile(path, Options{}); err == nil {
		t.Error("the state was locked twice")
	}
	if d := load(t, s); !reflect.DeepEqual(d, sample()) {
		t.Errorf("loaded %+v", d)
	}
	if err := s.Save(t.Context(), Document{}); err == nil || !strings.Contains(err.Error(), "file too large") {
		t.Errorf("saving: %v, want an error that says so", err)
	}
	held, err := lockByExistence(path, path+".existence")
	must(t, err)
	must(t, held.release())
}
