//go:build soak

package soak

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// process is a program that runs until the test ends, and what it writes.
type process struct {
	cmd *exec.Cmd
	log logged
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func startProcess(t *testing.T, name string, args ...string) *process {
	t.Helper()
	return startWith(t, nil, name, args...)
}

// startWith is startProcess with more in the environment.
func startWith(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(name, args...)}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", name, err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() }) // where it has not ended by itself
	return p
}

// listening is a program and where it answers.
type listening struct {
	*process
	address string
}

// startPerch runs perch serve, and returns once it probes.
func startPerch(t *testing.T, config string) *listening {
	t.Helper()
	return serving(t, startProcess(t, built.perch, "serve", "--config", config))
}

// serving waits until perch serve says where it answers.
func serving(t *testing.T, p *process) *listening {
	t.Helper()
	said := regexp.MustCompile(`msg=serving address=(\S+)`)
	var address string
	await(t, "perch to serve", func() error {
		found := said.FindStringSubmatch(p.log.String())
		if found == nil {
			return fmt.Errorf("it says: %s", p.log.String())
		}
		address = found[1]
		return nil
	})
	return &listening{process: p, address: address}
}

// awaitSaid waits for its first word: before it a busy machine may not have let it begin,
// and a signal ends it as any program. What waits for its state may be silent for long.
func (p *process) awaitSaid() {
	for end := time.Now().Add(saysWithin); p.log.String() == "" && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
	}
}

// saysWithin is longer than any machine takes to start a program.
const saysWithin = 20 * time.Second

// stop signals it, and returns its exit status; -1 of one that was killed.
func (p *process) stop(t *testing.T, signal os.Signal) int {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Errorf("signalling: %v\n%s", err, p.log.tail())
	}
	began := time.Now()
	_ = p.cmd.Wait() // the status is looked at
	if took := time.Since(began); took > endsWithin {
		t.Errorf("it ended %s after the signal, want within %s\n%s", took, endsWithin, p.log.tail())
	}
	return p.cmd.ProcessState.ExitCode()
}

// endsWithin: 5 s as docs/serve.md says, and what a busy machine adds.
const endsWithin = 8 * time.Second

// checkLog looks for what must never be there.
func (p *process) checkLog(t *testing.T) {
	t.Helper()
	for _, never := range []string{"panic", "a bug in perch", "DATA RACE", "fatal error"} {
		if at := strings.Index(p.log.String(), never); at >= 0 {
			t.Errorf("the log says %q: ...%.2000s", never, p.log.String()[max(0, at-200):])
		}
	}
}

// logged is what a process wrote. Safe for concurrent use.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// tail is its end.
func (l *logged) tail() string {
	text := l.String()
	return text[max(0, len(text)-3000):]
}

// await tries until there is no error, for a minute and a half: a Lease that a killed
// perch held is free half a minute after the next one first looked.
func await(t *testing.T, what string, try func() error) {
	t.Helper()
	deadline := time.Now().Add(90 * time.Second)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waiting for %s: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func awaitAnswer(t *testing.T, url string) {
	t.Helper()
	await(t, url, func() error {
		resp, err := http.Get(url)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d, want 200", resp.StatusCode)
		}
		return nil
	})
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
