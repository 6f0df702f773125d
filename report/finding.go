package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// finding is everything of one target that has the same diagnosis: rungs of a
// ladder, and the target's other probes. It is explained once.
type finding struct {
	outcomes []*probes.Outcome
}

// lead is the outcome that the finding is told by: the first of the worst. Of
// rungs that differ in nothing else it is the one that closed earliest, to what
// is printed of it, so that the report speaks of one close: the smallest, which
// the advice follows.
func (f finding) lead() *probes.Outcome {
	lead := f.outcomes[0]
	for _, o := range f.outcomes {
		if rank(o.Verdict) > rank(lead.Verdict) || alike(o, lead) && o.Close.Age.Round(time.Millisecond) < lead.Close.Age.Round(time.Millisecond) {
			lead = o
		}
	}
	return lead
}

// alike reports whether two rungs of one probe were seen to close in the same
// way and come to the same for the application.
func alike(a, b *probes.Outcome) bool {
	return a.ID() == b.ID() && a.Verdict == b.Verdict && a.Reason == b.Reason && experience(a) == experience(b) &&
		a.Close != nil && b.Close != nil && a.Close.How == b.Close.How
}

// findings groups what needs an explanation, the worst first.
func findings(t targetView) []finding {
	type key struct {
		diagnosis probes.Diagnosis
		reason    probes.Reason // only where there is no diagnosis
	}
	var out []finding
	place := map[key]int{}
	for _, v := range t.probes {
		for _, o := range v.outcomes {
			if rank(o.Verdict) <= rank(probes.VerdictPass) && o.Diagnosis == "" {
				continue
			}
			k := key{diagnosis: o.Diagnosis}
			if o.Diagnosis == "" {
				k.reason = o.Reason
			}
			at, seen := place[k]
			if !seen {
				at = len(out)
				place[k] = at
				out = append(out, finding{})
			}
			out[at].outcomes = append(out[at].outcomes, o)
		}
	}
	slices.SortStableFunc(out, func(a, b finding) int { return cmp.Compare(rank(b.lead().Verdict), rank(a.lead().Verdict)) })
	return out
}

// finding explains one finding: what the application gets and what happened,
// which explanations are ruled out, what to change.
func (p *page) finding(f finding) {
	lead := f.lead()
	p.gap()
	p.hang([]span{plain(margin)}, span{verdictInk(lead.Verdict), title(lead)})
	p.field("Where", plain(f.where()))
	p.fields("Known", f.accepted())
	p.fields("Application", f.application())
	if c := clientOf(f.outcomes); c != nil && c.Band != nil {
		p.field("Danger band", plain(bandWords(c.Band)+" idle: "+f.ended()+"; "+c.Kind+" would still use it"))
	}
	p.fields("What happened", f.messages())
	p.fields("Detail", f.details())
	if a := deciding(lead); a != nil && !a.OK() {
		p.field("On the wire", plain(wire(a)))
	}
	p.hypotheses(f)
	label := "Change this:"
	for _, advice := range f.advice() {
		p.field(label, span{inkStrong, advice})
		label = "" // what follows has numbers of its own
	}
	if a := deciding(lead); a != nil {
		p.fields("Trace", []string{a.TraceID})
	}
	p.fields("Owner", []string{lead.Notice.Owner})
	p.fields("Runbook", []string{lead.Notice.Runbook})
	p.gap()
}

// ended says what the path has done to a connection within the danger band,
// which begins one round trip before the close: what is sent then meets it on
// the way. Where no close was seen, only what worked is known to be alive.
func (f finding) ended() string {
	for _, o := range f.outcomes {
		if o.Close != nil && o.Close.How != probes.HowSilent {
			return "closed, or closing while the request travels"
		}
	}
	return "dead, or not known to be alive"
}

// fields adds texts under one label; empty ones are left out.
func (p *page) fields(label string, texts []string) {
	for _, text := range texts {
		if text != "" {
			p.field(label, plain(text))
			label = ""
		}
	}
}

// title names the finding: the word to search for, and what it means.
func title(o *probes.Outcome) string {
	if o.Diagnosis != "" {
		return string(o.Diagnosis) + ": " + o.DiagnosisWords()
	}
	return string(o.Reason) + ": " + reasonWords(o.Reason)
}

// byProbe splits the finding's outcomes by probe.
func (f finding) byProbe() [][]*probes.Outcome {
	var out [][]*probes.Outcome
	for _, o := range f.outcomes {
		if last := len(out) - 1; last >= 0 && out[last][0].Probe == o.Probe {
			out[last] = append(out[last], o)
			continue
		}
		out = append(out, []*probes.Outcome{o})
	}
	return out
}

// where names the finding's probes and rungs.
func (f finding) where() string {
	var names []string
	for _, group := range f.byProbe() {
		name := group[0].ID()
		if group[0].Kind == probes.KindIdle {
			name += " at " + ages(group)
		}
		names = append(names, name)
	}
	return strings.Join(names, "; ")
}

// messages is what the worst outcome of each probe says, with the probe's name
// where they differ.
func (f finding) messages() []string {
	var out, named []string
	for _, group := range f.byProbe() {
		lead := finding{group}.lead()
		text := message(lead)
		if text == "" || slices.Contains(out, text) {
			continue
		}
		out = append(out, text)
		named = append(named, lead.Probe+": "+text)
	}
	if len(out) > 1 {
		return named
	}
	return out
}

// message is the outcome's sentence without what the client makes of it, which
// has a field of its own.
func message(o *probes.Outcome) string {
	if o.Client == nil || o.Client.Experiences == "" {
		return o.Message
	}
	before, _, found := strings.Cut(o.Message, o.Client.Experiences)
	if at := strings.LastIndex(before, "; "); found && at > 0 {
		return before[:at]
	}
	return o.Message
}

// details are the errors as the system or the expectation worded them, one for
// each probe, where the messages do not quote them already.
func (f finding) details() []string {
	const longestDetail = 300
	var out []string
	for _, group := range f.byProbe() {
		lead := finding{group}.lead()
		a := deciding(lead)
		if a == nil || a.Detail == "" || a.Reason == probes.ReasonNoKeepAlive || strings.Contains(lead.Message, a.Detail) {
			continue
		}
		if text := cut(clean(a.Detail), longestDetail); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// application says what the declared client makes of it; rungs that it meets
// differently are told apart.
func (f finding) application() []string {
	var texts []string
	rungs := map[string][]*probes.Outcome{}
	for _, o := range f.outcomes {
		text := experience(o)
		if text == "" {
			continue
		}
		if rungs[text] == nil {
			texts = append(texts, text)
		}
		rungs[text] = append(rungs[text], o)
	}
	if len(texts) < 2 {
		return texts
	}
	for i, text := range texts {
		met := finding{rungs[text]}
		place := met.where()
		if len(f.byProbe()) == 1 {
			place = "at " + places(met.outcomes)
		}
		texts[i] = place + ": " + text
	}
	return texts
}

// experience is the client doing what the catalog says that it does, and what
// its retries make of it.
func experience(o *probes.Outcome) string {
	if o.Client == nil || o.Client.Experiences == "" && o.Retry.Application == "" {
		return ""
	}
	if o.Client.Experiences == "" && o.Retry.Application == probes.CoverUnknown {
		return "what " + o.Client.Kind + " makes of it is not known, nor whether its retries cover it"
	}
	text := o.Client.Kind
	if o.Client.Experiences != "" {
		text += ", as declared, " + o.Client.Experiences
	}
	if cover := coverWords(o.Retry); cover != "" {
		text += "; " + cover
	}
	return text
}

// advice joins the advice of all outcomes, with the numbers of the lead.
func (f finding) advice() []string {
	lists := [][]string{f.lead().Advice}
	for _, o := range f.outcomes {
		lists = append(lists, o.Advice)
	}
	return probes.JoinAdvice(lists...)
}
