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
	Target    string           `json:"target"`
	Family    probes.Family    `json:"family"`
	Diagnosis probes.Diagnosis `json:"diagnosis,omitempty"`
	Decided   time.Time        `json:"decided"`
	Title     string           `json:"title"`   // one line
	Summary   string           `json:"summary"` // one sentence, for a phone's lock screen
	Sections  []Section        `json:"sections,omitempty"`
	Links     []Link           `json:"links,omitempty"`
	Trail     []Fact           `json:"trail,omitempty"` // vantage, run id, trace id

	// Sending says that a send began whose end is not recorded.
	Sending bool `json:"sending,omitempty"`
	// PossibleRepeat says that the notice may have been delivered before.
	PossibleRepeat bool `json:"possible_repeat,omitempty"`
	// Waited is how long ago it was decided; Decide sets it.
	Waited time.Duration `json:"-"`
}

// Kind is a kind of notice.
type Kind string

// The kinds.
const (
	KindFiring   Kind = "firing"
	KindResolved Kind = "resolved"
	KindPreview  Kind = "preview" // what a firing notice would say
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
	if len(n.Sections) <= 1 {
		return
	}
	n.Sections = []Section{{Heading: "Details", Form: FormText, Lines: []string{n.Summary, dropped}}}
}

// remarks are what is said above a notice about its own delivery.
func (n Notice) remarks() []string {
	var out []string
	if n.PossibleRepeat {
		out = append(out, "This may be a repeat: when it was sent before, no clear answer came.")
	}
	if n.Waited >= time.Minute {
		out = append(out, fmt.Sprintf("Late: this was decided at %s, and could not be delivered for %s.", clock(n.Decided), span(n.Waited.Round(time.Minute))))
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
