package probes

import "time"

// OwnPod is what was measured of perch's own pod while an attempt ran: what
// could make a failure perch's own. The zero value: nothing was measured.
type OwnPod struct {
	Stalled        time.Duration // the longest time for which perch itself stood still; 0: not seen
	Throttled      time.Duration // for how long the kernel kept perch's cgroup from the CPU, by its quota
	ThrottledKnown bool          // whether there is a cgroup that tells
	Descriptors    Usage         // open file descriptors against the process's limit
	Ports          Usage         // sockets of this network namespace against its range of local ports
	Exhausted      Resource      // what the system refused for want of more; empty: nothing
}

// Usage is how much of something bounded is in use. A zero Limit: not known.
type Usage struct{ Used, Limit int }

// Resource is something of the pod's own that can run out.
type Resource string

// The resources whose end the system names by an error of its own.
const (
	ResourceDescriptors Resource = "file descriptors" // EMFILE, ENFILE
	ResourcePorts       Resource = "local ports"      // EADDRNOTAVAIL
)
