package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"perch.example/probes"
)

//go:embed html/base.css html/report.css html/report*.tmpl
var htmlFiles embed.FS

// htmlPage is what the page of a run shows. Its texts are as they came: the template
// escapes them, and HTML spells out what is not printable on the way to the file.
type htmlPage struct {
	Title     string
	Style     template.CSS // our own files
	StyleHash string       // the only style that the page's policy allows
	Verdict   verdictView
	Name      string
	Headline  string
	Facts     []factView
	Contents  []htmlLink // what is not a pass, the worst first
	More      int        // that Contents does not name
	Targets   []htmlTarget
	Clients   *htmlClients // of perch idle
	Notes     []htmlNote   // what the reader must not miss
	Aside     []htmlNote
	Budget    []htmlBudget
	Unlisted  string // of a long budget table, what it left out
	Messages  []string
}

type htmlLink struct {
	Anchor, Text string
	Verdict      verdictView
}

// htmlNote is a line about the run as a whole.
type htmlNote struct{ Class, Label, Text string }

type htmlBudget struct {
	Target, Limit, Peak, Held string
	Requests                  int
}

// htmlTarget is one target: its probes, and what was found.
type htmlTarget struct {
	Anchor, Name string
	Verdict      verdictView
	Probes       []htmlProbe
	Findings     []htmlFinding
}

// HTML writes the run as one page that needs nothing else: no script, no picture, no
// style from elsewhere, and its policy forbids them. What is not a pass stands first and open,
// what passed is folded. Notices are messages that would be sent, as texts; empty ones are
// left out. The error is w's.
func HTML(w io.Writer, run probes.Run, notices ...string) error {
	page, err := newHTMLPage(run, notices)
	if err != nil {
		return err
	}
	text, err := rendered("report.tmpl", page)
	if err != nil {
		return fmt.Errorf("making the report: %w", err)
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// rendered executes a template. Every line passes clean on its way out, so that no
// part of a page can forget it: a server's text may turn the reading direction, or hold
// what nobody sees.
func rendered(name string, data any) ([]byte, error) {
	t, err := template.New(name).Funcs(template.FuncMap{"prose": prose, "laidOut": laidOut, "long": long}).ParseFS(htmlFiles, "html/report*.tmpl")
	if err != nil {
		return nil, err
	}
	var raw, out bytes.Buffer
	if err := t.Execute(&raw, data); err != nil {
		return nil, err
	}
	for line := range strings.Lines(raw.String()) {
		text := strings.TrimRight(clean(strings.TrimSuffix(line, "\n")), " ")
		if text != "" {
			out.WriteString(text)
			out.WriteByte('\n')
		}
	}
	return out.Bytes(), nil
}

func newHTMLPage(run probes.Run, notices []string) (htmlPage, error) {
	style, hash, err := htmlStyle()
	if err != nil {
		return htmlPage{}, err
	}
	v, _ := shownVerdict(run)
	name := run.Name
	if name == "" {
		name = "perch"
	}
	p := htmlPage{
		Title: verdictWord(v) + ": " + name + from(run.Vantage), Style: style, StyleHash: hash,
		Verdict: verdictOf(v), Name: name, Headline: strings.TrimPrefix(Headline(run), verdictWord(v)+": "),
		Facts: runFacts(run), Notes: runNotes(run), Aside: asides(run),
	}
	p.Budget, p.Unlisted = budgetTable(run.Budget)
	all := targets(run)
	// A page is read from its top, a terminal from its end.
	slices.SortStableFunc(all, func(a, b targetView) int { return attention(b.worst) - attention(a.worst) })
	b := newHTMLBuilder(all)
	for _, t := range all {
		p.Targets = append(p.Targets, b.target(t))
	}
	p.Contents, p.More = contents(p.Targets)
	p.Clients = clientTable(run)
	for _, text := range notices {
		if strings.TrimSpace(text) != "" {
			p.Messages = append(p.Messages, strings.ReplaceAll(strings.TrimSpace(text), "\n\n", "\n"+unbroken+"\n")) // empty lines do not come through
		}
	}
	return p, nil
}

// htmlStyle is the page's whole style, and its hash as a policy names it.
func htmlStyle() (template.CSS, string, error) {
	var all []byte
	for _, name := range []string{"html/base.css", "html/report.css"} {
		text, err := htmlFiles.ReadFile(name)
		if err != nil {
			return "", "", err
		}
		all = append(all, text...)
	}
	// What goes through the template comes out line by line, without its empty ones.
	var out []string
	for line := range strings.Lines("\n" + string(all)) {
		if line = strings.TrimRight(line, " \n"); line != "" {
			out = append(out, line)
		}
	}
	text := "\n" + strings.Join(out, "\n") + "\n"
	sum := sha256.Sum256([]byte(text))
	return template.CSS(text), "sha256-" + base64.StdEncoding.EncodeToString(sum[:]), nil //nolint:gosec // our own files
}

func from(vantage string) string {
	if vantage == "" {
		return ""
	}
	return " from " + vantage
}

func runFacts(run probes.Run) []factView {
	var out []factView
	add := func(name, value string) {
		if value != "" {
			out = append(out, factView{name, value})
		}
	}
	add("Vantage", run.Vantage)
	if !run.Started.IsZero() {
		add("Started", instant(run.Started))
	}
	if !run.Finished.IsZero() {
		add("Finished", instant(run.Finished))
	}
	add("Took", took(run))
	add("Protocol", strings.Join(spokenOver(run), ", "))
	add("Run", run.RunID)
	add("Seed", fmt.Sprint(run.Seed))
	add("Made by", strings.TrimSpace("perch "+run.Version))
	return out
}

// contents names what is not a pass.
func contents(all []htmlTarget) ([]htmlLink, int) {
	const most = 40
	var out []htmlLink
	for _, t := range all {
		for _, p := range t.Probes {
			if p.Open {
				out = append(out, htmlLink{p.Anchor, p.ID, p.Verdict})
			}
		}
	}
	if more := len(out) - most; more > 0 {
		return out[:most], more
	}
	return out, 0
}

// prose are the pieces of a text, as they are laid out.
func prose(s string) []piece { return laidOut(pieces(s)) }

// laidOut has what follows code that stands on lines of its own begin a line: not with
// the mark that ended the words before.
func laidOut(all []piece) []piece {
	all = slices.Clone(all)
	for i := 1; i < len(all); i++ {
		if all[i-1].Code && long(all[i-1].Text) && !all[i].Code {
			all[i].Text = strings.TrimLeft(all[i].Text, ".,;: ")
		}
	}
	return slices.DeleteFunc(all, func(p piece) bool { return p.Text == "" })
}

// long reports whether code is to stand on lines of its own.
func long(code string) bool { return len(code) > 64 }
