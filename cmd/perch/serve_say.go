package main

import (
	"bytes"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"time"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/plan"
	"perch.example/probes"
)

const (
	// mostNotes bounds how many different notes of plans are remembered as said.
	mostNotes = 1000
	// sayEach is how far apart the log says again what goes on.
	sayEach  = time.Minute
	fewNames = 5
)

// sayUnused logs which keys of the config are perch run's alone.
func sayUnused(cfg config.Config, log *slog.Logger) {
	for _, sink := range []struct{ key, value string }{{"metrics.push", cfg.Metrics.PushURL}, {"metrics.textfile", cfg.Metrics.Textfile}} {
		if sink.value != "" {
			log.Info("not used by perch serve, whose numbers are scraped", "key", sink.key, "scrape", cfg.Metrics.Listen+"/metrics")
		}
	}
}

// sayNotes logs what plans note, each once: they are the same in each wave. The lock
// is held.
func (s *service) sayNotes(p *plan.Plan) {
	if len(s.notes) > mostNotes {
		clear(s.notes)
	}
	for _, note := range p.Notes {
		if shape := withoutSpans(note); !s.notes[shape] {
			s.notes[shape] = true
			s.log.Info("plan", "note", note)
		}
	}
}

// withoutSpans is a note without its durations: those that follow from what the
// last wave measured are others in each. A name's digits stay.
func withoutSpans(note string) string {
	return regexp.MustCompile(`([ (])[0-9][0-9a-zµ.]*`).ReplaceAllString(note, "$1…")
}

// sayRun logs what came of a run, and writes its report where somebody asked for it. It
// reports whether an incident moved.
func (s *service) sayRun(w *pass, run probes.Run) (moved bool) {
	counts, requests := map[probes.Verdict]int{}, 0
	for _, o := range run.Outcomes {
		counts[o.Verdict]++
	}
	for _, b := range run.Budget {
		requests += b.Requests
	}
	what := []any{"run", run.RunID, "verdict", run.Verdict()}
	for _, v := range probes.Verdicts() {
		if counts[v] > 0 {
			what = append(what, string(v), counts[v])
		}
	}
	s.log.Info("run", append(what, "requests", requests)...)
	s.sayFindings(run)
	moved = s.sayIncidents(run.Incidents)
	s.sayUnsent(w, run)
	if s.out.format != "none" {
		var b bytes.Buffer
		if err := w.write(&b, s.out.format, run, s.sys.style()); err != nil {
			s.log.Error("writing the report", "error", err)
		}
		_, _ = s.reports.Write(b.Bytes()) // it never fails
	}
	return moved || len(w.memory.Outbox) > 0 && s.tellAt.IsZero()
}

// sayUnsent logs what would be sent, where nothing is.
func (s *service) sayUnsent(w *pass, run probes.Run) {
	if w.store != nil && w.alertMode() == alert.ModeNotify {
		return
	}
	for _, n := range s.freshlyUnsent(w, run) { // the whole of it is in the report: --output text
		s.log.Info("nothing is sent; this would be", "why", w.untold(), "title", n.Title, "summary", n.Summary)
	}
}

// finding names what was found at one place, and saying when it was said.
type (
	finding struct {
		id   string
		hold time.Duration
	}
	saying struct {
		what string
		at   time.Time
	}
)

// sayFindings logs what was found: when it begins or becomes another, and each
// sayEach while it lasts.
func (s *service) sayFindings(run probes.Run) {
	for _, o := range run.Outcomes {
		at := finding{o.ID(), o.Hold}
		if o.Verdict != probes.VerdictFail && o.Verdict != probes.VerdictDegraded {
			delete(s.found, at)
			continue
		}
		what := string(o.Verdict) + string(o.Diagnosis)
		if said := s.found[at]; said.what == what && run.Finished.Sub(said.at) < sayEach {
			continue
		}
		s.found[at] = saying{what, run.Finished}
		place := []any{"target", o.Target, "probe", o.Probe}
		if o.Hold > 0 { // else nothing was held
			place = append(place, "hold", o.Hold)
		}
		s.log.Warn("finding", append(place, "verdict", o.Verdict, "diagnosis", o.Diagnosis, "message", o.Message)...)
	}
}

// sayIncidents logs those that moved, and reports whether any did.
func (s *service) sayIncidents(all []probes.Incident) (moved bool) {
	stands := map[string]string{}
	for _, i := range all {
		stands[i.Name] = string(i.State) + " " + string(i.Notice)
		if s.standing[i.Name] != stands[i.Name] {
			moved = true
			s.log.Info("incident", "name", i.Name, "state", i.State, "said", i.Said)
		}
	}
	s.standing = stands
	return moved
}

// fellOut counts ticks that fell out, since the wave before was not over.
func (s *service) fellOut(l *loop, missed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missed[l.id] += missed
	s.fell[l] += missed
	s.poke()
}

// sayFellOut logs them: at once, and no more than once each sayEach.
func (s *service) sayFellOut(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.missed) == 0 || !s.saidFell.IsZero() && now.Sub(s.saidFell) < sayEach {
		return
	}
	all, some := 0, slices.Sorted(maps.Keys(s.missed))
	for _, n := range s.missed {
		all += n
	}
	of := len(some)
	s.log.Warn("ticks fell out, since the probe's last wave was not over", "missed", all, "probes", of, "first", some[:min(of, fewNames)])
	s.saidFell = now
	clear(s.missed)
}
