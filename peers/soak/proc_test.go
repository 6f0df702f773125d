//go:build soak

package soak

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ticks is USER_HZ, which Linux has settled at 100 for what it tells.
const ticks = 100

// cpuOf is the processor time that a process has used, of its own and in the
// kernel for it.
func cpuOf(t testing.TB, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name may hold anything
	fields := strings.Fields(rest)
	sum := 0
	for _, f := range fields[11:13] { // utime, stime
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatalf("/proc/%d/stat: %q", pid, text)
		}
		sum += n
	}
	return time.Duration(sum) * time.Second / ticks
}

// residentOf is a process's resident memory now, and the most it has ever had, in
// bytes.
func residentOf(t testing.TB, pid int) (now, most int64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			now = kib << 10
		}
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			most = kib << 10
		}
	}
	return now, most
}
