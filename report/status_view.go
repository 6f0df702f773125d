package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// Bounds of the page: a server may send a megabyte of anything, and a config may have
// thousands of targets.
const (
	mostName      = 80
	mostText      = 1000
	mostTargets   = 400
	mostHeld      = 100
	mostIncidents = 100
	mostLoops     = 12
	mostRoom      = 900 << 10 // bytes of ladders and evidence
)

// fit makes text fit to be shown: bounded, and without what plays with its reader.
func fit(s string, most int) string {
	const widest = 4 // bytes of a rune
	if len(s) > widest*most {
		s = s[:widest*most]
	}
	return cut(clean(s), most)
}

// statusView is what the template shows. All of its texts are fit.
type statusView struct {
	Style     template.CSS
	Icon      template.URL
	Refresh   int // seconds; 0: none
	Title     string
	Name      string
	Vantage   string
	Verdict   verdictView
	Sentence  string
	Trouble   string
	Facts     []factView
	Loops     []factView
	MoreLoops int
	Refused   string // why the config in the files is not in use; empty: it is
	Unread    bool
	Incidents []incidentView
	More      int // incidents
	Notices   []string
	Held      []heldView
	MoreHeld  int
	Filter    filterView
	Targets   []targetStatus
	Unshown   int // targets, for there are too many
	All       int // targets of the config
}

type verdictView struct{ Class, Word string }

type factView struct{ Name, Value string }

type incidentView struct {
	Verdict                                           verdictView
	Name, Target, Family, Diagnosis, Said, Since, Ago string
	Notice                                            string
}

type heldView struct {
	ID, Hold, Left, Close string
	Done                  string // 0 to 100, of its bar
	Closed                bool
}

type filterView struct {
	Target   string
	Verdicts []optionView
	Unknown  string // asked for, and no verdict
	Known    string // which there are
	On       bool
	Refresh  string // the query that asks for the other way
	Shown    int
}

type optionView struct {
	Value, Word string
	Chosen      bool
}

func newStatusView(s Status) statusView {
	v := statusView{
		Style: template.CSS(statusStyle()), Refresh: int(s.Filter.Refresh.Seconds()),
		Name: fit(s.Name, mostName), Vantage: fit(s.Vantage, mostName), Trouble: fit(s.Trouble, mostText), Unread: s.Unread, All: len(s.Targets),
	}
	if s.ConfigRefused {
		v.Refused = fit(s.Config, mostText)
	}
	all := byAttention(s.Targets)
	v.Verdict, v.Sentence = overallStatus(s, all)
	v.Icon = icon(v.Verdict.Class)
	v.Title = titleOf(v)
	v.Facts, v.Loops = factsOf(s), loopsOf(s)
	if more := len(v.Loops) - mostLoops; more > 0 {
		v.Loops, v.MoreLoops = v.Loops[:mostLoops], more
	}
	v.incidents(s, all)
	v.held(s)
	v.targets(s, all)
	return v
}

// verdictOf is a verdict as word, and as the class of its colours.
func verdictOf(v probes.Verdict) verdictView {
	if !slices.Contains(probes.Verdicts(), v) {
		return verdictView{string(probes.VerdictIncomplete), "unknown"} // never a pass
	}
	return verdictView{string(v), string(v)}
}

// icon is a page's sign in the browser's tab: the shape of its verdict.
func icon(class string) template.URL {
	shape := map[string]string{
		string(probes.VerdictPass):     "%3Ccircle cx='8' cy='8' r='7' fill='%2323883f'/%3E",
		string(probes.VerdictDegraded): "%3Cpath d='M8 1l7 14H1z' fill='%23c07a10'/%3E",
		string(probes.VerdictFail):     "%3Cpath d='M3 3l10 10M13 3L3 13' stroke='%23cf3227' stroke-width='4'/%3E",
	}[class]
	if shape == "" {
		shape = "%3Ccircle cx='8' cy='8' r='6' fill='none' stroke='%237a56ab' stroke-width='3'/%3E"
	}
	return template.URL("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" + shape + "%3C/svg%3E")
}

func titleOf(v statusView) string {
	return strings.Join([]string{v.Verdict.Word, cmp.Or(v.Name, "perch"), "perch"}, " · ")
}

func factsOf(s Status) []factView {
	facts := []factView{{"Version", cmp.Or(fit(s.Version, mostName), "unknown")}}
	if !s.Since.IsZero() {
		facts = append(facts, factView{"Serving since", spell(s.Now.Sub(s.Since)) + ", since " + instant(s.Since)})
	}
	if s.Role != "" {
		facts = append(facts, factView{"Role", fit(s.Role, mostText)})
	}
	config := cmp.Or(s.Config, "as it was at the start")
	if s.ConfigRefused {
		config = "an earlier one is in use; that in the files is refused"
	}
	return append(facts, factView{"Config", fit(config, mostText)}, factView{"This page", instant(s.Now)})
}

func loopsOf(s Status) []factView {
	loops := slices.Clone(s.Loops)
	slices.SortStableFunc(loops, func(a, b StatusLoop) int { return cmp.Compare(a.Every, b.Every) })
	var facts []factView
	for _, l := range loops {
		facts = append(facts, factView{"every " + probes.Spoken(l.Every), nextTick(l.Next, s.Now)})
	}
	return facts
}

// nextTick says when something is due.
func nextTick(at, now time.Time) string {
	switch {
	case at.IsZero():
		return "not known"
	case !at.After(now):
		return "now"
	}
	return "in " + spell(at.Sub(now))
}

// instant is a moment as it stands on the page.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }

// ago says how long something is past.
func ago(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	if d := now.Sub(t); d >= time.Second {
		return spell(d) + " ago"
	}
	return "just now"
}

// spell is a time as people say it: its largest unit, and the next one where that is
// not much smaller.
func spell(d time.Duration) string {
	const day = 24 * time.Hour
	two := func(d, big, small time.Duration, bigWord, smallWord string) string {
		text := fmt.Sprintf("%d %s", d/big, bigWord)
		if rest := d % big / small; d/big < 10 && rest > 0 {
			text += fmt.Sprintf(" %d %s", rest, smallWord)
		}
		return text
	}
	switch {
	case d >= 2*day:
		return two(d, day, time.Hour, "days", "h")
	case d >= time.Hour:
		return two(d, time.Hour, time.Minute, "h", "min")
	case d >= time.Minute:
		return two(d, time.Minute, time.Second, "min", "s")
	}
	return fmt.Sprintf("%d s", max(0, d.Round(time.Second)/time.Second))
}

func (v *statusView) incidents(s Status, all []targetState) {
	for _, i := range s.Incidents {
		if len(v.Incidents) == mostIncidents {
			v.More++
			continue
		}
		v.Incidents = append(v.Incidents, incidentView{
			Verdict: incidentVerdict(i), Name: fit(i.Name, mostName), Target: fit(i.Target, mostName), Family: fit(string(i.Family), mostName),
			Diagnosis: fit(diagnosesOf(all, i), mostText), Said: fit(i.Said, mostText), Since: instant(i.Since), Ago: ago(i.Since, s.Now),
			Notice: noticeWords(i),
		})
	}
	for _, n := range s.Notices {
		v.Notices = append(v.Notices, fit(n, mostText))
	}
}

func incidentVerdict(i probes.Incident) verdictView {
	class := probes.VerdictSkipped
	switch i.State {
	case probes.IncidentFiring, probes.IncidentFlapping:
		class = probes.VerdictFail
	case probes.IncidentPending:
		class = probes.VerdictDegraded
	case probes.IncidentResolved:
		class = probes.VerdictPass
	case probes.IncidentClosed:
	}
	return verdictView{string(class), fit(string(i.State), mostName)}
}

// diagnosesOf are what the incident's outcomes come to now, in words.
func diagnosesOf(all []targetState, i probes.Incident) string {
	var words []string
	var failing []*probes.Outcome
	for _, t := range all {
		for _, o := range t.failing(i) {
			failing = append(failing, o)
			if text := title(o); !slices.Contains(words, text) {
				words = append(words, text)
			}
		}
	}
	text := strings.Join(words, "; ")
	if client := copes(failing); client != "" {
		text += " (" + client + ")"
	}
	return text
}

// copes says which declared client copes with all that fails; empty: not all of it.
func copes(outcomes []*probes.Outcome) string {
	client := ""
	for _, o := range outcomes {
		if o.Verdict != probes.VerdictFail || o.Accepted != nil {
			continue
		}
		if !o.ClientCopes() {
			return ""
		}
		client = fit(o.Client.Kind, mostName) + " copes"
	}
	return client
}

func noticeWords(i probes.Incident) string {
	switch i.Notice {
	case probes.NoticeMuted:
		return "silenced until " + instant(i.MutedUntil)
	case probes.NoticeWaiting:
		return "what there is to tell waits"
	case probes.NoticeTold:
		return "told"
	case probes.NoticeNone:
	}
	return "nobody is told"
}

func (v *statusView) held(s Status) {
	for _, e := range s.Held {
		if len(v.Held) == mostHeld {
			v.MoreHeld++
			continue
		}
		left := max(0, e.Until.Sub(s.Now))
		h := heldView{ID: fit(e.Target+"/"+e.Probe, 2*mostName), Hold: age(e.Hold), Left: spell(left), Close: "open", Done: "100"}
		if e.Connections > 1 {
			h.Hold += ", " + counted(e.Connections, "connection")
		}
		if e.Hold > 0 {
			h.Done = decimal(100*(1-min(1, left.Seconds()/e.Hold.Seconds())), 1)
		}
		if c := e.Close; c != nil {
			h.Closed, h.Close = true, "closed at "+age(c.Age)+" ("+fit(c.How.Words(), mostName)+")"
		}
		v.Held = append(v.Held, h)
	}
}
