package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/config"
	"perch.example/probes"
	"perch.example/trace/tracetest"
)

// exportingPass is a pass of perch serve's that exports in the background.
func exportingPass(t *testing.T, r *receiving, change ...func(*config.Config)) (*pass, func() string) {
	t.Helper()
	p, log := newPass(t, strings.Replace(exported, "metrics: delta", "metrics: delta, timeout: 1s", 1), &r.diary)
	p.sys.web = r
	for _, f := range change {
		f(&p.cfg)
	}
	if err := p.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.metrics = p.newMetrics()
	p.observed = true
	p.beginExport()
	p.exportInBackground(func() {})
	return p, log.String
}

func aRun(started time.Time) probes.Run {
	return probes.Run{RunID: "r", Started: started, Finished: started, Outcomes: []probes.Outcome{{
		Target: "api", Probe: "get", Kind: probes.KindHTTP, Verdict: probes.VerdictPass, Reason: probes.ReasonOK, Started: started,
		Attempts: []probes.Attempt{{Number: 1, Connection: probes.ConnectionFresh, Reason: probes.ReasonOK, Status: 200, Started: started}},
	}}}
}

// TestBackground: what serve finds goes out together, spans each 10 s and numbers each
// minute, and the rest when it ends.
func TestBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &receiving{status: 200}
		p, log := exportingPass(t, r)
		began := time.Now()
		var seen []string
		for range 95 {
			run := aRun(time.Now())
			p.metrics.Observe(run)
			p.export(t.Context(), run)
			time.Sleep(time.Second)
			synctest.Wait()
			for _, e := range r.events[len(seen):] {
				seen = append(seen, fmt.Sprint(e, " ", time.Since(began)))
			}
		}
		want := []string{"traces 1s"}
		for i := range 9 {
			want = append(want, fmt.Sprintf("traces %s", time.Duration(10*i+10)*time.Second))
		}
		want = slices.Insert(want, 7, "metrics 1m0s")
		if !slices.Equal(seen, want) {
			t.Errorf("%q, want %q", seen, want)
		}
		if !p.endExport(t.Context()) || log() != "" {
			t.Errorf("the end failed, or something was logged: %s", log())
		}
		if got := len(r.v.Spans()); got != 2*95 {
			t.Errorf("%d spans, want two for each of 95 runs", got)
		}
		if got := r.total("perch_runs_total", "verdict", "pass"); got != 95 {
			t.Errorf("%v runs were counted, want 95", got)
		}
		p.export(t.Context(), aRun(time.Now()))
		time.Sleep(time.Hour)
		if got := len(r.v.Spans()); got != 2*95 {
			t.Errorf("something was sent after the end: %d spans", got)
		}
	})
}

// TestBackgroundFails: a receiver that is away takes bounded memory and few lines of
// the log, keeps nobody waiting, and gets what it missed.
func TestBackgroundFails(t *testing.T) {
	const minutes = 11
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &receiving{status: 401}
		p, log := exportingPass(t, r)
		for range minutes * 60 {
			began := time.Now()
			run := aRun(began)
			p.metrics.Observe(run)
			if p.export(t.Context(), run); time.Since(began) > 0 {
				t.Fatal("an export kept the probing waiting")
			}
			time.Sleep(time.Second)
		}
		synctest.Wait() // for a sending at this very instant
		if n := strings.Count(log(), "level=ERROR"); n < 2 || n > 4 {
			t.Errorf("%d lines in 11 minutes:\n%s", n, log())
		}
		r.answers(200)
		if !p.endExport(t.Context()) {
			t.Error(log())
		}
		if got := r.total("perch_runs_total", "verdict", "pass"); got != minutes*60 {
			t.Errorf("%v runs were counted, want %d", got, minutes*60)
		}
		if got := r.total("perch_problems_total", "part", "push"); got < 60 {
			t.Errorf("%v problems were counted", got)
		}
		if got := len(r.v.Spans()); got != 2*minutes*60 {
			t.Errorf("%d spans, want those of all runs", got)
		}
	})
}

// TestBackgroundIsBounded: of more than is kept the oldest are dropped, which is said.
func TestBackgroundIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &receiving{status: 200}
		p, log := exportingPass(t, r)
		run := aRun(time.Now())
		run.Outcomes = slices.Repeat(run.Outcomes, mostWaiting)
		p.export(t.Context(), run)
		if p.endExport(t.Context()) || len(r.v.Spans()) != mostWaiting {
			t.Errorf("%d spans; the end said that all went well", len(r.v.Spans()))
		}
		want(t, "the log", log(), fmt.Sprintf("%d are dropped, since more than %d waited", mostWaiting, mostWaiting))
	})
}

// TestBackgroundEndsInTime: a receiver that hangs does not keep serve from ending, and
// what it did not take is saved.
func TestBackgroundEndsInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &receiving{}
		r.v.Answer = func(_ int, q *http.Request) tracetest.Answer {
			<-q.Context().Done()
			return tracetest.Answer{Status: 503}
		}
		p, _ := exportingPass(t, r)
		run := aRun(time.Now())
		p.metrics.Observe(run)
		p.export(t.Context(), run)
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if p.endExport(ctx) || time.Since(began) > 2*time.Second {
			t.Errorf("it ended after %s", time.Since(began))
		}
		if !p.save(t.Context()) || len(r.doc.Sections[sectionOTLP]) == 0 {
			t.Error("what was not sent is not kept")
		}
		time.Sleep(time.Minute) // a sending under way ends
	})
}

// TestBackgroundReload: a config that is taken in later begins to export, another one
// ends that; what was counted before is not sent.
func TestBackgroundReload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &receiving{status: 200}
		var on config.Config
		p, log := exportingPass(t, r, func(c *config.Config) { on, c.OTLP = *c, config.OTLP{} })
		off := p.cfg
		for i, cfg := range []config.Config{off, off, on, on, off, off} {
			p.cfg = cfg
			run := aRun(time.Now())
			p.metrics.Observe(run)
			p.export(t.Context(), run)
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if i == 1 && len(r.v.Requests()) > 0 {
				t.Error("something was sent without an endpoint")
			}
		}
		if got := r.total("perch_runs_total", "verdict", "pass"); got != 1 || len(r.v.Spans()) != 4 || !p.endExport(t.Context()) || log() != "" {
			t.Errorf("%v runs and %d spans, want 1 and those of 2; %s", got, len(r.v.Spans()), log())
		}
	})
}

// TestBackgroundIsCutAtTheEnd: a sending under way that is not answered ends when perch
// does, and what it could not bring is saved.
func TestBackgroundIsCutAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &receiving{}
		r.v.Answer = func(_ int, q *http.Request) tracetest.Answer {
			<-q.Context().Done()
			return tracetest.Answer{Status: 503}
		}
		p, log := exportingPass(t, r, func(c *config.Config) { c.OTLP.Timeout = 5 * time.Second })
		p.metrics.Observe(aRun(time.Now()))
		time.Sleep(countsEach + time.Second) // it is under way
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if p.endExport(ctx) || time.Since(began) > 2*time.Second+cutWithin {
			t.Errorf("it ended after %s", time.Since(began))
		}
		if !p.save(t.Context()) {
			t.Error(log())
		}
		if got := runsKept(t, r); got != 1 {
			t.Errorf("the state keeps %v runs, want 1", got)
		}
		synctest.Wait()
		want(t, "the log", log(), "exporting metrics by OTLP")
	})
}

// runsKept is how many runs the state says were not sent.
func runsKept(t *testing.T, r *receiving) float64 {
	t.Helper()
	raw := r.doc.Sections[sectionOTLP]
	if len(raw) == 0 {
		return 0
	}
	next := &receiving{status: 200}
	next.doc.Sections = map[string]json.RawMessage{sectionOTLP: raw}
	other, log := exportingPass(t, next)
	if !other.endExport(t.Context()) {
		t.Error(log())
	}
	return next.total("perch_runs_total", "verdict", "pass")
}

// TestUnsentIsKept: from when a sending failed until one went well each save has what was
// not sent, of an earlier process too; then it is saved soon without it.
func TestUnsentIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, soon := &receiving{status: 503}, 0
		p, log := exportingPass(t, r)
		p.otlp.background.save = func() { soon++ }
		step := func(runs float64) {
			t.Helper()
			p.metrics.Observe(aRun(time.Now()))
			if !p.save(t.Context()) {
				t.Fatal(log())
			}
			if got := runsKept(t, r); got != runs {
				t.Errorf("the state keeps %v runs, want %v", got, runs)
			}
		}
		step(0) // nothing is owed yet
		time.Sleep(countsEach + time.Second)
		step(2) // a sending is under way
		time.Sleep(sendWithin)
		synctest.Wait()
		step(3) // it failed

		next := &receiving{status: 503}
		next.doc.Sections = r.doc.Sections
		r = next
		p, log = exportingPass(t, r)
		p.otlp.background.save = func() { soon++ }
		step(4) // at once, before anything was sent
		r.answers(200)
		time.Sleep(countsEach + time.Second)
		synctest.Wait()
		if got := r.total("perch_runs_total", "verdict", "pass"); got != 4 || soon != 1 {
			t.Errorf("%v runs were sent, and a save was asked for %d times", got, soon)
		}
		step(0)
		time.Sleep(countsEach)
	})
}
