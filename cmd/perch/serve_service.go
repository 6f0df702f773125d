package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"perch.example/config"
	"perch.example/probes"
	"perch.example/state"
)

// service is perch serve. Each probe has a goroutine that plays its waves, and hands
// them in; one takes them in (takeAll), and has all that is kept; the web server
// answers from copies.
type service struct {
	sys     system
	flags   runFlags
	out     outputFlags
	log     *slog.Logger
	health  *health
	board   *board
	beside  string                       // how a command is run beside it
	end     context.CancelCauseFunc      // ends all of it
	scrape  atomic.Pointer[http.Handler] // nil: there are no metrics yet
	ledger  *ledger
	files   *files           // nil: nobody looks whether they change
	hangup  <-chan os.Signal // has the config read anew; nil: nobody
	reloads chan candidate
	lead    *lead          // nil: perch serve is alone
	reports *spool         // to stdout
	lines   *spool         // the log's; nil: whoever writes it waits
	wake    chan struct{}  // holds one while there is something to take in
	asked   atomic.Bool    // the state is to be saved soon: a wave waits for what it may send to be reserved
	under   sync.WaitGroup // the loops

	mu      sync.Mutex // of what follows, held for moments
	cfg     config.Config
	policy  *probes.Policy // that holds now: a newer one than cfg's, where a changed config is refused
	seeds   *rand.Rand
	loops   map[string]*loop
	known   map[string]knowledge  // by target
	sent    map[string]state.Sent // what earlier processes sent; nothing of it is changed
	arrived []*played
	notes   map[string]bool
	missed  map[string]int // ticks that fell out, by target/probe, and were not said
	fell    map[*loop]int  // likewise, and are not in the metrics

	// The rest is takeAll's alone, once it is open.
	*kept
	last        probes.Run   // the newest that was taken in
	unseen      []probes.Run // taken in, and not in the metrics
	limits      map[string]int
	standing    map[string]string          // where each incident stood, as it was last said
	found       map[finding]saying         // likewise of what was found
	previewed   map[string]map[string]bool // without a state: notices that were said as what would be sent, by id, and the probes that fail for each
	recurring   map[string]*recurring      // what perch could not do in waves, by target
	ending      map[string]*loop           // by target/probe: loops that are gone, and may still end a wave
	refused     map[string]bool            // what is wrong with configs, as it was told
	turned      time.Time                  // when waves were taken in last
	keptAt      time.Time                  // when the state was written last
	dirty       bool                       // not all that is known is in the state
	moved       bool                       // something moved that is to be told or kept at once
	tellAt      time.Time                  // what waits is not told before
	tellPause   time.Duration
	gatherAt    time.Time       // when what gathers is told; zero: nothing does
	heardAt     time.Time       // when what is ongoing was told last
	saidFell    time.Time       // when ticks that fell out were said last
	savedCounts json.RawMessage // the metrics, as they were saved last
	stands      bool            // scrapes see counters as in savedCounts
	saidUnread  time.Time       // when it was said last that nobody reads what perch writes
}

func newService(sys system, cfg config.Config, flags runFlags, out outputFlags, log *slog.Logger) *service {
	host, _ := os.Hostname() // unknown stays empty
	cfg = served(cfg)
	s := &service{
		sys: sys, cfg: cfg, policy: cfg.Policy, flags: flags, out: out, log: log, health: newHealth(), board: newBoard(cfg), beside: besideServe(sys.env, host),
		reports: &spool{to: sys.stdout},
		wake:    make(chan struct{}, 1), seeds: rand.New(rand.NewPCG(flags.seed, 0)), loops: map[string]*loop{}, known: map[string]knowledge{},
		notes: map[string]bool{}, missed: map[string]int{}, fell: map[*loop]int{}, kept: &kept{answered: map[string]time.Time{}}, standing: map[string]string{}, found: map[finding]saying{}, previewed: map[string]map[string]bool{}, recurring: map[string]*recurring{},
		ending: map[string]*loop{}, refused: map[string]bool{}, reloads: make(chan candidate),
	}
	s.ledger = newLedger(sys.clock, s.keepSoon)
	return s
}

// keepSoon has the state saved soon.
func (s *service) keepSoon() {
	s.asked.Store(true)
	s.poke()
}

// serve answers until ctx ends. Its order: what is wrong with the config ends it
// before anything is opened, and a port that is taken before anything is sent.
func (s *service) serve(ctx context.Context) error {
	f, err := s.fits(s.cfg)
	if err != nil {
		return usage(err)
	}
	sayForgotten(s.log, s.cfg)
	ctx, s.end = context.WithCancelCause(ctx)
	defer s.end(nil)
	stopping := s.health.whenDone(ctx)
	web, err := s.listen()
	if err != nil {
		return own(err)
	}
	defer web.close()
	if f, err = s.open(ctx, f); err != nil || ctx.Err() != nil {
		return errors.Join(err, ownCause(ctx))
	}
	s.health.setReady()
	s.start(ctx, f)
	if s.files != nil {
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			s.watch(ctx, s.files)
		}()
		defer waitFor(watched, drainWithin) // it may be reading what does not end
	}
	s.log.Info("serving", "address", web.address(), "probes", len(f.probes))
	s.takeAll(ctx)
	s.waitForWaves()
	defer s.reports.flush(reportsWithin)
	return s.stop(ctx, stopping)
}

// start begins the loops of a config's probes that have none.
func (s *service) start(ctx context.Context, f *fit) {
	now := time.Now()
	var begin []func()
	for id, p := range f.probes {
		if s.loops[id] != nil {
			continue
		}
		if _, known := s.known[p.spec.Target]; !known && s.store != nil {
			s.know(p.spec.Target, knownOf(s.doc, p.near))
		}
		l := &loop{id: id, spec: p.spec, near: p.near, most: p.most, lasts: p.lasts, done: make(chan struct{})}
		var mine context.Context
		mine, l.cancel = context.WithCancelCause(ctx)
		k, last := ticksOf(f.cfg.Name, id, p.spec.Every, leastEvery(f.cfg.Policy)), s.doc.Due[id]
		s.mu.Lock()
		before := s.ending[id]
		if before != nil {
			last = latest(last, before.last)
		}
		s.loops[id] = l
		s.sayNotes(p.notes)
		s.mu.Unlock()
		tick := k.first(now, last)
		s.expect(l, tick, tick.Add(2*p.lasts+slowest)) // all of them, before the first begins: one write reserves for all
		begin = append(begin, func() {
			if before != nil {
				<-before.done // it was cut short
			}
			s.run(mine, l, tick)
		})
	}
	s.keptAt = time.Time{} // what they may send is reserved at once
	for _, run := range begin {
		s.under.Go(run)
	}
}

// newSeed is a wave's seed. The lock is held.
func (s *service) newSeed() uint64 { return s.seeds.Uint64()>>12 | 1 }

// newPass is a pass of the process's, with a seed of its own. The lock is held.
func (s *service) newPass() *pass {
	flags := s.flags
	flags.seed = s.newSeed()
	return &pass{kept: s.kept, sys: s.sys, cfg: s.cfg, flags: flags, out: s.out, log: s.log, beside: s.beside, serves: true, showMetrics: true}
}

// lostError says that another perch took the state.
type lostError struct{ err error }

func (e *lostError) Error() string {
	return "another perch has taken the state, and two would probe at once: " + e.err.Error()
}

func (e *lostError) Unwrap() error { return e.err }

// taken returns why perch must not go on after a save; nil: it may.
func taken(unsaved error) error {
	var lost *state.LostError
	if errors.As(unsaved, &lost) && lost.Err == nil {
		return &lostError{unsaved}
	}
	return nil
}

// ownCause returns why perch ended itself; nil: it was told to.
func ownCause(ctx context.Context) error {
	var lost *lostError
	var web *webError
	cause := context.Cause(ctx)
	var led *leadError
	if errors.As(cause, &lost) || errors.As(cause, &web) || errors.As(cause, &led) {
		return own(cause)
	}
	return nil
}
