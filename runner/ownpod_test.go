package runner

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/probes"
)

// pod is a system whose files are those of a folder.
func pod(folder string) system {
	tree := os.DirFS(path.Join("testdata/pods", folder))
	return system{open: func(name string) (fs.File, error) { return tree.Open(strings.TrimPrefix(name, "/")) }}
}

// Where perch runs, its cgroups and ports are found, or it is said that they are
// not known.
func TestOwnPodOfTrees(t *testing.T) {
	for _, tt := range []struct {
		tree  string
		total time.Duration // throttled since the cgroup was made
		known bool
		ports probes.Usage
	}{
		{"v2", 1812345 * time.Microsecond, true, probes.Usage{Used: 205, Limit: 28232}},
		{"nested", 750 * time.Millisecond, true, probes.Usage{}},
		{"v1", 2500 * time.Millisecond, true, probes.Usage{Used: 7, Limit: 10}},
		{"hybrid", 0, true, probes.Usage{}},
		{"absent", 0, false, probes.Usage{}},
		{"garbage", 0, false, probes.Usage{}},
		{"none", 0, false, probes.Usage{}},
	} {
		p := newOwnPod(pod(tt.tree))
		total, known := throttled(p.throttles)
		if total != tt.total || known != tt.known {
			t.Errorf("%s: throttled %s, known %v; want %s, %v", tt.tree, total, known, tt.total, tt.known)
		}
		got := p.since(time.Now().Add(-time.Second), time.Second)
		want := probes.OwnPod{Stalled: time.Second, ThrottledKnown: tt.known, Ports: tt.ports} // nothing since perch looks
		if got != want {
			t.Errorf("%s: %+v, want %+v", tt.tree, got, want)
		}
		p.close()
	}
}

// What other systems tell is nothing, and reports say so.
func TestOwnPodOfASystemThatTellsNothing(t *testing.T) {
	p := newOwnPod(system{})
	defer p.close()
	if got := p.since(time.Now(), 0); got != (probes.OwnPod{}) {
		t.Errorf("%+v", got)
	}
}

// quota is a cpu.stat that a test writes.
type quota struct {
	fs.File
	text atomic.Value
}

func (q *quota) ReadAt(b []byte, _ int64) (int, error) { return copy(b, q.text.Load().(string)), nil }
func (q *quota) Close() error                          { return nil }

// The ticker samples what nothing tells afterwards.
func TestThrottlingWhileAnAttemptRan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stat := &quota{}
		stat.text.Store("throttled_usec 5000000\n")
		s := pod("v2")
		files := s.open
		s.open = func(name string) (fs.File, error) {
			if path.Base(name) == "cpu.stat" {
				return stat, nil
			}
			return files(name)
		}
		p := newOwnPod(s)
		l := watchLateness(t.Context(), p.sample)
		time.Sleep(time.Second + time.Millisecond) // between two samples
		start := time.Now()
		time.Sleep(time.Second)
		stat.text.Store("throttled_usec 5900000\n")
		time.Sleep(time.Second)
		over := time.Now()
		if got := p.since(start, 0); got.Throttled != 900*time.Millisecond || !got.ThrottledKnown {
			t.Errorf("throttled %s since the attempt began, want 900 ms", got.Throttled)
		}
		if got := p.since(over, 0); got.Throttled != 0 || !got.ThrottledKnown {
			t.Errorf("throttled %s since nothing happened any more", got.Throttled)
		}
		l.stop()
		p.close()
	})
}

// A storm of failures counts descriptors and ports once.
func TestCountingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counted := 0
		p := newOwnPod(system{descriptors: func() probes.Usage {
			counted++
			return probes.Usage{Used: counted, Limit: 100}
		}})
		for range 1000 {
			p.since(time.Now(), 0)
		}
		if counted != 1 {
			t.Errorf("counted %d times for 1000 failures at once", counted)
		}
		time.Sleep(lateEvery)
		if got := p.since(time.Now(), 0); got.Descriptors.Used != 2 {
			t.Errorf("%+v, want it counted anew", got.Descriptors)
		}
	})
}
