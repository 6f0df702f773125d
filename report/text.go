package report

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"perch.example/probes"
)

// Text writes the run for people: what passed in a line each, then what did
// not, with the reasons and what to change, and the verdict in the last line.
// The error is w's.
func Text(w io.Writer, run probes.Run, s Style) error {
	p := &page{style: s}
	p.header(run)
	if v, shade := shownVerdict(run); v != probes.VerdictPass {
		p.hang(nil, span{shade, Headline(run)})
	}
	p.gap()
	all := targets(run)
	cols := measure(all)
	for _, t := range all {
		for _, v := range t.probes {
			p.probe(v, cols)
		}
		for _, f := range findings(t) {
			p.finding(f)
		}
	}
	p.footer(run)
	return p.flush(w)
}

// header says whose report this is, from where and when.
func (p *page) header(run probes.Run, more ...string) {
	parts := []string{strings.TrimSpace("perch " + run.Version)}
	if run.Name != "" {
		parts = append(parts, run.Name)
	}
	if run.Vantage != "" {
		parts = append(parts, "from "+run.Vantage)
	}
	if !run.Started.IsZero() {
		parts = append(parts, run.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if t := took(run); t != "" {
		parts = append(parts, "took "+t)
	}
	parts = append(parts, more...)
	p.hang(nil, span{inkFaint, strings.Join(parts, " · ")})
}

func took(run probes.Run) string {
	if run.Finished.IsZero() || run.Started.IsZero() {
		return ""
	}
	return latency(run.Finished.Sub(run.Started).Round(100 * time.Millisecond))
}

// columns are the widths that all probes' lines share.
type columns struct{ verdict, id int }

func measure(all []targetView) columns {
	const longest = 44 // one very long name must not push every other line aside
	var c columns
	for _, t := range all {
		for _, v := range t.probes {
			c.verdict = max(c.verdict, len(verdictWord(v.worst)))
			c.id = max(c.id, min(longest, width(clean(v.id))))
		}
	}
	return c
}

// probe adds a probe's line and, for an idle probe, its ladder.
func (p *page) probe(v probeView, c columns) {
	head := []span{
		span{verdictInk(v.worst), verdictWord(v.worst)}.padded(c.verdict + 2),
		span{inkStrong, v.id}.padded(c.id + 2),
	}
	switch v.first().Kind {
	case probes.KindIdle:
	case probes.KindBurst:
		p.hang(head, plain(burstSummary(v.first())))
		p.burst(v.first())
		p.predictions(v)
		p.gap()
		return
	default:
		p.hang(head, plain(exchange(v.first())))
		return
	}
	p.hang(head, plain(ladderSummary(v)+closesWords(v)+agesWords(v)))
	if drawable(v) {
		p.ladder(v.outcomes)
		p.skipped(v.outcomes)
		p.gap()
	}
	p.predictions(v)
}

// skipped says why rungs of a ladder were not tried, each reason once. It
// stands here, since what was skipped is no finding.
func (p *page) skipped(outcomes []*probes.Outcome) {
	rungs := map[string][]*probes.Outcome{}
	var messages []string
	for _, o := range outcomes {
		if o.Verdict != probes.VerdictSkipped || o.Message == "" {
			continue
		}
		if rungs[o.Message] == nil {
			messages = append(messages, o.Message)
		}
		rungs[o.Message] = append(rungs[o.Message], o)
	}
	for _, m := range messages {
		p.hang([]span{plain(margin)}, span{inkFaint, ages(rungs[m]) + ": " + strings.TrimPrefix(m, "not judged: ")})
	}
}

// exchange tells an http probe: each try, and the phases of the last.
func exchange(o *probes.Outcome) string {
	if len(o.Attempts) == 0 {
		return o.Message
	}
	var tries []string
	for i := range o.Attempts {
		tries = append(tries, of(o.Attempts, i)+method(o.Kind, &o.Attempts[i])+result(&o.Attempts[i])+spoke(o.Kind, &o.Attempts[i]))
	}
	text := strings.Join(tries, ", then ")
	if stopped(o) {
		return text + "; " + o.Message
	}
	if ph := phases(o.Attempts[len(o.Attempts)-1].Phases); ph != "" {
		text += " (" + ph + ")"
	}
	if o.Limit != nil {
		text += "; " + o.Limit.Words()
	}
	if o.Kind == probes.KindTLS {
		if facts := shown(o); facts != "" {
			text += "; " + facts
		}
	}
	return text
}

// spoke is said only where it is not the usual protocol, and of what can speak both.
func spoke(k probes.Kind, a *probes.Attempt) string {
	if k != probes.KindHTTP || a.Proto != "HTTP/2.0" {
		return ""
	}
	return ", HTTP/2"
}

// method is said only where it is not the usual one: gRPC's is always a POST.
func method(k probes.Kind, a *probes.Attempt) string {
	if a.Method == "" || a.Method == http.MethodGet || k == probes.KindGRPC {
		return ""
	}
	return a.Method + " "
}

// result is an attempt in a few words: 200 in 134 ms, NOT_FOUND (status) in 3 ms,
// idle_fin in 0.3 ms.
func result(a *probes.Attempt) string {
	var parts []string
	switch {
	case a.NoToken:
		parts = append(parts, "no token")
	case a.GRPC != nil && a.OK():
		parts = append(parts, a.Answer())
	case a.GRPC != nil:
		parts = append(parts, fmt.Sprintf("%s (%s)", a.Answer(), a.Reason))
	case a.Status != 0 && a.OK():
		parts = append(parts, fmt.Sprint(a.Status))
	case a.Status != 0:
		parts = append(parts, fmt.Sprintf("%d (%s)", a.Status, a.Reason))
	default:
		parts = append(parts, string(a.Reason))
	}
	if a.Elapsed > 0 {
		parts = append(parts, "in "+latency(a.Elapsed))
	}
	return strings.Join(parts, " ")
}

// phases lists those that ran, all in milliseconds so that they compare; each
// with its unit, so that none is read without it.
func phases(ph probes.Phases) string {
	var parts []string
	for _, f := range []struct {
		name string
		took time.Duration
	}{{"dns", ph.DNS}, {"connect", ph.Connect}, {"tls", ph.TLS}, {"wait", ph.Wait}, {"transfer", ph.Transfer}} {
		if f.took > 0 {
			parts = append(parts, f.name+unbroken+strings.ReplaceAll(millis(f.took), " ", unbroken))
		}
	}
	return strings.Join(parts, ", ")
}
