package lab_test

import (
	"context"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"perch.example/lab"
)

// TestCloseLeavesNothing runs alone, before the parallel tests: goroutines and
// descriptors are counted for the whole process.
func TestCloseLeavesNothing(t *testing.T) {
	// What the runtime opens for itself stays: let it do so now.
	once(t, "healthy")
	goroutines, descriptors := runtime.NumGoroutine(), openFiles(t)
	for _, s := range lab.Scenarios() {
		once(t, s.Name)
	}
	end := time.Now().Add(patience)
	for runtime.NumGoroutine() > goroutines || openFiles(t) > descriptors {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines and %d descriptors, before there were %d and %d",
				runtime.NumGoroutine(), openFiles(t), goroutines, descriptors)
		}
		time.Sleep(time.Millisecond)
	}
}

// once starts a scenario and closes it over a client that has asked and still
// waits, and over one that has not asked.
func once(t *testing.T, name string) {
	t.Helper()
	s, err := lab.Start(context.Background(), name, lab.Options{})
	if err != nil {
		if scenario, _ := lab.Find(name); scenario.Root && os.Geteuid() != 0 {
			return
		}
		t.Fatal(err)
	}
	for range 2 {
		conn, err := net.DialTimeout("tcp", s.Host(), quiet)
		if err != nil {
			continue
		}
		defer func() { _ = conn.Close() }()
		_, _ = conn.Write([]byte(request)) // nonsense where TLS is expected
	}
	if err := s.Close(); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("%s, closed again: %v", name, err)
	}
	if conn, err := net.DialTimeout("tcp", s.Host(), quiet); err == nil {
		_ = conn.Close()
		t.Errorf("%s is still there", name)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}
