package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"perch.example/metrics"
	"perch.example/state"
)

// lead is a replica's part in the election of the one that probes. Its Lease is the
// state's own: who has it may write there, and nobody else sends. nil: perch serve is
// alone.
type lead struct {
	log *slog.Logger
	// end ends the process: what it was about to send must not leave. It comes up again
	// as one that stands by.
	end func(error)

	mu     sync.Mutex
	sure   func(time.Time) bool // nil: it does not lead
	stands string               // who leads, while it stands by; empty: it does not, or cannot see
}

// elects makes a service one of several replicas.
func (s *service) elects() error {
	if s.cfg.State.ConfigMap == "" {
		return errors.New("--elect: replicas elect the one that probes by the Lease of the state's ConfigMap, and the config names none, so that each would probe; write state: {configmap: NAME}, or run one replica without --elect")
	}
	s.lead = &lead{log: s.log, end: func(err error) { s.end(&leadError{err}) }}
	return nil
}

// leadError says that a replica does not surely lead any more.
type leadError struct{ err error }

func (e *leadError) Error() string {
	return "this replica does not surely lead any more, and two would probe at once; started again, it stands by: " + e.err.Error()
}

func (e *leadError) Unwrap() error { return e.err }

// standBy prepares a pass that waits for its turn, and shows what a standby shows.
func (s *service) standBy(p *pass) {
	if s.lead == nil {
		return
	}
	p.fence = s.lead.fence
	p.turn.waiting = func(locked *state.LockedError) { s.sayLeader(leaderOf(locked)) }
	unseen := s.waitingFor("standing by, and who leads cannot be seen", func(err error) {
		s.log.Warn("standing by: who leads cannot be seen", "error", err)
	})
	p.turn.election = &state.Election{
		Lost: s.lead.end,
		Unseen: func(err error) {
			s.lead.standsBehind("")
			unseen(err)
		},
	}
	m := metrics.NewStandby(p.metricsOptions())
	m.Reloaded(true, s.sys.clock())
	s.show(m)
}

// show answers scrapes with these metrics from now on.
func (s *service) show(m *metrics.Metrics) {
	scrape := m.Handler(s.log)
	s.scrape.Store(&scrape)
}

// sayLeader says behind whom perch stands: to /readyz, and to the log when it is
// another one.
func (s *service) sayLeader(name string) {
	if s.lead.standsBehind(name) {
		s.log.Info("standing by", "leader", name)
	}
	s.health.setReady()
}

// leaderOf is who holds the Lease, as people know it: the Pod.
func leaderOf(locked *state.LockedError) string {
	name, _, _ := strings.Cut(locked.Holder, "_")
	return name
}

// begin takes over, and makes what all waves share: from here on perch sends.
func (l *lead) begin(p *pass, makeShared func()) error {
	if l == nil {
		makeShared()
		return nil
	}
	held, ok := p.store.(interface{ Sure(time.Time) bool })
	if !ok {
		return fmt.Errorf("a bug in perch: a %T elects nobody", p.store)
	}
	l.take(held.Sure)
	makeShared()
	p.metrics.Leads(true)
	return nil
}

// standsBehind notes who leads, and reports whether that is another one.
func (l *lead) standsBehind(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.stands
	l.stands = name
	return name != before
}

func (l *lead) take(sure func(time.Time) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sure, l.stands = sure, ""
	l.log.Info("this replica leads")
}

// fence is asked right before anything leaves.
func (l *lead) fence() error {
	l.mu.Lock()
	sure := l.sure
	l.mu.Unlock()
	if sure != nil && sure(time.Now()) {
		return nil
	}
	err := errors.New("the Lease was not renewed in time")
	l.end(err)
	return &leadError{err}
}

// behind is who leads, while it stands by; empty: it does not.
func (l *lead) behind() string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stands
}

// role is what the status page says of it.
func (l *lead) role() string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sure != nil {
		return "leader"
	}
	return "standing by"
}

// readyz answers the kubelet. A replica that stands by is as ready as it can be: a
// rollout of two waits for no second leader.
func (s *service) readyz(w http.ResponseWriter, _ *http.Request) {
	why := s.health.unready()
	if by := s.lead.behind(); by != "" && why == "" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "standing by: "+by+" leads\n") // who went away asks again
		return
	}
	answer(w, why)
}
