//go:build soak

package soak

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// What the perch under test has, and the shipped one has not: a wall clock that
// can be stepped, in the whole process, a word of how many goroutines it runs and
// how much of its heap lived through the last collection, and a collection when it is told.
// A step of the machine's own clock would meet everybody on it, and a time
// namespace has no wall clock; so perch is built with an overlay of Go's own
// package time, in which Now adds a number, and of one more file in package main.
// The monotonic clock stays as it is, as it does when a real clock is stepped.
const (
	controlEnv = "PERCH_SOAK_CONTROL"

	nowAsItIs   = "sec, nsec, mono := runtimeNow()\n\tif mono == 0 {"
	nowStepped  = "sec, nsec, mono := runtimeNow()\n\tsec += Step.Load()\n\tif mono == 0 {"
	importAsIs  = "import (\n"
	importMore  = "import (\n\t\"sync/atomic\"\n"
	stepDeclare = "\n// Step is by how many seconds the wall clock is wrong.\nvar Step atomic.Int64\n"

	controlFile = `package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

func init() {
	dir := os.Getenv("` + controlEnv + `")
	if dir == "" {
		return
	}
	go func() {
		collected := ""
		for range time.Tick(100 * time.Millisecond) {
			wanted, _ := os.ReadFile(filepath.Join(dir, "collect"))
			if string(wanted) != collected {
				debug.FreeOSMemory()
				collected = string(wanted)
			}
			text, err := os.ReadFile(filepath.Join(dir, "clock"))
			if seconds, wrong := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && wrong == nil {
				time.Step.Store(seconds)
			}
			live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
			metrics.Read(live)
			said := strconv.Itoa(runtime.NumGoroutine()) + " " + strconv.FormatUint(live[0].Value.Uint64(), 10) + " " + collected + "\n"
			_ = os.WriteFile(filepath.Join(dir, "holds"), []byte(said), 0o600)
		}
	}()
}
`
)

// controlled builds such a perch, once.
var controlled = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // built once for all tests
	dir := filepath.Dir(built.perch)
	overlay, err := overlayIn(dir)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "perch-controlled")
	args := []string{"build", "-overlay", overlay, "-trimpath", "-o", path}
	if *raced {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, "perch.example/cmd/perch")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building perch with a clock that can be stepped: %w\n%s", err, out)
	}
	return path, nil
})

func overlayIn(dir string) (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	source := string(text)
	if strings.Count(source, nowAsItIs) != 1 || !strings.Contains(source, importAsIs) {
		return "", errors.New("this Go's time.Now is another one than that which the overlay knows")
	}
	source = strings.Replace(strings.Replace(source, nowAsItIs, nowStepped, 1), importAsIs, importMore, 1) + stepDeclare
	module, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	replaced := map[string]string{original: filepath.Join(dir, "time.go"), filepath.Join(module, "cmd", "perch", "soak_control.go"): filepath.Join(dir, "control.go")}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, errors.Join(
		os.WriteFile(filepath.Join(dir, "time.go"), []byte(source), 0o600),
		os.WriteFile(filepath.Join(dir, "control.go"), []byte(controlFile), 0o600),
		os.WriteFile(path, overlay, 0o600))
}

// control is the folder through which such a perch is told, and tells.
type control string

// step makes its wall clock wrong by that much.
func (c control) step(t *testing.T, by time.Duration) {
	t.Helper()
	c.say(t, "clock", strconv.Itoa(int(by/time.Second)))
}

// say writes a file at once: it is never read half.
func (c control) say(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(string(c), name)
	write(t, path+".new", text)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// collect has it collect its garbage and give back what memory it does not use, and
// returns its live heap, in bytes. Called one at a time.
func (c control) collect(t *testing.T) (live int64) {
	t.Helper()
	name := strconv.FormatInt(time.Now().UnixNano(), 10)
	c.say(t, "collect", name)
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, live, collected := c.said(); collected == name {
			return live
		}
	}
	t.Errorf("it did not collect its garbage in 10 s")
	return 0
}

// holds is how many goroutines it last said it runs, and its live heap, in bytes; 0:
// it has not said yet, or is just saying it.
func (c control) holds() (goroutines int, live int64) {
	goroutines, live, _ = c.said()
	return goroutines, live
}

// said is what it last said, and the name of the collection that was made before.
func (c control) said() (goroutines int, live int64, collected string) {
	text, err := os.ReadFile(filepath.Join(string(c), "holds"))
	if err != nil || !strings.HasSuffix(string(text), "\n") {
		return 0, 0, ""
	}
	if n, _ := fmt.Sscan(string(text), &goroutines, &live, &collected); n < 2 {
		return 0, 0, ""
	}
	return goroutines, live, collected
}
