package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"strings"
	"time"

	"perch.example/probes"
)

// Status is what perch serve knows at one moment, for people who look.
type Status struct {
	Now           time.Time
	Version       string
	Name, Vantage string
	Since         time.Time // the process began
	Role          string    // of several replicas: "leader", "standing by"; empty: there is but one
	Config        string    // how the last reload went, a sentence of its own where it is refused; empty: there was none
	ConfigRefused bool      // the config in the files is refused, and an earlier one runs
	Trouble       string    // what perch itself cannot do; empty: nothing
	Loops         []StatusLoop
	Targets       []StatusTarget // in the config's order
	Held          []probes.Event // what is held now, the next to be reused first
	Unread        bool           // the state was not read yet: what is open is not known
	Incidents     []probes.Incident
	Notices       []string // as in Run.Notices
	Filter        StatusFilter
}

// StatusLoop is when what has the same `every` runs next.
type StatusLoop struct {
	Every time.Duration
	Next  time.Time // zero: not known
}

// StatusTarget is a target, and what its probes last found.
type StatusTarget struct {
	Name    string
	URL     *url.URL // shown without user, query string and fragment
	Owner   string
	Runbook string
	Limit   float64          // requests a second that perch may send
	Last    probes.BudgetUse // of its last wave; zero: there was none
	Daily   int              // requests that perch may send in a UTC day
	Today   int              // of them sent
	Probes  []StatusProbe
}

// StatusProbe is a probe, and what it last found.
type StatusProbe struct {
	Name     string
	Kind     probes.Kind
	Every    time.Duration
	Next     time.Time          // zero: not known
	Outcomes []probes.Outcome   // nil: it has not run yet
	Before   probes.Verdict     // by an earlier process, where it has not run yet; empty: not known
	BeforeAt time.Time          // that run's start
	Idle     *probes.IdleResult // nil: not an idle probe, or nothing measured
}

// StatusFilter is what somebody asked to see. The zero value is all of it.
type StatusFilter struct {
	Target  string         // a target's name, or a part of it
	Verdict probes.Verdict // the worst of a target's
	Unknown string         // what was asked for in place of a verdict, and is none: all are shown, which the page says
	Refresh time.Duration  // how often the browser is to ask anew; 0: when its user says so
}

//go:embed html/base.css html/status.css html/status.tmpl html/status_target.tmpl
var statusFiles embed.FS

// StatusPage writes the page. It holds no secret, and what came from the network is
// text in it, shortened where it is long; of many targets those that pass come last, and
// with less. The error is w's.
func StatusPage(w io.Writer, s Status) error {
	page, err := template.New("status.tmpl").ParseFS(statusFiles, "html/status.tmpl", "html/status_target.tmpl")
	if err != nil {
		return fmt.Errorf("parsing the status page: %w", err)
	}
	if err := page.Execute(w, newStatusView(s)); err != nil {
		return fmt.Errorf("writing the status page: %w", err)
	}
	return nil
}

// StatusPolicy is the Content-Security-Policy under which the page is whole: its own
// style and icon, a form that asks the same server, and nothing else.
func StatusPolicy() string {
	sum := sha256.Sum256([]byte(statusStyle()))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

func statusStyle() string {
	var b strings.Builder
	for _, name := range []string{"html/base.css", "html/status.css"} {
		text, err := statusFiles.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		b.Write(text)
	}
	return b.String()
}
