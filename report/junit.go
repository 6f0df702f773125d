package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"perch.example/probes"
)

// junitSuites is the document that CI systems read: a suite a target, a case an
// outcome. Its shape is the one that most of them take (the attributes and the order
// of elements of Ant's and Jenkins's readers).
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Name    string       `xml:"name,attr"`
	Suites  []junitSuite `xml:"testsuite"`
	junitCounts
}

type junitCounts struct {
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Time     string `xml:"time,attr"` // seconds
}

type junitSuite struct {
	ID        int    `xml:"id,attr"`
	Name      string `xml:"name,attr"`
	Package   string `xml:"package,attr"`
	Hostname  string `xml:"hostname,attr"`
	Timestamp string `xml:"timestamp,attr"` // UTC, without a zone: readers that are strict take no other
	junitCounts
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string       `xml:"name,attr"`
	Class   string       `xml:"classname,attr"`
	Time    string       `xml:"time,attr"`
	Skipped *junitResult `xml:"skipped"`
	Error   *junitResult `xml:"error"`
	Failure *junitResult `xml:"failure"`
	Output  string       `xml:"system-out,omitempty"`
}

type junitResult struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Body    string `xml:",chardata"`
}

// JUnit writes the run as JUnit XML: a suite a target, a case a probe or a rung. A
// fail is a failure, whatever the exit status makes of it; an accepted one is skipped, and
// says why. Failing says which verdicts are failures beside it: `--fail-on degraded`
// makes those that are degraded so, which pass otherwise and carry what was seen. What perch
// could not judge, or could not do, is an error. The error is w's.
func JUnit(w io.Writer, run probes.Run, failing ...probes.Verdict) error {
	text, err := xml.MarshalIndent(newJUnit(run, failing), "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	// Line breaks are in bodies alone, where they may stand as themselves, for who reads
	// the file without a reader.
	lines := strings.ReplaceAll(string(text), "&#xA;", "\n")
	if _, err := io.WriteString(w, xml.Header+lines+"\n"); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func newJUnit(run probes.Run, failing []probes.Verdict) junitSuites {
	d := junitSuites{Name: clean(strings.TrimSpace("perch " + run.Name))}
	for _, name := range junitTargets(run) {
		d.Suites = append(d.Suites, newJUnitSuite(run, name, failing))
	}
	if own := junitOwn(run); len(own) > 0 {
		d.Suites = append(d.Suites, suiteOf(run, "perch itself", own))
	}
	for i := range d.Suites {
		s := &d.Suites[i]
		s.ID = i
		d.Tests, d.Failures, d.Errors, d.Skipped = d.Tests+s.Tests, d.Failures+s.Failures, d.Errors+s.Errors, d.Skipped+s.Skipped
	}
	d.Time = junitTime(run.Finished.Sub(run.Started))
	return d
}

// junitTargets are the run's targets in the order of the config: readers sort as
// they like.
func junitTargets(run probes.Run) []string {
	var names []string
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, o := range run.Outcomes {
		add(o.Target)
	}
	for _, id := range run.NotDue {
		target, _, _ := strings.Cut(id, "/")
		add(target)
	}
	return names
}

func newJUnitSuite(run probes.Run, target string, failing []probes.Verdict) junitSuite {
	var cases []junitCase
	taken := map[string]int{}
	for i := range run.Outcomes {
		o := &run.Outcomes[i]
		if o.Target != target {
			continue
		}
		c := newJUnitCase(o, failing)
		key := c.Class + " " + c.Name
		if taken[key]++; taken[key] > 1 {
			c.Name += fmt.Sprintf(" (%d)", taken[key])
		}
		cases = append(cases, c)
	}
	for _, id := range run.NotDue {
		if of, probe, _ := strings.Cut(id, "/"); of == target {
			cases = append(cases, junitCase{
				Name: clean(probe), Class: clean(target + "." + probe), Time: junitTime(0),
				Skipped: &junitResult{Message: "not due: --all runs it all the same"},
			})
		}
	}
	return suiteOf(run, target, cases)
}

// suiteOf is a suite with its cases, counted and added up.
func suiteOf(run probes.Run, name string, cases []junitCase) junitSuite {
	s := junitSuite{
		Name: clean(name), Package: clean(strings.Trim(run.Name+"."+name, ".")), Hostname: clean(run.Vantage),
		Timestamp: run.Started.UTC().Format("2006-01-02T15:04:05"), Properties: junitProperties(run), Cases: cases,
	}
	if s.Hostname == "" {
		s.Hostname = "unknown" // readers want one
	}
	var took time.Duration
	for _, c := range cases {
		s.Tests++
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
		d, _ := time.ParseDuration(c.Time + "s") // our own
		took += d
	}
	s.Time = junitTime(took)
	return s
}

func junitProperties(run probes.Run) []junitProperty {
	return []junitProperty{
		{"perch.version", clean(run.Version)},
		{"perch.vantage", clean(run.Vantage)},
		{"perch.run_id", clean(run.RunID)},
		{"perch.seed", fmt.Sprint(run.Seed)},
		{"perch.verdict", string(overall(run))},
	}
}

// junitTime is in seconds, with three digits.
func junitTime(d time.Duration) string { return fmt.Sprintf("%.3f", max(0, d).Seconds()) }

// junitOwn is what perch could not do, and that the run was cut short.
func junitOwn(run probes.Run) []junitCase {
	var cases []junitCase
	if run.CutShort != "" {
		cases = append(cases, junitCase{
			Name: "the run ends by itself", Class: "perch.run", Time: junitTime(run.Finished.Sub(run.Started)),
			Error: &junitResult{Message: clean("cut short: " + run.CutShort), Type: string(probes.VerdictIncomplete)},
		})
	}
	for i, p := range run.Problems {
		cases = append(cases, junitCase{
			Name: fmt.Sprintf("%s (%d)", clean(string(p.Part)), i+1), Class: "perch." + clean(string(p.Part)), Time: junitTime(0),
			Error: &junitResult{Message: clean(p.Text), Type: "problem"},
		})
	}
	return cases
}
