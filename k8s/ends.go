package k8s

import (
	"time"

	"perch.example/probes"
)

// The order of ends: the plan's longest wall time, perch's own --deadline, the
// Job's activeDeadlineSeconds, the next run.
const (
	// grace is what the kubelet leaves perch after SIGTERM; perch needs 5 s of it.
	grace = 15 * time.Second
	// around a run that is given all the time it may want: it waits 60 s at most for
	// its turn, and tells and pushes for 60 s at most.
	beyondRun = 2 * time.Minute
	// leastBeyond is what it needs where the schedule is tight: to be cut short, save
	// and report takes 4 s, and the Pod has to start.
	leastBeyond = 20 * time.Second
	// SidecarWait is the most that perch waits for a mesh's sidecar (--wait-for);
	// --deadline has it. Istio's and Linkerd's are ready within a few seconds.
	SidecarWait = 30 * time.Second
	// beforeNext is when the Job is over before the next one is due, which would be
	// left out else.
	beforeNext = 5 * time.Second
)

// ends is when a run and its Job are ended, since their start.
type ends struct {
	deadline time.Duration // --deadline
	active   time.Duration // activeDeadlineSeconds
	late     time.Duration // startingDeadlineSeconds: how late a Job may start
}

// endsOf fits the ends between the longest wall time and the schedule. A quarter
// and 30 s more than the plan says is for what a plan cannot know: a Retry-After, a
// rung that the last run asks for. wait comes before all that: for a sidecar, or 0.
// It reports whether there is room.
func endsOf(longest, wait, gap time.Duration) (ends, bool) {
	deadline := wait + roundUp(longest+longest/4, 30*time.Second)
	active := min(deadline+beyondRun, gap-beforeNext)
	deadline = min(deadline, active-leastBeyond)
	return ends{deadline, active, min(2*time.Minute, gap/2)}, deadline >= wait+roundUp(longest, time.Second)
}

func roundUp(d, unit time.Duration) time.Duration { return (d + unit - 1) / unit * unit }

// mostOfTime is the part of an interval from which on a Pod that is always there
// costs less than one that starts and ends each time.
const mostOfTime = 0.4

// ends says when the schedule's runs end, refuses a schedule that is too tight for
// them, and tells when they take most of it.
func (b *maker) ends(s schedule) ends {
	wall, longest := roundUp(b.plan.Wall, time.Second), roundUp(b.plan.LongestWall, time.Second)
	e, fits := endsOf(b.plan.LongestWall, b.wait(), s.gap)
	if !fits {
		with := probes.Spoken(leastBeyond) + " to start, save and tell"
		if wait := b.wait(); wait > 0 {
			with = probes.Spoken(wait) + " to wait for the sidecar, " + with
		}
		b.refuse("a run takes %s, %s if every timeout is used up, and with %s, and %s before the next, that is more than the schedule's %s: want %s--kind deployment",
			probes.Spoken(wall), probes.Spoken(longest), with, probes.Spoken(beforeNext), probes.Spoken(s.gap), b.roomier())
		return e
	}
	interval, of := s.gap, "the schedule's"
	if b.plan.Every > 0 {
		interval, of = b.plan.Every, "the shortest every,"
	}
	if share := float64(b.plan.Wall) / float64(interval); share > mostOfTime {
		b.note("a run takes %s, which is %.3g%% of %s %s: above 40%%, --kind deployment is the better one, with one Pod that stays",
			probes.Spoken(wall), 100*share, of, probes.Spoken(interval))
	}
	return e
}

// wait is how long a run may wait for a sidecar, before anything else.
func (b *maker) wait() time.Duration {
	if b.o.Path == nil || b.o.Path.Sidecar == nil || b.o.Path.Sidecar.Ready == "" {
		return 0
	}
	return SidecarWait
}

// roomier says which schedule has room for a run; nothing where none has.
func (b *maker) roomier() string {
	for _, i := range intervals() {
		if _, fits := endsOf(b.plan.LongestWall, b.wait(), i); fits {
			if b.plan.Every > 0 {
				return "every: " + probes.Spoken(i) + ", --schedule " + probes.Spoken(i) + " or "
			}
			return "--schedule " + probes.Spoken(i) + " or "
		}
	}
	return ""
}
