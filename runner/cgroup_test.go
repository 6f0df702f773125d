package runner

import (
	"bytes"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

func TestWhereTheCgroupIs(t *testing.T) {
	const v2 = "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	for _, tt := range []struct{ name, own, mounts, mount, dir string }{
		{"on a node", "0::/a.slice/b\n", v2, "/sys/fs/cgroup", "/sys/fs/cgroup/a.slice/b"},
		{"a container's own", "0::/\n", v2, "/sys/fs/cgroup", "/sys/fs/cgroup"},
		{"a container without its own names", "0::/kubepods/pod1/c\n", "1 2 0:30 /kubepods/pod1/c /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "/sys/fs/cgroup", "/sys/fs/cgroup"},
		{"below what the mount shows", "0::/kubepods/pod1/c/child\n", "1 2 0:30 /kubepods/pod1/c /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "/sys/fs/cgroup", "/sys/fs/cgroup/child"},
		{"another's mount", "0::/kubepods/pod10\n", "1 2 0:30 /kubepods/pod1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "/sys/fs/cgroup", "/sys/fs/cgroup"},
		{"above its namespace", "0::/../pod2/c\n", v2, "/sys/fs/cgroup", "/sys/fs/cgroup"},
		{"the nearest mount", "0::/a/b\n", v2 + "1 2 0:30 /a /mnt/a rw - cgroup2 cgroup2 rw\n", "/mnt/a", "/mnt/a/b"},
		{"v1 before v2", "4:cpu,cpuacct:/x\n0::/y\n", v2 + "1 2 0:9 / /sys/fs/cgroup/cpu rw shared:3 - cgroup cgroup rw,cpu,cpuacct\n", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu/x"},
		{"v1 is not mounted", "4:cpu:/x\n0::/y\n", v2, "/sys/fs/cgroup", "/sys/fs/cgroup/y"},
		{"only cpuset is v1", "4:cpuset:/x\n0::/y\n", v2, "/sys/fs/cgroup", "/sys/fs/cgroup/y"},
		{"a name with a colon", "0::/a:b\n", v2, "/sys/fs/cgroup", "/sys/fs/cgroup/a:b"},
		{"a mount with a blank", "0::/\n", `1 2 0:30 / /sys\040fs/cg rw - cgroup2 cgroup2 rw`, "/sys fs/cg", "/sys fs/cg"},
		{"not mounted", "0::/\n", "1 2 0:3 / /proc rw - proc proc rw\n", "", ""},
		{"no cgroup", "", v2, "", ""},
	} {
		c, ok := cpuCgroup([]byte(tt.own), []byte(tt.mounts))
		if c.mount != tt.mount || c.dir != tt.dir || ok != (tt.dir != "") {
			t.Errorf("%s: %+v, %v; want %s, %s", tt.name, c, ok, tt.mount, tt.dir)
		}
	}
}

func TestThrottledIn(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"nr_throttled 3\nthrottled_usec 12\n": 12 * time.Microsecond,
		"throttled_time 12":                   12,
		"throttled_usec 0\n":                  0,
		"usage_usec 12\n":                     -1,
		"":                                    -1,
		"throttled_usec\n":                    -1,
		"throttled_usec -3\n":                 -1,
		"throttled_usec 9223372036854775807":  -1, // microseconds that no Duration holds
		"throttled_usec 1e3":                  -1,
	} {
		got, ok := throttledIn([]byte(text))
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %s, %v; want %d", text, got, ok, want)
		}
	}
}

// Whatever the files say, a cgroup lies at or below its mount, and no text makes
// time run backwards.
func FuzzCgroupFiles(f *testing.F) {
	for _, tree := range []string{"v1", "v2", "nested", "hybrid", "garbage"} {
		read := func(name string) []byte {
			text, _ := os.ReadFile(path.Join("testdata/pods", tree, name))
			return text
		}
		f.Add(read("proc/self/cgroup"), read("proc/self/mountinfo"), read("sys/fs/cgroup/cpu.stat"))
	}
	f.Fuzz(func(t *testing.T, own, mounts, stat []byte) {
		if c, ok := cpuCgroup(own, mounts); ok {
			if !path.IsAbs(c.mount) || c.dir != c.mount && c.mount != "/" && !strings.HasPrefix(c.dir, c.mount+"/") {
				t.Errorf("%+v", c)
			}
		}
		if d, ok := throttledIn(stat); d < 0 || !ok && d != 0 || ok && !bytes.Contains(stat, []byte("throttled_")) {
			t.Errorf("%q: %s, %v", stat, d, ok)
		}
	})
}

func FuzzPortFiles(f *testing.F) {
	f.Add("TCP: inuse 140 orphan 2 tw 60 alloc 200 mem 12\n", "32768\t60999\n")
	f.Add("TCP6: inuse 5\n", "1 65535")
	f.Add("TCP: inuse lots tw\n", "0 0")
	f.Fuzz(func(t *testing.T, sockets, ports string) {
		if n, ok := tcpSockets(sockets); n < 0 || !ok && n != 0 {
			t.Errorf("%q: %d, %v", sockets, n, ok)
		}
		if n := portRange(ports); n < 0 || n > 1<<16 {
			t.Errorf("%q: %d ports", ports, n)
		}
	})
}

func TestPorts(t *testing.T) {
	for text, want := range map[string]int{"32768\t60999\n": 28232, "5 5": 1, "0 5": 0, "9 5": 0, "1 65536": 0, "1": 0, "": 0} {
		if got := portRange(text); got != want {
			t.Errorf("%q: %d ports, want %d", text, got, want)
		}
	}
	if got := pod("garbage").ports(); got != (probes.Usage{}) {
		t.Errorf("garbage: %+v", got)
	}
}
