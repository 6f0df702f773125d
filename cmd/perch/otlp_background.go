package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"perch.example/probes"
	"perch.example/trace"
)

const (
	spansEach   = 10 * time.Second       // how often perch serve sends spans
	countsEach  = time.Minute            // and numbers
	sendWithin  = 30 * time.Second       // one such sending
	mostWaiting = 2048                   // spans that wait, some 4 KiB each; the oldest are dropped
	soonerEach  = time.Second            // how often they are sent where half as many wait
	sayAgain    = 10 * time.Minute       // the same trouble
	cutWithin   = 100 * time.Millisecond // for a sending that was cancelled to say so
)

// background sends what perch serve finds, beside its probing: whoever hands
// something in never waits. Safe for concurrent use.
type background struct {
	log  *slog.Logger
	of   *exporting // its counts are sent by one at a time
	save func()     // has the state saved soon: what it keeps was sent

	mu      sync.Mutex
	from    exports // the newest
	begun   bool    // counts has begun to count
	spans   trace.Spans
	dropped int
	timer   *time.Timer             // nil: there was nothing yet
	busy    chan struct{}           // closed when the sending under way ends; nil: none is
	cancel  context.CancelCauseFunc // ends that
	ended   bool
	sent    time.Time            // when spans were last sent, or that was tried
	counted time.Time            // likewise, numbers
	said    map[string]time.Time // what went wrong since all was well, and when that was last said
}

// exportInBackground lets perch serve send beside its probing. A reload of the config
// may begin that later. save has the state saved soon.
func (p *pass) exportInBackground(save func()) {
	if p.otlp == nil {
		p.otlp = &exporting{}
	}
	b := &background{
		log: p.log, of: p.otlp, save: save, from: p.exportsFrom(), begun: p.cfg.OTLP.Metrics && p.cfg.OTLP.Endpoint != "",
		counted: time.Now(), said: map[string]time.Time{},
	}
	p.otlp.background = b
	b.mu.Lock()
	defer b.mu.Unlock()
	b.plan()
}

// offer hands in a run. A later config and later metrics count from then on.
func (b *background) offer(from exports, run probes.Run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.from = from
	switch o := from.cfg.OTLP; {
	case o.Endpoint == "":
		b.spans = nil
		return
	case o.Metrics && !b.begun:
		b.begun, b.counted = true, time.Now()
		b.of.counts.Start(from.metrics.Families(), from.sys.clock())
	}
	if from.cfg.OTLP.Traces {
		b.keep(append(b.spans, from.source().Spans(run)...))
	}
	b.plan()
}

// keep bounds what waits.
func (b *background) keep(all trace.Spans) {
	if over := len(all) - mostWaiting; over > 0 {
		b.dropped += over
		all = append(trace.Spans(nil), all[over:]...)
	}
	b.spans = all
}

// plan sets the timer for what is to be sent next.
func (b *background) plan() {
	if b.ended || b.busy != nil || b.from.cfg.OTLP.Endpoint == "" {
		return
	}
	var next time.Time
	if b.from.cfg.OTLP.Metrics {
		next = b.counted.Add(countsEach)
	}
	each := spansEach
	if len(b.spans) >= mostWaiting/2 && len(b.said) == 0 { // while something is wrong, sooner is no better
		each = soonerEach
	}
	if at := b.sent.Add(each); len(b.spans) > 0 && (next.IsZero() || at.Before(next)) {
		next = at
	}
	switch {
	case next.IsZero():
	case b.timer == nil:
		b.timer = time.AfterFunc(time.Until(next), b.tick)
	default:
		b.timer.Reset(time.Until(next))
	}
}

func (b *background) tick() {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	ctx, done := context.WithTimeout(ctx, sendWithin)
	defer done()
	b.mu.Lock()
	now := time.Now()
	counting := b.from.cfg.OTLP.Metrics && now.Sub(b.counted) >= countsEach
	if b.ended || b.busy != nil || b.from.cfg.OTLP.Endpoint == "" {
		b.mu.Unlock()
		return
	}
	b.busy, b.cancel = make(chan struct{}), cancel
	b.mu.Unlock()
	_ = b.send(ctx, counting) // it has said what went wrong
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.busy)
	b.busy = nil
	b.plan()
}

// send sends what waits, and the numbers where that is their time. Only one may.
func (b *background) send(ctx context.Context, counting bool) error {
	b.mu.Lock()
	from, spans, dropped := b.from, b.spans, b.dropped
	b.spans, b.dropped = nil, 0
	b.mu.Unlock()
	var problems []error
	if dropped > 0 {
		problems = append(problems, fmt.Errorf("exporting spans by OTLP: %d are dropped, since more than %d waited", dropped, mostWaiting))
	}
	x, err := from.exporter(ctx, b.log.Warn)
	if err != nil {
		problems = append(problems, err)
	} else {
		if len(spans) > 0 {
			spans, err = x.Spans(ctx, spans)
			problems = append(problems, err)
		}
		if counting {
			err = x.Metrics(ctx, &b.of.counts, from.metrics.Families(), from.sys.clock())
			problems = append(problems, err)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent = time.Now()
	if counting {
		if b.counted = b.sent; err == nil && b.of.kept.Load() {
			b.save()
		}
	}
	b.keep(append(spans, b.spans...))
	problems = slices.DeleteFunc(problems, func(err error) bool { return err == nil })
	b.say(from, problems)
	return errors.Join(problems...)
}

// say logs what went wrong; the same again only after a while. b is locked.
func (b *background) say(from exports, problems []error) {
	const most = 20 // different ones that are remembered
	if len(problems) == 0 || len(b.said) > most {
		b.said = map[string]time.Time{}
	}
	for _, err := range problems {
		from.metrics.Problem(probes.PartPush)
		text := err.Error()
		if last, known := b.said[text]; known && time.Since(last) < sayAgain {
			continue
		}
		b.said[text] = time.Now()
		b.log.Error("perch could not do its own part", "part", probes.PartPush, "error", err)
	}
}

// errEnding is why a sending that is under way is cut short.
var errEnding = errors.New("it was not answered by the time perch had to end")

// endExport sends what is left when perch serve ends, and reports whether all went
// well. What grew and was not sent is in the next save.
func (p *pass) endExport(ctx context.Context) bool {
	if p.otlp == nil || p.otlp.background == nil {
		return true
	}
	b := p.otlp.background
	b.mu.Lock()
	b.ended = true
	if b.timer != nil {
		b.timer.Stop()
	}
	busy, cancel, off := b.busy, b.cancel, b.from.cfg.OTLP.Endpoint == ""
	b.mu.Unlock()
	p.otlp.tried = !off
	if busy != nil {
		select {
		case <-busy:
		case <-ctx.Done(): // who does not answer that does not answer another one
			cancel(errEnding)
			waitFor(busy, cutWithin) // it does at once
			return false
		}
	}
	if off {
		return true
	}
	return b.send(ctx, p.cfg.OTLP.Metrics) == nil
}
