package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	"perch.example/probes"
)

// hostile is text that a server could send to play with a terminal.
func hostile() string {
	return "\x1b[2J\x1b]0;owned\x07\u009b31m\r\noverwritten\x00\x7f \u202egnp.exe\u2066 \xff\xfe\x9b5m \U000e0041"
}

// poisoned puts hostile text into every string that is not a closed set.
func poisoned() probes.Run {
	run := incident()
	run.Name, run.Vantage, run.RunID, run.CutShort = hostile(), hostile(), hostile(), hostile()
	for i := range run.Outcomes {
		o := &run.Outcomes[i]
		o.Target, o.Probe, o.Message, o.Method = hostile(), "p"+hostile(), hostile(), hostile()
		o.ClosedBy, o.Problem = hostile(), hostile()
		o.Path.Via = []string{hostile()}
		o.Advice = []string{hostile()}
		o.Notice = probes.NoticeInfo{Owner: hostile(), Severity: hostile(), Runbook: hostile()}
		o.Client = &probes.ClientOutcome{Kind: hostile(), Experiences: hostile(), Band: &probes.Band{Open: true}}
		for h := range o.Hypotheses {
			o.Hypotheses[h].Evidence = hostile()
		}
		for a := range o.Attempts {
			at := &o.Attempts[a]
			at.Detail, at.Method, at.Proto, at.TraceID, at.SpanID, at.Via = hostile(), hostile(), hostile(), hostile(), hostile(), []string{hostile()}
		}
	}
	run.Idle[0].Target, run.Idle[0].Probe = hostile(), "p"+hostile()
	run.Idle[0].How = probes.HowClosed(hostile())
	run.Budget[0].Target = hostile()
	run.NotDue, run.Notices = []string{hostile()}, []string{hostile()}
	run.Incidents = []probes.Incident{{Name: hostile(), Target: hostile(), Family: probes.Family(hostile()), State: probes.IncidentState(hostile()), Said: hostile()}}
	run.Problems = []probes.Problem{{Part: probes.PartPush, Text: hostile()}}
	return run
}

func checkHarmless(t *testing.T, what, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%s contains %U:\n%q", what, r, text)
			return
		}
	}
}

func TestNoControlCharactersWithoutColour(t *testing.T) {
	all := runs()
	all["poisoned"] = poisoned()
	for name, run := range all {
		for _, columns := range []int{0, 60} {
			checkHarmless(t, name, text(t, run, Style{Width: columns}))
		}
		checkHarmless(t, name+" headline", Headline(run))
		checkHarmless(t, name+" JSON", string(jsonText(t, run)))
		var b bytes.Buffer
		band := &probes.Band{Open: true}
		run.Clients = []probes.ClientOutcome{
			{Kind: hostile(), Experiences: hostile()},
			{Kind: hostile(), Experiences: hostile(), Post: hostile(), Safe: hostile(), Band: band, Result: probes.ClientFails},
		}
		if err := Idle(&b, run, Style{}); err != nil {
			t.Fatal(err)
		}
		checkHarmless(t, name+" idle", b.String())
	}
}

// With colour the only control characters are perch's own colour codes.
func TestColourCodesAreOurs(t *testing.T) {
	got := text(t, poisoned(), Style{Color: true})
	for _, code := range []string{"1", "2", "32", "33", "1;31", "35", "0"} {
		got = strings.ReplaceAll(got, "\x1b["+code+"m", "")
	}
	checkHarmless(t, "a poisoned run", got)
}

// Colour adds nothing but colour: whoever sees none reads the same words.
func TestColourAddsNoWords(t *testing.T) {
	for name, run := range runs() {
		coloured := text(t, run, Style{Color: true})
		if !strings.Contains(coloured, "\x1b[") {
			t.Errorf("%s: no colour at all", name)
		}
		for _, code := range []string{"1", "2", "32", "33", "1;31", "35", "0"} {
			coloured = strings.ReplaceAll(coloured, "\x1b["+code+"m", "")
		}
		if want := text(t, run, Style{}); coloured != want {
			t.Errorf("%s: without codes:\n%s\nwant:\n%s", name, coloured, want)
		}
	}
}

func TestJSONStillSaysWhatWasSent(t *testing.T) {
	run := probes.Run{Outcomes: []probes.Outcome{{Target: "a", Probe: "b", Message: "\x1b\u009b\u202e\x7f\U000e0041 日本 <&>"}}}
	doc := decoded(t, jsonText(t, run))
	got := doc["outcomes"].([]any)[0].(map[string]any)["message"]
	if got != run.Outcomes[0].Message {
		t.Errorf("got %q, want %q", got, run.Outcomes[0].Message)
	}
}

func TestLinesStayWithinTheWidth(t *testing.T) {
	for name, run := range runs() {
		for _, columns := range []int{60, 80, 100, 140} {
			for _, line := range strings.Split(text(t, run, Style{Width: columns}), "\n") {
				// A word that is longer than the narrowest column stays whole.
				last := line[strings.LastIndexByte(line, ' ')+1:]
				if width(line) > columns && width(last) <= columns-50 {
					t.Errorf("%s at %d: %d cells: %s", name, columns, width(line), line)
				}
			}
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("pipe closed") }

func TestWriteErrorsAreReturned(t *testing.T) {
	run := search()
	for what, err := range map[string]error{
		"Text": Text(broken{}, run, Style{}), "JSON": JSON(broken{}, run), "Idle": Idle(broken{}, run, Style{}),
	} {
		if err == nil || err.Error() != "writing the report: pipe closed" {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// A report is made of whatever a run holds; nothing in it may bring it down.
func FuzzText(f *testing.F) {
	f.Add("stock-api", "closed", int64(time.Second), int64(2*time.Second), 80, true)
	f.Add(hostile(), hostile(), int64(-5), int64(0), 1, false)
	f.Fuzz(func(t *testing.T, name, words string, a, b int64, columns int, search bool) {
		run := incident()
		for i := range run.Outcomes {
			o := &run.Outcomes[i]
			o.Target, o.Message, o.Hold, o.Search = name, words, time.Duration(a), search
			if o.Close != nil {
				o.Close.Age = time.Duration(b)
			}
			o.Client = &probes.ClientOutcome{Kind: words, Band: &probes.Band{From: time.Duration(b), To: time.Duration(a)}}
			for j := range o.Attempts {
				o.Attempts[j].IdleTime, o.Attempts[j].Elapsed = time.Duration(b), time.Duration(a)
			}
		}
		checkHarmless(t, "the report", text(t, run, Style{Width: columns % 300}))
	})
}
