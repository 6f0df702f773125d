//go:build peers

package cluster

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Program finds a program that a test needs, and fails the test without it.
func Program(t testing.TB, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(cache, "perch", "bin", name)
	if info, err := os.Stat(own); err == nil && info.Mode().IsRegular() {
		return own
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("the peers suite needs %s (.ci/run installs it): %v", name, err)
	}
	return path
}

// Process is a program that runs until the test ends.
type Process struct {
	name  string
	done  chan struct{}
	out   *log
	group int
}

// Run starts a program in a process group of its own and kills that group with
// the test: what it keeps is thrown away, too, and an API server takes seconds to
// end in order. The end of what it said is logged if the test failed.
func Run(t testing.TB, name string, args ...string) *Process {
	t.Helper()
	cmd := exec.Command(Program(t, name), args...)
	p := &Process{name: name, done: make(chan struct{}), out: &log{most: mostLog}}
	cmd.Stdout, cmd.Stderr = p.out, p.out
	// A test that panics or is killed ends its programs too.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		// The signal of Pdeathsig is for the death of the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		t.Fatalf("starting %s: %v", name, err)
	}
	p.group = cmd.Process.Pid
	t.Cleanup(func() {
		_ = syscall.Kill(-p.group, syscall.SIGKILL)
		<-p.done
		if t.Failed() {
			t.Logf("%s said last:\n%s", name, p.out)
		}
	})
	return p
}

// await asks until there is no error, and fails the test after the time or when
// the program has ended.
func (p *Process) await(t testing.TB, within time.Duration, ask func() error) {
	t.Helper()
	Await(t, within, p.name, func() error {
		select {
		case <-p.done:
			t.Fatalf("%s has ended:\n%s", p.name, p.out)
		default:
		}
		return ask()
	})
}

// Await asks, a few times a second, until there is no error. After the time it
// fails the test with the last one.
func Await(t testing.TB, within time.Duration, what string, ask func() error) {
	t.Helper()
	end := time.Now().Add(within)
	for {
		err := ask()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waiting for %s, %s long: %v", what, within, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// mostLog is how much of a program's output is kept: an API server is talkative.
const mostLog = 4 << 10

// log keeps what a program says.
type log struct {
	most int // only so much, of the end; 0: all

	mu   sync.Mutex
	said []byte
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, p...)
	if extra := len(l.said) - l.most; l.most > 0 && extra > 0 {
		l.said = append(l.said[:0], l.said[extra:]...)
	}
	return len(p), nil
}

// String returns whole lines.
func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.most == 0 || len(l.said) < l.most {
		return string(l.said)
	}
	_, whole, _ := bytes.Cut(l.said, []byte("\n"))
	return fmt.Sprintf("[...]\n%s", whole)
}
