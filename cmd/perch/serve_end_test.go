package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Reports that nobody reads hold up nothing: not the taking in, not the state, not the
// end. That they are dropped is said.
func TestServeWhoseReportsNobodyReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := many(20, time.Second)
		store, out := &shelf{}, &unread{read: make(chan struct{})}
		s := newStation(t, text)
		s.prepare(text, store)
		s.service.out.format, s.service.reports = "json", &spool{to: out}
		if _, err := s.service.reports.Write(make([]byte, mostSpooled-1<<20)); err != nil { // as many as seven minutes of them
			t.Fatal(err)
		}
		s.begin()
		time.Sleep(5 * time.Minute)
		s.wants("/readyz", 200, "ok")
		s.wants("/healthz", 200, "ok")
		want(t, "the log", s.log.String(), "dropped, since nobody reads them", "reports on stdout")
		if n := strings.Count(s.log.String(), "dropped, since"); n > 5 {
			t.Errorf("said %d times in 5m", n)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		want(t, "the log", s.log.String(), "stopped", "saved=true")
		if sent, hits := store.sentToday("api-0", time.Now()), len(s.asked("/0")); sent != hits {
			t.Errorf("the state says that %d requests left, %d did", sent, hits)
		}
		close(out.read)
	})
}

// A reading of the config that does not end is a mistake of it, once; when it ends it is
// read anew.
func TestAReadingThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t, serving).service
		ends := make(chan struct{})
		var got []string
		taken := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer close(taken)
			for {
				select {
				case c := <-s.reloads:
					got = append(got, fmt.Sprint(c.err))
				case <-ctx.Done():
					return
				}
			}
		}()
		late := make(chan bool)
		go func() {
			late <- s.look(ctx, func() *candidate {
				<-ends
				return &candidate{err: errBroken}
			})
		}()
		time.Sleep(time.Hour)
		close(ends)
		if !<-late {
			t.Error("it is not read anew")
		}
		if s.look(ctx, func() *candidate { return nil }) {
			t.Error("what was read at once is read anew")
		}
		cancel()
		<-taken
		if len(got) != 2 || !strings.Contains(got[0], "has not ended within 10s") || got[1] != errBroken.Error() {
			t.Errorf("%q", got)
		}
	})
}

// Whatever does not answer, serve ends in time.
func TestEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		hangs := make(chan struct{})
		time.AfterFunc(time.Minute, cancel)
		began := time.Now()
		err := endsInTime(ctx, func() error { <-hangs; return nil })
		if took := time.Since(began) - time.Minute; codeOf(err) != exitOwn || took != endsWithin {
			t.Errorf("%v after %s", err, took)
		}
		close(hangs)
		if err := endsInTime(ctx, func() error { return errBroken }); !errors.Is(err, errBroken) {
			t.Error(err)
		}
	})
}

// awaitLog waits until the log says something.
func awaitLog(t *testing.T, log *logged, text string) {
	t.Helper()
	for range 1000 {
		if strings.Contains(log.String(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the log does not say %q:\n%s", text, log.String())
}
