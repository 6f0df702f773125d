package report

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// targetStatus is a target on the page.
type targetStatus struct {
	ID, Name string
	Verdict  verdictView
	Open     bool   // it is not folded up
	Brief    string // beside its name
	Facts    []factView
	Runbook  string // empty, or http or https
	Probes   []probeStatus
	Findings []findingView
	Without  bool   // some of it was left out: there is too much
	Query    string // what asks for all of it
}

type probeStatus struct {
	ID, Name, Kind  string
	Verdict         verdictView
	Found           string
	When, Ago, Next string
	Before          string // what an earlier process found; empty: not known
	Ladder          *ladderView
	Evidence        []outcomeView
	Bursts          []string
	Count           string // how many attempts the evidence has
}

// targets puts those on the page that were asked for, and gives them their room: what
// asks for attention is first.
func (v *statusView) targets(s Status, all []targetState) {
	chosen := chosenTargets(s.Filter, all)
	v.Filter = newFilter(s.Filter, len(chosen))
	if more := len(chosen) - mostTargets; more > 0 {
		chosen, v.Unshown = chosen[:mostTargets], more
	}
	left := room(mostRoom)
	alone := len(chosen) == 1
	for _, t := range chosen {
		v.Targets = append(v.Targets, newTargetStatus(t, s.Now, &left, alone))
	}
}

// chosenTargets are those that somebody asked for. A whole name means that target
// alone.
func chosenTargets(f StatusFilter, all []targetState) []targetState {
	whole := slices.ContainsFunc(all, func(t targetState) bool { return t.Name == f.Target })
	var out []targetState
	for _, t := range all {
		switch {
		case whole && t.Name != f.Target:
		case !strings.Contains(strings.ToLower(t.Name), strings.ToLower(f.Target)):
		case f.Verdict != "" && f.Verdict != t.worst:
		default:
			out = append(out, t)
		}
	}
	return out
}

func newFilter(f StatusFilter, shown int) filterView {
	v := filterView{Target: fit(f.Target, mostName), Unknown: fit(f.Unknown, mostName), On: f.Target != "" || f.Verdict != "", Shown: shown}
	v.Verdicts = []optionView{{"", "any", f.Verdict == ""}}
	var known []string
	for _, verdict := range probes.Verdicts() {
		v.Verdicts = append(v.Verdicts, optionView{string(verdict), string(verdict), f.Verdict == verdict})
		known = append(known, string(verdict))
	}
	v.Known = strings.Join(known, ", ")
	q := url.Values{}
	for name, value := range map[string]string{"target": v.Target, "verdict": string(f.Verdict)} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Refresh == 0 {
		q.Set("refresh", "on")
	}
	v.Refresh = "?" + q.Encode()
	return v
}

// room is how many bytes of a page are left. What does not fit is left out as a
// whole, so that nothing is shown in halves.
type room int

func (r *room) take(n int) bool {
	if n > int(*r) {
		return false
	}
	*r -= room(n)
	return true
}

func newTargetStatus(t targetState, now time.Time, left *room, alone bool) targetStatus {
	v := targetStatus{
		ID: "target-" + fit(t.Name, mostName), Name: fit(t.Name, mostName), Verdict: verdictOf(t.worst),
		Brief: briefly(t), Facts: targetFacts(t), Query: "?" + url.Values{"target": {t.Name}}.Encode(),
	}
	if t.worst == "" {
		v.Verdict = verdictView{string(probes.VerdictSkipped), "not run yet"}
	}
	if u, err := url.Parse(t.Runbook); err == nil && (u.Scheme == "https" || u.Scheme == "http") && len(t.Runbook) <= mostText {
		v.Runbook = t.Runbook
	}
	v.Open = alone || t.attention() > attention(probes.VerdictPass)
	for _, f := range findings(t.view) {
		shown := newFinding(f)
		if !left.take(shown.size()) {
			v.Without = true
			break
		}
		v.Findings = append(v.Findings, shown)
	}
	for i := range t.Probes {
		const usual = 700
		if !left.take(usual) {
			v.Without = true
			break
		}
		p, whole := newProbeStatus(t, &t.Probes[i], now, left)
		v.Probes, v.Without = append(v.Probes, p), v.Without || !whole
	}
	return v
}

// briefly is what a folded target shows of itself.
func briefly(t targetState) string {
	parts := []string{counted(len(t.Probes), "probe")}
	if t.Owner != "" {
		parts = append(parts, fit(t.Owner, mostName))
	}
	return strings.Join(parts, " · ")
}

func targetFacts(t targetState) []factView {
	var facts []factView
	if t.URL != nil {
		facts = append(facts, factView{"Address", fit(bareURL(t.URL), mostText)})
	}
	if t.Owner != "" {
		facts = append(facts, factView{"Owner", fit(t.Owner, mostName)})
	}
	facts = append(facts, factView{"Budget", budgetWords(t.StatusTarget)})
	if t.Daily > 0 {
		facts = append(facts, factView{"Today", fmt.Sprintf("%d of %s", t.Today, counted(t.Daily, "request"))})
	}
	return facts
}

// budgetWords say what of a target's budget is in use.
func budgetWords(t StatusTarget) string {
	text := decimal(t.Limit, 3) + "/s"
	if t.Last.Requests == 0 {
		return text + ", nothing sent in the last wave"
	}
	text += fmt.Sprintf(", at most %s in a second in the last wave", decimal(t.Last.PeakPerSecond, 2))
	if t.Last.Denied > 0 {
		text += fmt.Sprintf("; %s not sent for it", counted(t.Last.Denied, "request"))
	}
	return text
}

// bareURL is a URL without who asks, and what is asked.
func bareURL(u *url.URL) string {
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return bare.String()
}

func newProbeStatus(t targetState, p *StatusProbe, now time.Time, left *room) (probeStatus, bool) {
	out := probeStatus{
		ID: fit(t.Name+"/"+p.Name, 2*mostName), Name: fit(p.Name, mostName), Kind: fit(string(p.Kind), mostName),
		Verdict: verdictView{string(probes.VerdictSkipped), "not run yet"}, Next: nextTick(p.Next, now),
	}
	v := t.probe(p.Name)
	switch {
	case v == nil && p.Before != "":
		out.Verdict = verdictOf(p.Before)
		out.Before = fmt.Sprintf("Not run yet since the start. Before it, it came to %s at %s, %s", out.Verdict.Word, instant(p.BeforeAt), ago(p.BeforeAt, now))
		return out, true
	case v == nil:
		return out, true
	}
	out.Verdict, out.Found = verdictOf(v.worst), fit(foundWords(*v), mostText)
	last := newest(v.outcomes)
	out.When, out.Ago = instant(last), ago(last, now)
	for _, o := range v.outcomes {
		out.Bursts = append(out.Bursts, burstLines(o)...)
	}
	whole := true
	if v.first().Kind == probes.KindIdle && drawable(*v) {
		ladder := newLadder(v.outcomes)
		if whole = left.take(ladder.size()); whole {
			out.Ladder = ladder
		}
	}
	attempts := 0
	for _, o := range v.outcomes {
		e := newOutcomeView(o)
		if len(e.Attempts) == 0 {
			continue
		}
		if !left.take(e.size()) {
			whole = false
			break
		}
		out.Evidence = append(out.Evidence, e)
		attempts += len(o.Attempts)
	}
	out.Count = counted(attempts, "attempt")
	return out, whole
}

// foundWords are what a probe last found, in a line.
func foundWords(v probeView) string {
	switch v.first().Kind {
	case probes.KindIdle:
	case probes.KindBurst:
		return v.first().Message // its attempts are many
	default:
		return exchange(v.first())
	}
	return ladderSummary(v) + closesWords(v) + agesWords(v)
}

// newest is when the last of a probe's steps began.
func newest(outcomes []*probes.Outcome) time.Time {
	var last time.Time
	for _, o := range outcomes {
		if o.Started.After(last) {
			last = o.Started
		}
	}
	return last
}
