package runner

import (
	"bytes"
	"io"
	"path"
	"strconv"
	"strings"
	"time"
)

// mostCgroups bounds how far up the tree of cgroups is looked.
const mostCgroups = 32

// openThrottles opens what tells of perch's CPU throttling: the cpu.stat of its
// cgroup and of those above it, as far as they can be seen, for a quota counts
// where it was set. In a container that sees none of those above, its own is the
// mount itself, whatever path the kernel gives.
func openThrottles(s system) []io.ReaderAt {
	where, ok := cpuCgroup(s.read("/proc/self/cgroup"), s.read("/proc/self/mountinfo"))
	if !ok {
		return nil
	}
	var open []io.ReaderAt
	for n, dir := 0, where.dir; n < mostCgroups; n, dir = n+1, path.Dir(dir) {
		f, err := s.open(path.Join(dir, "cpu.stat"))
		if err == nil {
			r, ok := f.(io.ReaderAt)
			if ok {
				_, ok = throttled([]io.ReaderAt{r})
			}
			if ok {
				open = append(open, r)
			} else {
				_ = f.Close() // v2's root counts no throttling
			}
		}
		if dir == where.mount || dir == path.Dir(dir) {
			break
		}
	}
	return open
}

// throttled adds up for how long the cgroups were throttled so far. False: none
// tells.
func throttled(stats []io.ReaderAt) (total time.Duration, ok bool) {
	var text [1024]byte
	for _, f := range stats {
		n, err := f.ReadAt(text[:], 0)
		if err != nil && err != io.EOF { //nolint:errorlint // a ReaderAt returns it bare
			continue
		}
		if d, told := throttledIn(text[:n]); told {
			total, ok = total+d, true
		}
	}
	return total, ok
}

// throttledIn reads a cpu.stat: cgroup v2 counts microseconds, v1 nanoseconds.
func throttledIn(stat []byte) (time.Duration, bool) {
	for line := range bytes.Lines(stat) {
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		unit := time.Duration(0)
		switch string(name) {
		case "throttled_usec":
			unit = time.Microsecond
		case "throttled_time":
			unit = time.Nanosecond
		default:
			continue
		}
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || n < 0 || n > int64(1<<62/unit) {
			return 0, false
		}
		return time.Duration(n) * unit, true
	}
	return 0, false
}

// cgroup is where a cgroup's files are: dir is at or below mount.
type cgroup struct{ mount, dir string }

// cpuCgroup finds the cgroup that bounds perch's CPU time, by the texts of
// /proc/self/cgroup and /proc/self/mountinfo: v1's "cpu" hierarchy where the
// machine has one, else v2's. False: there is none, or the texts are odd.
func cpuCgroup(own, mounts []byte) (cgroup, bool) {
	v1, v2 := "", ""
	for line := range strings.Lines(string(own)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(f) < 3 || !strings.HasPrefix(f[2], "/"):
		case f[1] == "" && f[0] == "0":
			v2 = f[2]
		case listed(f[1], "cpu"):
			v1 = f[2]
		}
	}
	if v1 != "" {
		if c, ok := mounted(mounts, v1, func(fs, options string) bool { return fs == "cgroup" && listed(options, "cpu") }); ok {
			return c, true
		}
	}
	if v2 != "" {
		return mounted(mounts, v2, func(fs, _ string) bool { return fs == "cgroup2" })
	}
	return cgroup{}, false
}

// mounted returns where a cgroup is seen: under the mount whose root is the
// nearest above it. A mount that shows none of it is a container's view of its
// own: then the mount is the cgroup.
func mounted(mounts []byte, own string, fits func(fs, options string) bool) (best cgroup, ok bool) {
	longest := -1
	for line := range strings.Lines(string(mounts)) {
		before, after, split := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		if !split || len(f) < 5 || len(g) < 3 || !fits(g[0], g[2]) {
			continue
		}
		root, mount := unescape(f[3]), path.Clean("/"+unescape(f[4]))
		below, inside := within(own, root)
		switch {
		case inside && len(root) > longest:
			longest, best, ok = len(root), cgroup{mount, path.Join(mount, below)}, true
		case !ok:
			best, ok = cgroup{mount, mount}, true
		}
	}
	return best, ok
}

// within returns the part of p below root.
func within(p, root string) (below string, inside bool) {
	if strings.Contains(p, "/..") { // beyond what this namespace shows
		return "", false
	}
	if root == "/" {
		return p, true
	}
	below, inside = strings.CutPrefix(p, root)
	return below, inside && (below == "" || below[0] == '/')
}

// listed reports whether a list with commas has a name.
func listed(list, name string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one == name {
			return true
		}
	}
	return false
}

// unescape undoes how mountinfo writes blanks: \040 and the like.
func unescape(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}
