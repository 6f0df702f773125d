package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

// lookEach is how often the files of the config are looked at. A change is taken in
// when two looks in a row see the same: not every editor writes at once, as the kubelet
// does with a ConfigMap.
const lookEach = 2 * time.Second

// readsWithin is how long reading the config may take before that is a mistake of it.
const readsWithin = 10 * time.Second

// files are what a config was read from: a file or a folder, and the platform team's
// policy. Contents are compared, for a ConfigMap's are behind links that change.
type files struct {
	sys  system
	path string
	read string // as they were when they were read last
	seen string // as they were at the last look, where that is another
}

func newFiles(sys system, path string) *files {
	f := &files{sys: sys, path: path}
	f.read = f.print()
	return f
}

// changed looks, and reports whether they are to be read anew. at once: whatever they
// are.
func (f *files) changed(atOnce bool) bool {
	now := f.print()
	if !atOnce && (now == f.read || now != f.seen) {
		f.seen = now
		return false
	}
	f.read, f.seen = now, now
	return true
}

// print is what there is, in one word. What cannot be read has one, too.
func (f *files) print() string {
	h := sha256.New()
	all, err := config.Files(f.path)
	if err != nil {
		all = []config.File{{Name: "", Data: []byte(err.Error())}}
	}
	for _, name := range f.policies() {
		data, err := os.ReadFile(name)
		if err != nil {
			data = []byte(err.Error())
		}
		all = append(all, config.File{Name: name, Data: data})
	}
	for _, one := range all {
		fmt.Fprintf(h, "%q %d\n", one.Name, len(one.Data))
		_, _ = h.Write(one.Data) // a hash's never fails
	}
	return string(h.Sum(nil))
}

// policies are where a policy may be.
func (f *files) policies() []string {
	var all []string
	if f.sys.policy != nil && f.sys.policy.Value.String() != "" {
		all = append(all, f.sys.policy.Value.String())
	}
	if f.sys.mounted != "" {
		all = append(all, f.sys.mounted)
	}
	return all
}

// candidate is a config that was read anew, and why it is refused, if it is.
type candidate struct {
	fit    *fit
	err    error
	policy *probes.Policy // what the platform team allows now; nil: nothing new is known
}

// watch looks for a changed config until ctx ends, and has it taken in. A signal
// (SIGHUP) has it read at once, whatever it is.
func (s *service) watch(ctx context.Context, f *files) {
	t := time.NewTicker(lookEach)
	defer t.Stop()
	for atOnce := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		case <-s.hangup:
			atOnce = true
		}
		late := s.look(ctx, func() *candidate {
			if !f.changed(atOnce) {
				return nil
			}
			c := s.candidate()
			return &c
		})
		if ctx.Err() != nil {
			return
		}
		atOnce = late // what was refused for that is read anew
	}
}

func (s *service) unread() error {
	return fmt.Errorf("%s: reading it has not ended within %s: is it on a mount that is gone, or no file? No change is seen before it does", s.flags.config, readsWithin)
}

// look has the config read, and hands in what is to be taken in of it. Reading may take
// for ever, of a FIFO or of a mount that is gone: then it is refused, and it reports so
// once it could be read after all.
func (s *service) look(ctx context.Context, read func() *candidate) (late bool) {
	seen := make(chan *candidate, 1)
	go func() { seen <- read() }()
	slow := time.NewTimer(readsWithin)
	defer slow.Stop()
	for {
		select {
		case <-ctx.Done():
			return late
		case <-slow.C:
			late = true
			s.handOver(ctx, candidate{err: s.unread()})
		case c := <-seen:
			if c != nil {
				s.handOver(ctx, *c)
			}
			return late
		}
	}
}

// catchUp takes in, before anything is sent, a config that changed while perch waited for
// its turn, which may have been for days: another perch may have begun incidents by it.
// It returns one that is refused; of that only the policy holds.
func (s *service) catchUp(ctx context.Context, p *pass, f **fit) (refused *candidate) {
	if s.files == nil {
		return nil
	}
	type reading struct {
		print string
		c     candidate
	}
	seen := make(chan *reading, 1)
	before := *s.files
	go func() {
		now := before.print()
		if now == before.read {
			seen <- nil
			return
		}
		seen <- &reading{now, s.candidate()}
	}()
	slow := time.NewTimer(readsWithin)
	defer slow.Stop()
	c := candidate{err: s.unread()}
	select {
	case r := <-seen:
		if r == nil {
			return nil
		}
		c, s.files.read, s.files.seen = r.c, r.print, r.print
	case <-slow.C:
	case <-ctx.Done():
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.err == nil {
		*f, s.cfg = c.fit, c.fit.cfg
	} else {
		refused = &c
	}
	if c.policy != nil {
		s.cfg.Policy, s.policy = c.policy, c.policy
	}
	p.cfg = s.cfg
	s.board.configure(s.cfg)
	s.log.Info("the config changed while perch waited for its turn", "refused", refused != nil)
	return refused
}

func (s *service) handOver(ctx context.Context, c candidate) {
	select {
	case s.reloads <- c:
	case <-ctx.Done():
	}
}

// candidate reads the config anew, and checks all that can be checked beside the
// probing.
func (s *service) candidate() candidate {
	var c candidate
	cfg, err := loadConfig(s.sys, s.flags.config, s.log)
	if err != nil {
		c.policy, _ = loadPolicy(s.sys) // a mistake of its own is the config's, and said there
		c.err = still(err)
		return c
	}
	c.policy = cfg.Policy
	s.mu.Lock()
	now := s.cfg
	s.mu.Unlock()
	cfg = served(cfg)
	if c.err = errors.Join(stays(now, cfg), s.newSecrets(now, cfg)); c.err != nil {
		return c
	}
	c.fit, c.err = s.fits(cfg)
	return c
}

// still says of a config that is gone what that is to a perch that runs: how to begin with
// one is nothing that it asks.
func still(err error) error {
	var gone *config.MissingError
	if errors.As(err, &gone) {
		return fmt.Errorf("%s: the config is gone: perch goes on with the one that it has, and takes in the next one that is put there; started anew, it would not run", gone.Path)
	}
	return err
}

// stays refuses what cannot change while perch runs.
func stays(now, next config.Config) error {
	var problems []error
	for _, c := range []struct{ key, now, next, why string }{
		{"name", now.Name, next.Name, "it names the series and the state"},
		{"vantage", now.Vantage, next.Vantage, "each series carries it"},
		{"metrics.listen", now.Metrics.Listen, next.Metrics.Listen, "it answers there since it began"},
		{"state", statePlace(now), statePlace(next), "it has that one since it began"},
		{"metrics.blackbox_names", fmt.Sprint(now.Metrics.BlackboxNames), fmt.Sprint(next.Metrics.BlackboxNames), "the series are made when it begins"},
		{"otlp", onOff(now), onOff(next), "it begins to count when it begins"},
	} {
		if c.now != c.next {
			at := next.WrittenAt(c.key)
			if at != "" {
				at += ": "
			}
			problems = append(problems, fmt.Errorf("%s%s: is %q, and %q in the changed config: %s; to change it, start perch anew (kubectl rollout restart), or put it back", at, c.key, c.now, c.next, c.why))
		}
	}
	return errors.Join(problems...)
}

func statePlace(cfg config.Config) string {
	return strings.TrimSpace(cfg.State.File + " " + cfg.State.ConfigMap)
}

func onOff(cfg config.Config) string {
	switch {
	case cfg.OTLP.Endpoint == "":
		return "off"
	case cfg.OTLP.Metrics:
		return "on, with metrics"
	}
	return "on"
}

// newSecrets refuses a config of which a secret cannot be read that is new, or none at
// all. One that was there may be in the middle of a rotation.
func (s *service) newSecrets(now, next config.Config) error {
	known := map[probes.Source]bool{}
	for _, source := range now.Sources() {
		known[source] = true
	}
	read := config.ReadSecret(s.sys.env, s.sys.readFile)
	missing, gone := checkSecrets(next, read), 0
	for _, source := range next.Sources() {
		if _, err := read(source); err == nil {
			continue
		}
		if gone++; !known[source] {
			return missing
		}
	}
	if gone > 0 && gone == len(next.Sources()) {
		return missing
	}
	return nil
}
