package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

func junit(t *testing.T, run probes.Run, failing ...probes.Verdict) string {
	t.Helper()
	var b bytes.Buffer
	if err := JUnit(&b, run, failing...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// element is any XML element, to look at the shape of a document.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []element  `xml:",any"`
	Text     string     `xml:",chardata"`
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (e element) all(name string) []element {
	var out []element
	for _, c := range e.Children {
		if c.XMLName.Local == name {
			out = append(out, c)
		}
	}
	return out
}

// shapeOf is what the common schemas of JUnit XML have of an element: the attributes
// that it must have, those that it may have, and its children in their order.
type shapeOf struct{ must, may, children []string }

func junitShape() map[string]shapeOf {
	counts := []string{"name", "tests", "failures", "errors", "time"}
	result := shapeOf{must: []string{"message"}, may: []string{"type"}}
	return map[string]shapeOf{
		"testsuites": {counts, []string{"skipped"}, []string{"testsuite"}},
		"testsuite":  {append(slices.Clone(counts), "hostname", "timestamp"), []string{"id", "package", "skipped"}, []string{"properties", "testcase", "system-out", "system-err"}},
		"properties": {nil, nil, []string{"property"}},
		"property":   {[]string{"name", "value"}, nil, nil},
		"testcase":   {[]string{"name", "classname", "time"}, nil, []string{"skipped", "error", "failure", "system-out", "system-err"}},
		"skipped":    result, "error": result, "failure": result, "system-out": {},
	}
}

// checkJUnit reports what is wrong with the document's shape, its times and its sums.
func checkJUnit(text string) error {
	var root element
	d := xml.NewDecoder(strings.NewReader(strings.TrimSpace(text)))
	if err := d.Decode(&root); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("something stands behind the root: %w", err)
	}
	if root.XMLName.Local != "testsuites" {
		return fmt.Errorf("the root is %s", root.XMLName.Local)
	}
	return errors.Join(checkElement(root), checkSums(root))
}

func checkElement(e element) error {
	name := e.XMLName.Local
	shape, known := junitShape()[name]
	if !known {
		return fmt.Errorf("<%s> is no element of JUnit's", name)
	}
	for _, must := range shape.must {
		if !slices.ContainsFunc(e.Attrs, func(a xml.Attr) bool { return a.Name.Local == must }) {
			return fmt.Errorf("<%s> has no %s", name, must)
		}
	}
	for _, a := range e.Attrs {
		if !slices.Contains(shape.must, a.Name.Local) && !slices.Contains(shape.may, a.Name.Local) {
			return fmt.Errorf("<%s> has %s", name, a.Name.Local)
		}
		if s, err := strconv.ParseFloat(a.Value, 64); a.Name.Local == "time" && (err != nil || s < 0) {
			return fmt.Errorf("<%s> took %q", name, a.Value)
		}
		if _, err := time.Parse("2006-01-02T15:04:05", a.Value); a.Name.Local == "timestamp" && err != nil {
			return err
		}
	}
	at := 0
	for _, c := range e.Children {
		place := slices.Index(shape.children, c.XMLName.Local)
		if place < at {
			return fmt.Errorf("<%s> has <%s>, or has it too late", name, c.XMLName.Local)
		}
		at = place
		if err := checkElement(c); err != nil {
			return err
		}
	}
	if results := len(e.all("skipped")) + len(e.all("error")) + len(e.all("failure")); results > 1 {
		return fmt.Errorf("<%s> has %d results", name, results)
	}
	return nil
}

func checkSums(root element) error {
	for count, result := range map[string]string{"failures": "failure", "errors": "error", "skipped": "skipped", "tests": ""} {
		sum := 0
		for _, s := range root.all("testsuite") {
			n := 0
			for _, c := range s.all("testcase") {
				if result == "" || len(c.all(result)) > 0 {
					n++
				}
			}
			if got := s.attr(count); got != fmt.Sprint(n) {
				return fmt.Errorf("suite %q says %s=%q, and has %d", s.attr("name"), count, got, n)
			}
			sum += n
		}
		if got := root.attr(count); got != fmt.Sprint(sum) {
			return fmt.Errorf("the document says %s=%q, and has %d", count, got, sum)
		}
	}
	return nil
}

func TestJUnitIsWhatReadersTake(t *testing.T) {
	all := runs()
	all["poisoned"], all["idle"], all["none"] = poisoned(), search(), probes.Run{}
	for name, run := range all {
		for _, failing := range [][]probes.Verdict{nil, {probes.VerdictDegraded}} {
			text := junit(t, run, failing...)
			if err := checkJUnit(text); err != nil {
				t.Errorf("%s: %v\n%s", name, err, text)
			}
			checkHarmless(t, name, text)
		}
	}
}

func TestJUnitCheckSeesWhatIsWrong(t *testing.T) {
	good := junit(t, incident())
	for what, bad := range map[string]string{
		"no suites":         strings.ReplaceAll(good, "testsuites", "suites"),
		"a wrong sum":       strings.Replace(good, `failures="2"`, `failures="3"`, 1),
		"no class":          strings.Replace(good, " classname=", " class=", 1),
		"a zone":            strings.Replace(good, `T00:00:00"`, `T00:00:00Z"`, 1),
		"no time":           strings.Replace(good, `time="`, `time="soon`, 1),
		"an element":        strings.Replace(good, "</failure>", "</failure><flaky/>", 1),
		"the order":         strings.Replace(good, "<failure", "<system-out></system-out><failure", 1),
		"two results":       strings.Replace(good, "<failure", `<skipped message=""></skipped><failure`, 1),
		"text behind":       good + "<more/>",
		"not well formed":   strings.Replace(good, "</testcase>", "", 1),
		"a control picture": strings.Replace(good, "</failure>", "\x01</failure>", 1),
	} {
		if bad == good || checkJUnit(bad) == nil {
			t.Errorf("%s: nothing was seen", what)
		}
	}
}

func TestJUnitGolden(t *testing.T) {
	for _, name := range []string{"incident", "problems", "incomplete", "accepted", "nothing_due"} {
		golden(t, name+".xml", []byte(junit(t, runs()[name])))
	}
}

// results are the cases of a document with what came of each.
func results(t *testing.T, text string) map[string]string {
	t.Helper()
	var root element
	if err := xml.Unmarshal([]byte(text), &root); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, s := range root.all("testsuite") {
		for _, c := range s.all("testcase") {
			what := "passes"
			for _, r := range []string{"skipped", "error", "failure"} {
				if len(c.all(r)) > 0 {
					what = r
				}
			}
			out[s.attr("name")+": "+c.attr("name")] = what
		}
	}
	return out
}

func TestJUnitResultOfEachVerdict(t *testing.T) {
	run := baseRun(time.Second)
	add := func(probe string, v probes.Verdict) *probes.Outcome {
		o := httpOK("api", probe, ms)
		o.Verdict = v
		run.Outcomes = append(run.Outcomes, o)
		return &run.Outcomes[len(run.Outcomes)-1]
	}
	for _, v := range append(probes.Verdicts(), "") {
		add("a "+string(v), v)
	}
	add("known", probes.VerdictFail).Accepted = &probes.Accepted{Until: started(), Reason: "in March"}
	add("a pass", probes.VerdictPass) // addresses: all
	run.NotDue = []string{"api/later", "other/later"}
	run.CutShort = "a signal"
	run.Problems = []probes.Problem{{Part: probes.PartPush, Text: "status 503"}}
	want := map[string]string{
		"api: a pass": "passes", "api: a pass (2)": "passes", "api: a degraded": "passes", "api: a fail": "failure", "api: a skipped": "skipped",
		"api: a incomplete": "error", "api: a ": "error", "api: known": "skipped", "api: later": "skipped", "other: later": "skipped",
		"perch itself: the run ends by itself": "error", "perch itself: push (1)": "error",
	}
	check := func(got map[string]string) {
		t.Helper()
		for name, result := range want {
			if got[name] != result {
				t.Errorf("%q: %s, want %s", name, got[name], result)
			}
		}
		if len(got) != len(want) {
			t.Errorf("got %v", got)
		}
	}
	check(results(t, junit(t, run)))
	want["api: a degraded"] = "failure"
	check(results(t, junit(t, run, probes.VerdictDegraded)))
}

func FuzzJUnit(f *testing.F) {
	f.Add("stock-api", "closed", int64(time.Second), "fail")
	f.Add(hostile(), hostile(), int64(-5), "")
	f.Add("]]>", "<![CDATA[ & \ufffe \ud7ff", int64(1)<<62, "degraded")
	f.Fuzz(func(t *testing.T, name, words string, d int64, verdict string) {
		run := incident()
		for i := range run.Outcomes {
			o := &run.Outcomes[i]
			o.Target, o.Probe, o.Message, o.Verdict, o.Hold = name, words, words, probes.Verdict(verdict), time.Duration(d)
			o.Advice, o.Attempts[0].Elapsed = []string{words}, time.Duration(d)
		}
		run.Name, run.NotDue, run.CutShort = words, []string{name}, name
		text := junit(t, run)
		if err := checkJUnit(text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	})
}
