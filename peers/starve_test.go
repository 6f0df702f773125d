//go:build peers

package peers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stop stops the process as a scheduler does that has no time for it, and
// returns once it stands still.
func (p *subject) stop(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGSTOP)
	stat := fmt.Sprintf("/proc/%d/stat", p.pid())
	for range 2000 {
		text, err := os.ReadFile(stat)
		if err != nil {
			t.Errorf("reading whether perch stands still: %v", err)
			return
		}
		// The state follows the name, which stands in parentheses.
		if _, rest, _ := strings.Cut(string(text), ") "); strings.HasPrefix(rest, "T") {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("perch did not stop within 2 s of SIGSTOP")
}

// goOn ends a stop.
func (p *subject) goOn(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGCONT)
}

func (p *subject) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(p.pid(), s); err != nil {
		t.Errorf("sending perch %v: %v", s, err)
	}
}

// cpuGroup is a cgroup of the test's own whose processes may be kept from the
// CPU by a quota: what a Kubernetes CPU limit is.
type cpuGroup struct {
	dir     string
	unified bool // version 2
	cpu     int  // the one that its processes run on
	hog     *exec.Cmd
	began   time.Time // a period of its

	mu   sync.Mutex
	gone bool
}

// period is the longest that the kernel takes: each time the quota is used up,
// the group stands still for the rest of it.
const period = time.Second

// newCPUGroup makes a group below this process's own, in whichever version of
// cgroups has a cpu controller that can be written. The error says what was
// tried.
func newCPUGroup(t *testing.T) (*cpuGroup, error) {
	t.Helper()
	var tried []string
	for _, g := range cpuControllers() {
		parent := g.dir
		g.cpu = firstCPU(t)
		g.dir = filepath.Join(parent, fmt.Sprintf("perch-peers-%d-%d", os.Getpid(), time.Now().UnixNano()))
		if err := g.make(parent); err != nil {
			tried = append(tried, err.Error())
			continue
		}
		t.Cleanup(func() { g.remove(t) })
		return g, nil
	}
	return nil, fmt.Errorf("no cpu controller can be written here: %s", strings.Join(append(tried, "end of /proc/self/mountinfo"), "; "))
}

// cpuControllers returns where a cpu controller may be: this process's own
// group in each hierarchy.
func cpuControllers() []*cpuGroup {
	own := map[string]string{} // of a hierarchy's controllers ("": version 2), its path
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 {
			own[f[1]] = f[2]
		}
	}
	var found []*cpuGroup
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	// ID parent major:minor root mountpoint options ... - type source super-options
	line := regexp.MustCompile(`(?m)^\S+ \S+ \S+ (\S+) (\S+) .* - (cgroup2?) \S+ (\S+)$`)
	for _, m := range line.FindAllStringSubmatch(string(mounts), -1) {
		root, at, kind, options := m[1], m[2], m[3], strings.Split(m[4], ",")
		for controllers, path := range own {
			path = strings.TrimPrefix(path, strings.TrimSuffix(root, "/"))
			switch {
			case kind == "cgroup2" && controllers == "":
				found = append(found, &cpuGroup{dir: filepath.Join(at, path), unified: true})
			case kind == "cgroup" && hasCPU(strings.Split(controllers, ",")) && hasCPU(options):
				found = append(found, &cpuGroup{dir: filepath.Join(at, path)})
			}
		}
	}
	return found
}

// firstCPU is one that this process may run on.
func firstCPU(t *testing.T) int {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatalf("reading which CPUs there are: %v", err)
	}
	for n := range 1024 {
		if set.IsSet(n) {
			return n
		}
	}
	t.Fatal("this process may run on no CPU")
	return 0
}

func hasCPU(names []string) bool {
	for _, n := range names {
		if n == "cpu" {
			return true
		}
	}
	return false
}

// make creates the group and tries its quota.
func (g *cpuGroup) make(parent string) error {
	if g.unified {
		// Where it is on already this fails in groups that hold processes.
		_ = os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+cpu"), 0o644)
	}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return err
	}
	if err := g.limit(period); err != nil {
		_ = os.Remove(g.dir)
		return err
	}
	return g.unlimit()
}

// limit lets the group run for quota in each period.
func (g *cpuGroup) limit(quota time.Duration) error {
	if g.unified {
		return g.set("cpu.max", fmt.Sprintf("%d %d", quota.Microseconds(), period.Microseconds()))
	}
	if err := g.set("cpu.cfs_period_us", strconv.FormatInt(period.Microseconds(), 10)); err != nil {
		return err
	}
	return g.set("cpu.cfs_quota_us", strconv.FormatInt(quota.Microseconds(), 10))
}

func (g *cpuGroup) unlimit() error {
	if g.unified {
		return g.set("cpu.max", "max")
	}
	return g.set("cpu.cfs_quota_us", "-1")
}

func (g *cpuGroup) set(file, value string) error {
	return os.WriteFile(filepath.Join(g.dir, file), []byte(value), 0o644)
}

// joining returns the beginning of a command line that runs the rest of it in
// the group and on one CPU: there a neighbour can use up all that there is.
func (g *cpuGroup) joining() []string {
	return []string{"sh", "-c", `echo $$ >"$0" && exec taskset -c "$@"`, filepath.Join(g.dir, "cgroup.procs"), strconv.Itoa(g.cpu)}
}

// ample is a quota that perch alone does not use up, scarce one that its greedy
// neighbour uses up in no time.
const (
	ample  = period / 2
	scarce = period / 100
)

// await starts the greedy neighbour, learns when the group's periods begin, and
// lets the neighbour sleep. It returns as one begins: a whole period lies ahead.
func (g *cpuGroup) await(t *testing.T) {
	t.Helper()
	if g.hog != nil { // of a time before, ended by relieve
		_ = g.hog.Wait()
	}
	greedy := append(g.joining(), "sh", "-c", "while :; do :; done")
	g.hog = exec.Command(greedy[0], greedy[1:]...)
	if err := g.hog.Start(); err != nil {
		t.Fatalf("starting a greedy neighbour: %v", err)
	}
	if err := g.limit(scarce); err != nil {
		t.Fatalf("setting a CPU quota: %v", err)
	}
	// The kernel counts a throttled period when it ends and the next begins. Who looks late
	// does not know when that was.
	before, end := g.stat(t, "nr_throttled"), time.Now().Add(30*period)
	for looked := time.Now(); ; {
		now := g.stat(t, "nr_throttled")
		last := looked
		looked = time.Now()
		if now != before && looked.Sub(last) < exactly {
			break
		}
		before = now
		if looked.After(end) {
			t.Fatal("the greedy neighbour did not get to use up the quota, and be seen at once, in 30 periods")
		}
		time.Sleep(time.Millisecond)
	}
	g.began = time.Now()
	g.wake(t, syscall.SIGSTOP)
	if err := g.limit(ample); err != nil {
		t.Fatalf("setting a CPU quota: %v", err)
	}
}

// exactly is how late a period's begin may be seen.
const exactly = 20 * time.Millisecond

// starve wakes the neighbour and lets the group stand still for the rest of the
// period, at least half of one, or where that took too long for all of the next.
func (g *cpuGroup) starve(t *testing.T) {
	t.Helper()
	if gone := time.Since(g.began) % period; gone > period/2 {
		time.Sleep(period - gone)
	}
	if err := g.limit(scarce); err != nil {
		t.Errorf("setting a CPU quota: %v", err)
	}
	ran, end := g.ran(), time.Now().Add(period)
	g.wake(t, syscall.SIGCONT)
	for g.ran()-ran < scarce*8/10 {
		if time.Now().After(end) {
			t.Error("the greedy neighbour did not get to use up the quota within a period")
			return
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(scarce) // the rest of it
	if gone := time.Since(g.began) % period; gone > period*6/10 {
		time.Sleep(period - gone + 4*scarce) // into the next one, whose quota the neighbour uses up, too
	}
}

func (g *cpuGroup) wake(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := g.hog.Process.Signal(s); err != nil {
		t.Errorf("sending the greedy neighbour %v: %v", s, err)
	}
}

// ran is for how long the neighbour has been on the CPU.
func (g *cpuGroup) ran() time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", g.hog.Process.Pid))
	first, _, _ := strings.Cut(string(text), " ")
	n, _ := strconv.ParseInt(first, 10, 64)
	return time.Duration(n)
}

// relieve ends starve, for good, unless the group is gone already.
func (g *cpuGroup) relieve(t *testing.T) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gone {
		return
	}
	if g.hog != nil {
		_ = g.hog.Process.Kill()
	}
	if err := g.unlimit(); err != nil {
		t.Errorf("taking the CPU quota away: %v", err)
	}
}

// stat reads a number of the group's cpu.stat.
func (g *cpuGroup) stat(t *testing.T, name string) int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.dir, "cpu.stat"))
	if err != nil {
		t.Errorf("reading the group's cpu.stat: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n
		}
	}
	return 0
}

// remove takes the group away; the kernel lets go of ended processes a moment
// late.
func (g *cpuGroup) remove(t *testing.T) {
	t.Helper()
	g.relieve(t)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = true
	if g.hog != nil {
		_ = g.hog.Wait() // killed
	}
	var err error
	for range 200 {
		if err = os.Remove(g.dir); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("taking the cgroup away: %v", err)
}
