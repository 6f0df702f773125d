package alert

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// What one run of the table's target may show.
func runs() map[byte]probes.Run {
	const connection, reach = probes.FamilyConnection, probes.FamilyReachability
	one := func(v probes.Verdict, f probes.Family) probes.Outcome {
		return single("shop", "idle", v, probes.DiagnosisEarlyClose, f)
	}
	other := func(v probes.Verdict, f probes.Family) probes.Outcome {
		return single("shop", "other", v, probes.DiagnosisEarlyClose, f)
	}
	pass, skipped := one(probes.VerdictPass, ""), one(probes.VerdictSkipped, probes.FamilyOwn)
	fail, incomplete := one(probes.VerdictFail, connection), one(probes.VerdictIncomplete, probes.FamilyOwn)
	return map[byte]probes.Run{
		'F': runOf(pass, fail),
		'g': runOf(pass),
		'd': runOf(pass, one(probes.VerdictDegraded, connection)),
		's': runOf(skipped),
		'S': runOf(pass, skipped),
		'i': runOf(incomplete),
		'I': runOf(fail, incomplete), // cut short: what failed may look otherwise beside the rest
		'B': runOf(fail, skipped),    // the breaker left the rest out
		'-': runOf(),                 // not due
		'R': runOf(one(probes.VerdictFail, reach)),
		'o': runOf(other(probes.VerdictPass, "")),
		'O': runOf(other(probes.VerdictFail, connection)),
		'P': runOf(pass, other(probes.VerdictFail, connection)),
		'u': runOf(one("", "")), // a bug: no verdict at all
	}
}

func TestDecide(t *testing.T) {
	tests := []struct {
		name, runs          string
		fireAfter, resolves int
		want                string // what each run tells: F opened, R resolved, . nothing
	}{
		{"fires after two of three, resolves after two good ones", "FFgg", 2, 2, ".F.R"},
		{"a good run between does not hide the second failure", "FgF", 2, 2, "..F"},
		{"two good ones between do", "FggF", 2, 2, "...."},
		{"two of three after a forgotten one", "FggFF", 2, 2, "....F"},
		{"fire_after 1 fires at once", "F", 1, 2, "F"},
		{"fire_after 3 of 4", "FgFF", 3, 1, "...F"},
		{"fire_after 3 of 4, not of 5", "FggFF", 3, 1, "....."},
		{"good runs must be in a row", "FFgFgg", 2, 2, ".F...R"},
		{"resolve_after 1", "FFg", 2, 1, ".FR"},
		{"degraded is good, and opens nothing", "ddddFFdd", 2, 2, ".....F.R"},
		{"skipped neither fires nor resolves", "FsFgsg", 2, 2, "..F..R"},
		{"partly skipped does not resolve", "FFSSS", 2, 2, ".F..."},
		{"incomplete neither fires nor resolves", "FiFigi", 2, 1, "..F.R."},
		{"a failure beside an incomplete rung does not count", "III", 2, 2, "..."},
		{"a failure beside a skipped rung counts", "BB", 2, 2, ".F"},
		{"not due neither fires nor resolves", "F-F--g-g", 2, 2, "..F....R"},
		{"a probe that never contributed says nothing", "FFoooo", 2, 2, ".F...."},
		{"a probe that contributes later must be good too", "FFgOgo", 2, 2, ".F...R"},
		{"its failure counts beside another probe's pass", "FFgPgg", 2, 2, ".F...R"},
		{"another probe's failure fires with the first's", "FO", 2, 2, ".F"},
		{"the other family's failure does not resolve", "FFRRR", 2, 1, ".F.F."},
		{"it opens again as another incident", "FFggFFgg", 2, 2, ".F.R.F.R"},
		{"no verdict is no judgement", "FFuuuu", 2, 1, ".F...."},
		{"zero options are the smallest", "Fg", 0, 0, "FR"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sequence []probes.Run
			for _, c := range []byte(tt.runs) {
				sequence = append(sequence, runs()[c])
			}
			_, told := decideAll(func(n int) Options {
				o := options(n)
				o.FireAfter, o.ResolveAfter = tt.fireAfter, tt.resolves
				return o
			}, sequence...)
			if got := shorthand(told); got != tt.want {
				t.Errorf("runs %s told %s, want %s", tt.runs, got, tt.want)
			}
		})
	}
}

// shorthand writes what each run told as one letter.
func shorthand(told [][]Notice) string {
	var b strings.Builder
	for _, notices := range told {
		switch {
		case len(notices) == 0:
			b.WriteByte('.')
		case len(notices) > 1:
			b.WriteByte('+')
		default:
			b.WriteByte(letter(notices[0].Kind))
		}
	}
	return b.String()
}

func letter(k Kind) byte {
	switch k {
	case KindFiring:
		return 'F'
	case KindFlapping:
		return 'L'
	case KindResolved:
		return 'R'
	case KindReminder:
		return 'm'
	case KindSharper:
		return 's'
	case KindDigest:
		return 'D'
	case KindBacklog:
		return 'B'
	default:
		return '?'
	}
}

// TestAGoodRunNeverOpens: not even when the config was just made stricter.
func TestAGoodRunNeverOpens(t *testing.T) {
	stricter := func(n int) Options {
		o := options(n)
		if n > 0 {
			o.FireAfter = 1
		}
		return o
	}
	if m, _ := decideAll(stricter, incident(), mended()); len(m.Open()) != 0 {
		t.Errorf("a good run opened %+v", m.Open())
	}
	_, told := decideAll(stricter, incident(), mended(), incident())
	if got := shorthand(told); got != "..F" {
		t.Errorf("told %s, want ..F", got)
	}
}

func TestIncidentsAreByTargetAndFamily(t *testing.T) {
	run := runOf(
		single("a", "p", probes.VerdictFail, probes.DiagnosisEarlyClose, probes.FamilyConnection),
		single("a", "q", probes.VerdictFail, probes.DiagnosisStalled, probes.FamilyConnection), // the same incident
		single("a", "r", probes.VerdictFail, probes.DiagnosisSlow, probes.FamilyLatency),
		single("b", "p", probes.VerdictFail, probes.DiagnosisEarlyClose, probes.FamilyConnection),
	)
	m, told := decideAll(options, run, run)
	var got []string
	for _, n := range told[1] {
		got = append(got, n.ID)
	}
	want := []string{"a/connection#1 firing", "a/latency#2 firing", "b/connection#3 firing"}
	if !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	if open := m.Open(); len(open) != 3 || !slices.Equal(open[0].Probes, []string{"a/p", "a/q"}) {
		t.Errorf("open: %+v, want 3, the first of a/p and a/q", open)
	}
}

// TestASharperDiagnosis opens nothing: it is told once in its incident, however
// often it comes and goes.
func TestASharperDiagnosis(t *testing.T) {
	vague := runOf(single("a", "p", probes.VerdictFail, probes.DiagnosisStaleConnection, probes.FamilyConnection))
	sharp := runOf(single("a", "p", probes.VerdictFail, probes.DiagnosisEarlyClose, probes.FamilyConnection))
	good := runOf(single("a", "p", probes.VerdictPass, "", ""))
	_, told := decideAll(options, vague, vague, sharp, sharp, vague, sharp, good, vague, good, good)
	if got := shorthand(told); got != ".Fs......R" {
		t.Fatalf("told %s, want .Fs......R", got)
	}
	text := strings.Join(strings.Fields(Text(told[2][0])), " ")
	for _, want := range []string{
		"CHANGED a: idle connections are closed too early",
		"It opened as: requests on idle connections fail. What is measured now says: idle connections are closed too early.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestDecideIsPure(t *testing.T) {
	four := []string{"a", "b", "c", "d"}
	lucky := runOf(single("a", "p", probes.VerdictDegraded, probes.DiagnosisUnstable, probes.FamilyReachability))
	m := Memory{Threads: map[string]Thread{"slack gone": {Channel: "C", Root: "1"}}}
	for n, run := range []probes.Run{
		incident(), incident(), lucky, mended(), incident(), mended(), mended(), fleet("abcd", four...), fleet("abcd", four...), fleet("", four...), fleet("", four...), lucky,
	} {
		o := options(n)
		o.Now, o.RemindEvery = o.Now.Add(time.Duration(n)*5*time.Hour), time.Hour
		if n > 8 {
			o.Silences = []Silence{{Match: "a", Until: o.Now.Add(time.Hour)}}
		}
		if n == 11 {
			o.Silences, o.Known = nil, []string{"none/none"}
		}
		before, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		next, _ := Decide(m, at(run, n), o)
		again, _ := Decide(m, at(run, n), o)
		Ongoing(m, run, o)
		MarkSending(m)
		m.Shrink()
		for _, waiting := range m.Outbox {
			m.told(waiting.ID, "slack")
			m.untold(waiting.ID, "slack", []Part{PartMessage}, true)
		}
		after, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if string(before) != string(after) {
			t.Fatalf("run %d changed the memory that was passed in\n%s\n%s", n, before, after)
		}
		if !reflect.DeepEqual(next, again) {
			t.Fatalf("run %d: the same memory and run gave two memories", n)
		}
		m = next
	}
}

func TestUntoldNoticesComeAgainFirst(t *testing.T) {
	m, _ := Decide(Memory{}, at(incident(), 0), options(0))
	m, first := Decide(m, at(incident(), 1), options(1))
	if len(first) != 1 || first[0].Waited != 0 {
		t.Fatalf("the second run told %+v, want one notice that did not wait", first)
	}
	m, again := Decide(m, at(mended(), 2), options(2))
	if len(again) != 1 || again[0].ID != first[0].ID || again[0].Waited != 5*time.Minute || again[0].PossibleRepeat {
		t.Errorf("the third run tells %+v, want the first notice again, 5 min late", again)
	}
	m, both := Decide(m, at(mended(), 3), options(3))
	if len(both) != 2 || both[0].Kind != KindFiring || both[1].Kind != KindResolved {
		t.Errorf("the fourth run tells %+v, want the opening, then the resolve", both)
	}
	if count, oldest := m.Waiting(); count != 2 || !oldest.Equal(first[0].Decided) {
		t.Errorf("%d wait since %s, want 2 since %s", count, oldest, first[0].Decided)
	}
	m = m.told(both[0].ID, "slack")
	_, rest := Decide(m, at(mended(), 4), options(4))
	if len(rest) != 1 || rest[0].ID != both[1].ID {
		t.Errorf("after the first was told the rest is %+v, want the resolve", rest)
	}
}

func TestRepeatsSayThatTheyMayBe(t *testing.T) {
	base, _ := Decide(Memory{}, at(incident(), 0), options(0))
	base, told := Decide(base, at(incident(), 1), options(1))
	tests := []struct {
		name string
		mark func(Memory) Memory
		want bool
	}{
		{"refused", func(m Memory) Memory { return m.untold(told[0].ID, "slack", nil, false) }, false},
		{"ambiguous", func(m Memory) Memory { return m.untold(told[0].ID, "slack", nil, true) }, true},
		{"ambiguous, then refused", func(m Memory) Memory {
			return m.untold(told[0].ID, "slack", nil, true).untold(told[0].ID, "slack", nil, false)
		}, true},
		{"killed while sending", func(m Memory) Memory { return MarkSending(m) }, true},
		{"sending, then refused", func(m Memory) Memory { return MarkSending(m).untold(told[0].ID, "slack", nil, false) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, again := Decide(tt.mark(base), at(incident(), 2), options(2))
			if len(again) != 1 || again[0].PossibleRepeat != tt.want || again[0].Ways[0].Sending {
				t.Fatalf("told %+v, want one, a possible repeat: %v", again, tt.want)
			}
			if got := strings.Contains(Text(again[0]), "may be a repeat"); got != tt.want {
				t.Errorf("the text says that it may be a repeat: %v, want %v", got, tt.want)
			}
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var m Memory
	o := options(0)
	o.FireAfter, o.ResolveAfter = 1, 1
	for n := range 300 {
		target := fmt.Sprint("shop", n/2)
		run := runOf(single(target, "p", probes.VerdictFail, probes.DiagnosisSlow, probes.FamilyLatency))
		if n%2 == 1 {
			run = runOf(single(target, "p", probes.VerdictPass, "", ""))
		}
		o.Now = noon().Add(time.Duration(n) * time.Minute)
		m, _ = Decide(m, run, o)
	}
	if got := len(m.Incidents); got > mostResolved+1 {
		t.Errorf("%d incidents are remembered, want %d at most", got, mostResolved+1)
	}
	if len(m.Outbox) != 300 {
		t.Fatalf("%d notices wait, want all 300", len(m.Outbox))
	}
	content, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if len(content) > 1<<20 {
		t.Errorf("300 waiting notices take %d bytes, want at most 1 MiB", len(content))
	}
	if !strings.Contains(Text(m.Outbox[0]), "too many notices waited") || strings.Contains(Text(m.Outbox[299]), "too many notices") {
		t.Error("the oldest notice is not slim, or the newest is")
	}
	m, _ = Decide(m, runOf(), Options{Now: o.Now.Add(40 * 24 * time.Hour)})
	if len(m.Incidents) != 0 {
		t.Errorf("40 days later %d incidents are remembered", len(m.Incidents))
	}
}

func TestPreview(t *testing.T) {
	run := incident()
	run.Outcomes = append(run.Outcomes, single("price-api", "quote", probes.VerdictFail, probes.DiagnosisUnreachable, probes.FamilyReachability),
		single("cut", "short", probes.VerdictIncomplete, "", probes.FamilyOwn))
	got := Preview(run, options(0))
	if len(got) != 2 || got[0].Target != "stock-api" || got[1].Target != "price-api" {
		t.Fatalf("previews %+v, want stock-api's and price-api's", got)
	}
	if text := Text(got[0]); !strings.Contains(text, "not fired yet: 1 failed run; fires when 2 of the last 3 failed") {
		t.Errorf("the preview does not say when it would be sent:\n%s", text)
	}
	if got := Preview(mended(), options(0)); len(got) != 0 {
		t.Errorf("a run without a failure has previews: %+v", got)
	}
}
