package main

import (
	"context"
	"errors"
	"time"
)

const (
	// endsWithin is how long after SIGTERM serve ends at the latest, whatever does not
	// answer; within 5 s, with what comes after.
	endsWithin = 4700 * time.Millisecond
	// wavesWithin is how long waves that are cut short may take: one that reads a
	// secret from a mount that is gone does not keep the others from being saved.
	wavesWithin = 2 * time.Second
	// reportsWithin is how long the reports' reader has, and then the log's.
	reportsWithin = time.Second
	linesWithin   = 300 * time.Millisecond
)

// endsInTime does something, and leaves it where it is when it does not end in time after
// ctx ended.
func endsInTime(ctx context.Context, do func() error) error {
	ended, late := make(chan error, 1), make(chan struct{})
	go func() { ended <- do() }()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(endsWithin, func() { close(late) }) })
	defer stop()
	select {
	case err := <-ended:
		return err
	case <-late:
		return own(errors.New("perch was told to end, and something that it reads or writes does not answer (a file on a mount that is gone, the state's disk): what was known last may not be saved"))
	}
}

// waitForWaves waits for the loops to end, and says so where they do not.
func (s *service) waitForWaves() {
	over := make(chan struct{})
	go func() {
		s.under.Wait()
		close(over)
	}()
	if !waitFor(over, wavesWithin) {
		s.log.Error("not all waves ended in time: what they saw is not judged")
	}
}

// sayUnread logs that somebody does not read what perch writes: no more than once each
// sayEach.
func (s *service) sayUnread(now time.Time) {
	if !s.saidUnread.IsZero() && now.Sub(s.saidUnread) < sayEach {
		return
	}
	for _, out := range []struct {
		of   *spool
		what string
	}{{s.reports, "reports on stdout"}, {s.lines, "lines of the log"}} {
		if out.of == nil {
			continue
		}
		lost, err := out.of.trouble()
		if lost > 0 {
			s.log.Warn("dropped, since nobody reads them", "what", out.what, "dropped", lost)
			s.saidUnread = now
		}
		if err != nil {
			s.log.Error("writing", "what", out.what, "error", err)
			s.saidUnread = now
		}
	}
}
