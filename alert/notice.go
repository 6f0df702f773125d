package alert

import (
	"fmt"
	"time"

	"perch.example/probes"
)

// Notice is one message about one incident, as content: Blocks and Text
// render the very same. It is JSON, so that it can wait in the state's outbox.
type Notice struct {
	ID        string           `json:"id"` // one for good: "stock-api/connection#3 firing"
	Kind      Kind             `json:"kind"`
	Target    string           `json:"target"` // empty: it is about several, or none
	Family    probes.Family    `json:"family"`
	Diagnosis probes.Diagnosis `json:"diagnosis,omitempty"`
	Decided   time.Time        `json:"decided"`
	Title     string           `json:"title"`   // one line
	Summary   string           `json:"summary"` // one sentence, for a phone's lock screen
	Sections  []Section        `json:"sections,omitempty"`
	Links     []Link           `json:"links,omitempty"`
	Trail     []Fact           `json:"trail,omitempty"` // vantage, run id, trace id

	// Thread groups the notices that are shown as one conversation: an
	// incident's name, or that of the notice that told several at once. Empty: the
	// notice stands alone.
	Thread   string  `json:"thread,omitempty"`
	Channel  string  `json:"channel,omitempty"`  // of Slack; empty: the default one
	Severity string  `json:"severity,omitempty"` // page, ticket, info; empty: not said
	About    []About `json:"about,omitempty"`    // the incidents; none: a digest, a test
	Backlog  Backlog `json:"backlog,omitzero"`   // KindBacklog: what it sums up
	// Whole says of a reminder that it tells all that an opening does: that one
	// stood in a backlog alone.
	Whole  bool   `json:"whole,omitempty"`
	Charts Charts `json:"charts,omitzero"` // what is drawn, where a destination shows pictures
	Ways   []Way  `json:"ways,omitempty"`  // the destinations that were not told yet
	Told   bool   `json:"told,omitempty"`  // a destination was told, or will be by a backlog; of a backlog: of all that it sums up

	// What follows is said for one destination, when the notice is sent there.

	// PossibleRepeat says that the notice may have been delivered before.
	PossibleRepeat bool `json:"-"`
	// Waited is how long ago it was decided.
	Waited time.Duration `json:"-"`
}

// About is what machines need to know of an incident that a notice tells.
type About struct {
	Name     string        `json:"name"` // for good: "stock-api/connection#3"
	Target   string        `json:"target"`
	Family   probes.Family `json:"family"`
	State    State         `json:"state"`
	Probes   []string      `json:"probes"` // "target/probe"
	Since    time.Time     `json:"since"`
	Fired    time.Time     `json:"fired,omitzero"`
	Ended    time.Time     `json:"ended,omitzero"`
	EndedBy  EndedBy       `json:"ended_by,omitempty"` // empty while it is open
	Failed   int           `json:"failed_runs"`
	Counted  int           `json:"counted_runs"`
	Owner    string        `json:"owner,omitempty"`
	Severity string        `json:"severity,omitempty"`
	Runbook  string        `json:"runbook,omitempty"`
	// Every is how often the incident's probes are looked at: where they are in
	// every run, how far apart the last two were; 0: not known.
	Every time.Duration `json:"every,omitempty"`
	// Trouble is what it opened with, as the end of "stock-api: ...".
	Trouble string `json:"trouble,omitempty"`
}

// Charts are the few numbers behind a notice's pictures, small enough to wait
// in the outbox.
type Charts struct {
	Ladder  []ChartRung    `json:"ladder,omitempty"`
	Latency []ChartAttempt `json:"latency,omitempty"`
	// Expected is the idle time that the config expects the path to honour.
	Expected time.Duration `json:"expected,omitempty"`
	Band     *probes.Band  `json:"band,omitempty"` // the client's danger band
}

// ChartRung is one rung of the ladder.
type ChartRung struct {
	Hold    time.Duration  `json:"hold"`
	Closed  time.Duration  `json:"closed,omitempty"` // idle age of a close that was seen; 0: none was
	Verdict probes.Verdict `json:"verdict"`
	Reason  probes.Reason  `json:"reason"`
}

// ChartAttempt is one answered or failed attempt.
type ChartAttempt struct {
	Connection probes.Connection `json:"connection"`
	Elapsed    time.Duration     `json:"elapsed"`
	RTT        time.Duration     `json:"rtt,omitempty"`
	OK         bool              `json:"ok"`
}

// Kind is a kind of notice.
type Kind string

// The kinds.
const (
	KindFiring   Kind = "firing"
	KindResolved Kind = "resolved"
	KindFlapping Kind = "flapping" // an opening again and again, told as one
	KindSharper  Kind = "sharper"  // what is known of an open incident has changed
	KindReminder Kind = "reminder" // it is still open
	KindOngoing  Kind = "ongoing"  // likewise, for a destination that must hear it in each run; never kept
	KindDigest   Kind = "digest"   // the day's degraded
	KindBacklog  Kind = "backlog"  // what could not be delivered for a day, in one
	KindConfig   Kind = "config"   // a config that changed under perch serve: refused, or good again
	KindTest     Kind = "test"     // `perch alert test`
	KindPreview  Kind = "preview"  // what a firing notice would say
)

// Section is a part of a notice under one heading.
type Section struct {
	Heading string   `json:"heading"`
	Form    Form     `json:"form"`
	Lines   []string `json:"lines,omitempty"`
	Facts   []Fact   `json:"facts,omitempty"` // FormFacts: at most 10
}

// Form is how the lines of a section are set.
type Form string

// The forms.
const (
	FormText  Form = "text"  // a paragraph each
	FormList  Form = "list"  // a point each
	FormFixed Form = "fixed" // aligned by blanks
	FormFacts Form = "facts" // names and values
)

// Fact is a name and its value.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Link is a named address on the web.
type Link struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// What a notice may hold, in the characters that Slack counts after escaping.
// The sum stays below 10,000: a section never starves the ones behind it.
const (
	maxTitle      = 150
	maxSummary    = 300
	maxExperience = 1400
	maxFacts      = 800
	maxLadder     = 2200
	maxHypotheses = 2000
	maxAdvice     = 2200
	maxCheck      = 700
	maxFact       = 300
	maxLine       = 500
)

// slim drops everything but what happened, for a notice that waits behind many.
func (n *Notice) slim() {
	const dropped = "Its details were dropped: too many notices waited to be sent."
	if n.isSlim() {
		return
	}
	n.Charts = Charts{}
	n.Sections = []Section{{Heading: "Details", Form: FormText, Lines: []string{n.Summary, dropped}}}
}

// isSlim reports whether nothing is left to drop. A backlog's lines are what
// happened.
func (n Notice) isSlim() bool {
	return n.Kind == KindBacklog || len(n.Sections) <= 1 && len(n.Charts.Ladder) == 0 && len(n.Charts.Latency) == 0
}

// remarks are what is said above a notice about its own delivery.
func (n Notice) remarks() []string {
	var out []string
	if n.PossibleRepeat {
		out = append(out, "This may be a repeat: when it was sent before, no clear answer came.")
	}
	if n.Waited >= onTime {
		what := "this"
		if n.Kind == KindBacklog {
			what = "the oldest of this"
		}
		out = append(out, fmt.Sprintf("Late: %s was decided at %s, and could not be delivered for %s.", what, clock(n.Decided), lasted(n.Waited)))
	}
	return out
}

// section makes a section whose lines are clean and fit, or none.
func section(heading string, form Form, limit int, lines []string) []Section {
	fitting := fit(lines, limit, form)
	if len(fitting) == 0 {
		return nil
	}
	return []Section{{Heading: heading, Form: form, Lines: fitting}}
}

// facts makes a section of what has a value.
func facts(heading string, all ...Fact) []Section {
	kept, used := []Fact(nil), 0
	for _, f := range all {
		f.Value = shorten(clean(f.Value), maxFact, "…")
		if f.Value == "" || used+size(f.Name+f.Value) > maxFacts {
			continue
		}
		used += size(f.Name + f.Value)
		kept = append(kept, f)
	}
	return []Section{{Heading: heading, Form: FormFacts, Facts: kept}}
}

// links keeps what can be followed.
func links(all ...Link) []Link {
	var kept []Link
	for _, l := range all {
		if webURL(l.URL) {
			kept = append(kept, l)
		}
	}
	return kept
}

// trail says where the notice comes from.
func trail(run probes.Run, trace string) []Fact {
	var kept []Fact
	for _, f := range []Fact{{"perch", run.Name}, {"vantage", run.Vantage}, {"run", run.RunID}, {"trace", trace}} {
		if f.Value = shorten(clean(f.Value), 100, "…"); f.Value != "" {
			kept = append(kept, f)
		}
	}
	return kept
}
