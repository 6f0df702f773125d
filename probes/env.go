package probes

import (
	"context"
	"log/slog"
	"time"

	"perch.example/probes/wire"
)

// Env is what a probe needs from outside. The runner makes one for each step.
type Env struct {
	Dial        wire.DialFunc    // nil: the real network
	Resolve     wire.ResolveFunc // nil: the system's resolver
	Chains      *wire.Chains     // what handshakes showed, shared by a run's connections; nil: each has its own
	Secrets     ReadSecret       // reads headers' and parameters' sources
	ReadFile    func(string) ([]byte, error)
	Policy      *Policy        // nil: all that perch can do is allowed
	Descriptors *Descriptors   // what server reflection said to earlier steps; nil: each asks by itself
	Refusals    *ProxyRefusals // of a run; nil: a proxy is asked whatever it answered
	UserAgent   string
	Getenv      func(string) (string, bool) // the environment, which may name a proxy; nil: an empty one
	IDs         *IDs
	Slots       Slots
	Fence       func() error  // why nothing may leave any more: asked right before each dial, and before a token request, which asks no Slots; nil: nothing bars it
	Settler     Settler       // nil: a connection that cannot be opened counts at once
	Learn       func(Attempt) // told of each attempt as it ends, before anything follows it; nil: nobody
	Watch       func(Event)   // nil: nobody watches
	Log         *slog.Logger
	Step        int    // index of the step in the plan
	Turn        uint64 // with addresses: all, whose turn it is: one more with each step of the probe

	// Token returns a bearer token for a spec with OAuth. Its error is as
	// FetchToken's; a *Denied also where the tokens' own budget is used up. nil:
	// there are none.
	Token func(context.Context, *Spec, TokenWish) (Secret, error)

	// Own returns what was measured of perch's own pod since then; nil: nothing
	// is measured. Exhausted is not its to say.
	Own func(since time.Time) OwnPod
	// Mesh returns how a mesh's sidecar was found beside perch, in words for
	// people, or nothing; it may wait a moment for that. nil: not looked for.
	Mesh func() string
}

// Role says for what a request leaves, and so which booking of the plan it uses.
type Role string

// The roles of a request.
const (
	RoleWarm     Role = "warm"     // also the one exchange of an http probe
	RoleDescribe Role = "describe" // server reflection, on a connection of its own before the warm-up's; beyond the one that is booked it uses gaps
	RoleReuse    Role = "reuse"
	RoleControl  Role = "control"
	RoleNext     Role = "next"     // one of many on the same connection, each with a booking
	RoleAgain    Role = "again"    // perch's own second try: uses gaps only
	RoleRedirect Role = "redirect" // a redirect followed: uses gaps only
)

// Slots is a step's part of its target's budget. Every request and every dial
// asks here at the last point before bytes leave. A burst's calls ask side by side.
type Slots interface {
	// Send waits until one request may leave. Its error (a *Denied, or the
	// context's) means that nothing may be sent.
	Send(ctx context.Context, role Role) error
	// HoldUntil says when the held connection will be reused, as soon as the
	// warm-up has ended. False: the budget has no room then and the step ends.
	HoldUntil(reuse time.Time) bool
	// Together waits until a reuse and its control can both leave: for a hold
	// that ended before its time.
	Together(ctx context.Context) error
	// Dial waits until one more connection may be open, and until the request
	// that it is for may leave soon: a connection that waits for the budget
	// could be closed by then. The caller calls release when it is closed.
	Dial(ctx context.Context, role Role) (release func(), err error)
}

// Settler lets a step try again, uncounted, to open a connection while perch's
// own network is coming up: no byte of a request has left then.
type Settler interface {
	// Unopened is told that a connection could not be opened. True: it is to be
	// tried again, which Slots.Dial paces, or the context has ended; false: the
	// failure counts.
	Unopened(ctx context.Context, role Role, why Reason) bool
	// Opened is told that one was opened.
	Opened()
}

// Denied says why a request was not allowed to leave.
type Denied struct {
	Why   string
	Later bool // there is room, but not soon enough for a connection that is open already
}

// Error gives the why.
func (d *Denied) Error() string { return d.Why }

// barred says why nothing may leave any more.
func (e Env) barred() error {
	if e.Fence == nil {
		return nil
	}
	return e.Fence()
}

func (e Env) tell(s *Spec, ev Event) {
	if e.Watch == nil {
		return
	}
	ev.At, ev.Target, ev.Probe, ev.Step = time.Now(), s.Target, s.Probe, e.Step
	e.Watch(ev)
}
