package main

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"perch.example/probes"
	"perch.example/report"
)

const (
	mostLookers  = 4 // at once; each takes some 10 ms of CPU time, one after the other
	refreshEvery = 30 * time.Second
	day          = 24 * time.Hour
	mostAsked    = 200 // bytes of a target's name that is asked for
)

// looks answers who looks at the status page. One page is made at a time, from a copy:
// no wave waits for it.
type looks struct {
	status func() report.Status
	places chan struct{}
	making turn
}

func (s *service) looks() *looks {
	return &looks{status: s.status, places: make(chan struct{}, mostLookers), making: make(turn, 1)}
}

func (l *looks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case l.places <- struct{}{}:
		defer func() { <-l.places }()
	default:
		w.Header().Set("Retry-After", scrapeAgain)
		answer(w, fmt.Sprintf("%d look at once, which is what perch answers", mostLookers))
		return
	}
	body, err := l.make(filterOf(r))
	if err != nil {
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Content-Security-Policy", report.StatusPolicy())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // who went away asks again
	}
}

func (l *looks) make(f report.StatusFilter) ([]byte, error) {
	l.making.take()
	defer l.making.give()
	s := l.status()
	s.Filter = f
	var b bytes.Buffer
	err := report.StatusPage(&b, s)
	return b.Bytes(), err
}

// filterOf is what the form asks for. A verdict that it cannot have asked for is
// somebody's own, and the page says that it is none.
func filterOf(r *http.Request) report.StatusFilter {
	q := r.URL.Query()
	f := report.StatusFilter{Target: q.Get("target"), Verdict: probes.Verdict(q.Get("verdict"))}
	f.Target = f.Target[:min(len(f.Target), mostAsked)]
	if !slices.Contains(probes.Verdicts(), f.Verdict) {
		f.Unknown, f.Verdict = string(f.Verdict[:min(len(f.Verdict), mostAsked)]), ""
	}
	if q.Get("refresh") == "on" {
		f.Refresh = refreshEvery
	}
	return f
}

// status is what the page shows now.
func (s *service) status() report.Status {
	now := time.Now()
	f, held := s.board.now()
	version, _ := build()
	out := report.Status{
		Now: now, Version: version, Name: f.cfg.Name, Vantage: f.cfg.Vantage, Since: s.board.began, Role: s.lead.role(),
		Trouble: s.trouble(f, now), Held: held, Unread: !f.knows, Incidents: f.incidents, Notices: f.notices,
	}
	out.Config, out.ConfigRefused = f.config()
	if !f.cfg.State.Kept() {
		out.Notices = append(slices.Clip(out.Notices), "the config names no state, and without one no incident is kept")
	}
	loops := map[time.Duration]time.Time{}
	for _, t := range f.cfg.Targets {
		out.Targets = append(out.Targets, f.target(t, loops, now))
	}
	for every, next := range loops {
		out.Loops = append(out.Loops, report.StatusLoop{Every: every, Next: next})
	}
	return out
}

// config says how the last reload went.
func (f facts) config() (words string, refused bool) {
	switch n := len(f.refused.mistakes); {
	case n > 1:
		return fmt.Sprintf("%d mistakes, at %s. The first: %s", n, stamp(f.refused.at), f.refused.mistakes[0]), true
	case n == 1:
		return fmt.Sprintf("At %s: %s", stamp(f.refused.at), f.refused.mistakes[0]), true
	case !f.read.IsZero():
		return "read again at " + stamp(f.read), false
	}
	return "", false
}

// trouble is what perch itself cannot do; empty: nothing.
func (s *service) trouble(f facts, now time.Time) string {
	if why := s.health.unready(); why != "" {
		return why
	}
	if why := s.health.stuck(now); why != "" {
		return why
	}
	for _, p := range f.problems {
		return string(p.Part) + ": " + p.Text
	}
	return ""
}

// target is what is known of one. Into loops goes when the first of its probes with
// each `every` is due.
func (f facts) target(t probes.Target, loops map[time.Duration]time.Time, now time.Time) report.StatusTarget {
	held := f.cfg.Policy.Limits(t)
	out := report.StatusTarget{
		Name: t.Name, URL: t.URL, Owner: t.Owner, Runbook: t.Runbook, Limit: held.Budget(), Last: f.used[t.Name],
		Daily: held.DailyLimit,
	}
	if sent := f.sent[t.Name]; sent.at.UTC().Truncate(day).Equal(now.UTC().Truncate(day)) {
		out.Today = sent.requests
	}
	for _, s := range t.Probes {
		p := report.StatusProbe{Name: s.Probe, Kind: s.Kind, Every: s.Every, Next: f.next[s.ID()], Outcomes: f.last[s.ID()]}
		if last, known := f.before[s.ID()]; known {
			p.Before, p.BeforeAt = probes.Verdict(last.Verdict), last.At
		}
		if r, measured := f.idle[s.ID()]; measured {
			p.Idle = &r
		}
		if first, there := loops[s.Every]; !there || first.IsZero() || !p.Next.IsZero() && p.Next.Before(first) {
			loops[s.Every] = p.Next
		}
		out.Probes = append(out.Probes, p)
	}
	return out
}
