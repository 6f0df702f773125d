package main

import (
	"log/slog"
	"regexp"
	"time"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/plan"
	"perch.example/probes"
)

// mostNotes bounds how many different notes of plans are remembered as said.
const mostNotes = 1000

// sayUnused logs which keys of the config are perch run's alone.
func sayUnused(cfg config.Config, log *slog.Logger) {
	for _, sink := range []struct{ key, value string }{{"metrics.push", cfg.Metrics.PushURL}, {"metrics.textfile", cfg.Metrics.Textfile}} {
		if sink.value != "" {
			log.Info("not used by perch serve, whose numbers are scraped", "key", sink.key, "scrape", cfg.Metrics.Listen+"/metrics")
		}
	}
}

// sayNotes logs what plans note, each once: they are the same in each wave.
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

// sayWave logs what came of a wave, and writes its report where somebody asked
// for it.
func (s *service) sayWave(w *pass, l *loop, run probes.Run) {
	counts, requests := map[probes.Verdict]int{}, 0
	for _, o := range run.Outcomes {
		counts[o.Verdict]++
	}
	for _, b := range run.Budget {
		requests += b.Requests
	}
	what := []any{"loop", l.name(), "run", run.RunID, "verdict", run.Verdict()}
	for _, v := range probes.Verdicts() {
		if counts[v] > 0 {
			what = append(what, string(v), counts[v])
		}
	}
	s.log.Info("wave", append(what, "requests", requests, "took", run.Finished.Sub(run.Started).Round(time.Millisecond))...)
	for _, o := range run.Outcomes {
		if o.Verdict == probes.VerdictFail || o.Verdict == probes.VerdictDegraded {
			s.log.Warn("finding", "target", o.Target, "probe", o.Probe, "hold", o.Hold, "verdict", o.Verdict, "diagnosis", o.Diagnosis, "message", o.Message)
		}
	}
	s.sayIncidents(run.Incidents)
	if w.alertMode() != alert.ModeNotify {
		for _, n := range w.unsent { // the whole of it is in the report: --output text
			s.log.Info("nothing is sent; this would be", "why", w.untold(), "title", n.Title, "summary", n.Summary)
		}
	}
	if s.out.format != "none" {
		if err := w.write(s.sys.stdout, run, s.sys.style()); err != nil {
			s.log.Error("writing the report", "error", err)
		}
	}
}

// sayIncidents logs those that moved.
func (s *service) sayIncidents(all []probes.Incident) {
	stands := map[string]string{}
	for _, i := range all {
		stands[i.Name] = string(i.State) + " " + string(i.Notice)
		if s.standing[i.Name] != stands[i.Name] {
			s.log.Info("incident", "name", i.Name, "state", i.State, "said", i.Said)
		}
	}
	s.standing = stands
}
