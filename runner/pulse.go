package runner

import (
	"context"
	"sync"
	"time"

	"perch.example/probes"
)

// lookAgain is how long it is believed that no mesh's sidecar stands beside perch.
const lookAgain = time.Minute

// pulse is what the waves under way share of what is measured of perch's own pod:
// 200 waves a second must not read the pod's files each. It beats from the first
// wave's begin to the last one's end.
type pulse struct {
	listens func(ctx context.Context, address string) bool // nil: nothing of this machine's is on the way

	mu     sync.Mutex
	waves  int
	pod    *ownPod
	late   *lateness
	mesh   *meshLook
	looked time.Time
}

// enter begins a wave, and gives it what it asks of the pod.
func (p *pulse) enter(env *probes.Env) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waves++; p.waves == 1 {
		p.pod = newOwnPod(hostSystem())
		p.late = watchLateness(context.Background(), p.pod.sample)
	}
	pod, late := p.pod, p.late
	env.Own = func(since time.Time) probes.OwnPod { return pod.since(since, late.since(since)) }
	if p.listens == nil {
		return
	}
	if p.mesh == nil || p.mesh.over() && p.mesh.words == "" && time.Since(p.looked) >= lookAgain {
		p.mesh, p.looked = lookForMesh(context.Background(), p.listens), time.Now()
	}
	env.Mesh = p.mesh.found
}

// exit ends a wave, and returns the samples that no other one has taken.
func (p *pulse) exit() []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waves--; p.waves > 0 {
		return p.late.take()
	}
	samples := p.late.stop()
	p.pod.close()
	if p.mesh != nil && !p.mesh.over() { // whoever comes next looks
		p.mesh.end()
		p.mesh = nil
	}
	return samples
}
