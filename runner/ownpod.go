package runner

import (
	"io"
	"io/fs"
	"sync"
	"time"

	"perch.example/probes"
)

// system is what the machine tells of perch's own process. The zero value tells
// nothing, as every system but Linux does.
type system struct {
	open        func(name string) (fs.File, error) // an absolute name under /proc or a cgroup's mount
	descriptors func() probes.Usage
}

// ownPod measures perch's own pod: what may make a failure perch's own. The
// throttling is sampled all the time, for afterwards nothing tells when it was;
// the rest is read once something has failed.
type ownPod struct {
	system system

	mu        sync.Mutex
	throttles []io.ReaderAt // the cpu.stat of perch's cgroups; empty: none tells
	levels    levels
	usage     usage
}

// usage is what was counted last: a storm of failures asks for it at once.
type usage struct {
	at                 time.Time
	descriptors, ports probes.Usage
}

func newOwnPod(s system) *ownPod {
	p := &ownPod{system: s}
	if s.open != nil {
		p.throttles = openThrottles(s)
	}
	p.sample()
	return p
}

// sample reads how long perch has been throttled up to now.
func (p *ownPod) sample() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if total, ok := throttled(p.throttles); ok {
		p.levels.add(time.Now(), total)
	}
}

// since returns what was measured since then; stalled is the longest stall.
func (p *ownPod) since(from time.Time, stalled time.Duration) probes.OwnPod {
	p.sample()
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	out := probes.OwnPod{Stalled: stalled}
	out.Throttled, out.ThrottledKnown = p.levels.since(from, now)
	if now.Sub(p.usage.at) >= lateEvery {
		p.usage = p.count(now)
	}
	out.Descriptors, out.Ports = p.usage.descriptors, p.usage.ports
	return out
}

// count counts what is bounded.
func (p *ownPod) count(now time.Time) usage {
	u := usage{at: now}
	if p.system.descriptors != nil {
		u.descriptors = p.system.descriptors()
	}
	if p.system.open != nil {
		u.ports = p.system.ports()
	}
	return u
}

func (p *ownPod) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.throttles {
		if c, ok := f.(io.Closer); ok {
			_ = c.Close() // it was only read
		}
	}
	p.throttles = nil
}

// mostRead bounds what is read of a file: the lists of mounts on a node with
// many containers are the longest.
const mostRead = 1 << 20

// read returns a file's text; nil: there is none that can be read.
func (s system) read(name string) []byte {
	f, err := s.open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, mostRead))
	if err != nil {
		return nil
	}
	return text
}
