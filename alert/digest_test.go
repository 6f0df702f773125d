package alert

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// halfDays are runs twelve hours apart: noon, midnight, noon.
func halfDays(n int) Options {
	o := options(0)
	o.Now = noon().Add(time.Duration(n) * 12 * time.Hour)
	return o
}

func TestDigest(t *testing.T) {
	accepted := single("shop", "idle", probes.VerdictFail, probes.DiagnosisEarlyClose, probes.FamilyConnection)
	accepted.Accepted = march()
	soon := accepted
	soon.Accepted = &probes.Accepted{Until: noon().Add(5 * 24 * time.Hour), Reason: "soon"}
	all := runs()
	all['a'], all['e'] = runOf(accepted), runOf(soon)
	all['D'] = runOf(single("other", "p", probes.VerdictDegraded, probes.DiagnosisUnstable, probes.FamilyReachability))
	tests := []struct{ name, runs, want string }{
		{"nothing on a day with nothing", "gggggg", "......"},
		{"nothing on the very first run", "d", "."},
		{"once a day, of the day before", "ddddd", ".D.D."},
		{"on the next day that has a run", "d----", ".D..."},
		{"what an open incident tells is left out", "FFdFdF", ".F...."},
		{"another family's is not", "FFDDgg", ".F.D.+"},
		{"what is accepted for long is no news", "aaaaa", "....."},
		{"its end is", "eeeee", ".D.D."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sequence []probes.Run
			for _, c := range []byte(tt.runs) {
				sequence = append(sequence, all[c])
			}
			m, told := decideAll(halfDays, sequence...)
			if got := shorthand(told); got != tt.want {
				t.Errorf("runs %s told %s, want %s", tt.runs, got, tt.want)
			}
			if len(m.Outbox) > 0 {
				t.Errorf("left over: %+v", m.Outbox)
			}
		})
	}
}

// digested is a notice of a day with each sort of finding.
func digested(t testing.TB) Notice {
	t.Helper()
	lucky := single("price-api", "quote", probes.VerdictDegraded, probes.DiagnosisUnstable, probes.FamilyReachability)
	lucky.Message = "the first try was refused, the second answered 200"
	reload := single("stock-api", "calendar-idle", probes.VerdictDegraded, probes.DiagnosisMassClose, probes.FamilyConnection)
	reload.Message = "4 connections were closed within 0.2 s, at idle ages from 3 s to 28 s"
	moved := single("stock-api", "orders-idle", probes.VerdictDegraded, probes.DiagnosisBoundChanged, probes.FamilyConnection)
	moved.Message = "closed by the peer after 40 s idle; the path's idle bound has moved: idle connections ended at 60 s, and now at 40 s, in two runs in a row"
	long := single("tax-api", "rates-idle", probes.VerdictFail, probes.DiagnosisEarlyClose, probes.FamilyConnection)
	long.Accepted, long.Message = march(), "the connection was closed by the peer after 60 s idle, before the expected 120 s"
	ending := long
	ending.Target, ending.Accepted = "mail-api", &probes.Accepted{Until: noon().Add(36 * time.Hour), Reason: "they migrate"}
	quiet := lucky
	quiet.Target = "quiet-api"
	o := func(n int) Options {
		o := options(n)
		o.Silences = []Silence{{Match: "quiet-api", Until: noon().Add(72 * time.Hour)}}
		if n == 3 {
			o.Now = noon().Add(13 * time.Hour)
		}
		return o
	}
	_, told := decideAll(o, runOf(lucky, quiet), runOf(lucky, lucky, reload, moved, long), runOf(ending), runOf())
	if got := shorthand(told); got != "...D" {
		t.Fatalf("told %s, want ...D", got)
	}
	return told[3][0]
}

func TestADigestIsRead(t *testing.T) {
	text := strings.Join(strings.Fields(Text(digested(t))), " ")
	from := 0
	for _, want := range []string{
		"DIGEST of 2026-03-02: 3 findings degraded, 2 accepted",
		"not for long", "mail-api/rates-idle: idle connections are closed too early", "Accepted until 2026-03-03", "(they migrate)",
		"price-api/quote: the first try fails, the second works, in 2 runs from 2026-03-02 12:00 UTC to 2026-03-02 12:05 UTC. The first try was refused, the second answered 200.",
		"stock-api/calendar-idle: many connections", "in 1 run at 2026-03-02 12:05 UTC",
		"stock-api/orders-idle: idle connections end at another age than before, in 1 run at 2026-03-02 12:05 UTC. ", "idle connections ended at 60 s, and now at 40 s",
		"tax-api/rates-idle", "Accepted until 2026-03-31 (partner will raise it in March)",
	} {
		at := strings.Index(text[from:], want)
		if at < 0 {
			t.Fatalf("%q is missing, or comes too early, in\n%s", want, text)
		}
		from += at
	}
	if strings.Contains(text, "quiet-api") {
		t.Errorf("a silenced finding is told:\n%s", text)
	}
}

// TestADigestIsBounded: the most frequent are kept, the others are counted.
func TestADigestIsBounded(t *testing.T) {
	run := runOf()
	for n := range 80 {
		o := single(fmt.Sprintf("target-%02d", n), "probe", probes.VerdictDegraded, probes.DiagnosisUnstable, probes.FamilyReachability)
		o.Message = strings.Repeat("long ", 100)
		run.Outcomes = append(run.Outcomes, o)
	}
	m, _ := Decide(Memory{}, run, halfDays(0))
	if len(m.Digest.Items) != mostItems || m.Digest.More != 30 {
		t.Fatalf("%d are kept and %d counted, want %d and 30", len(m.Digest.Items), m.Digest.More, mostItems)
	}
	_, told := Decide(m, runOf(), halfDays(1))
	lines := 0
	for _, s := range told[0].Sections {
		for _, line := range s.Lines {
			if strings.HasPrefix(line, "target-") {
				lines++
			}
		}
	}
	if text := Text(told[0]); lines < 12 || !strings.Contains(text, fmt.Sprintf("and %d more findings, for which there is no room here", 80-lines)) || strings.Contains(text, "in the report") {
		t.Errorf("%d lines, or not all are counted:\n%s", lines, text)
	}
}

// TestAFindingIsNotCutInMidSentence: what does not fit ends at a clause.
func TestAFindingIsNotCutInMidSentence(t *testing.T) {
	long := single("stock-api", "calendar-idle", probes.VerdictDegraded, probes.DiagnosisEarlyClose, probes.FamilyConnection)
	long.Message = "the connection was closed by the peer after 1.001 s idle (earliest: 1 s), before the expected 60 s; reuse at 1.5 s failed in 0.3 ms with nothing answered: the FIN was queued before we wrote, looking first would have seen it; a fresh one worked; Apache HttpClient 4.5 throws org.apache.http.NoHttpResponseException: api.partner.example failed to respond"
	named := long
	named.Target, named.Probe = strings.Repeat("t", 100), strings.Repeat("p", 100)
	named.Accepted = &probes.Accepted{Until: noon().Add(36 * time.Hour), Reason: strings.Repeat("reason ", 30)}
	m, _ := Decide(Memory{}, runOf(long, named), halfDays(0))
	_, told := Decide(m, runOf(), halfDays(1))
	text := wordsOf(told[0])
	if want := "with nothing answered: the FIN was queued before we wrote, looking first would have seen it."; !strings.Contains(text, want) {
		t.Errorf("%q is missing in\n%s", want, text)
	}
	for _, s := range told[0].Sections {
		for _, line := range s.Lines {
			if strings.HasSuffix(line, "….") || strings.HasSuffix(line, "…") || strings.Contains(line, more) || size(line) > maxLine {
				t.Errorf("a line is cut: %q", line)
			}
		}
	}
}

func TestClause(t *testing.T) {
	for _, tt := range []struct {
		text  string
		limit int
		want  string
	}{
		{"it fits", 7, "it fits"},
		{"one thing; another thing", 20, "one thing"},
		{"one thing: another thing; and a third", 30, "one thing: another thing"},
		{"one, two, three and four", 12, "one, two"},
		{"one (two; three) four; five and more", 30, "one (two; three) four"},
		{"took 1.001 s to 2.5 s and more", 18, "took 1.001 s …"},
		{"no end is in sight", 10, "no end …"},
		{"", 10, ""}, {"anything", 0, ""},
	} {
		if got := clause(tt.text, tt.limit); got != tt.want {
			t.Errorf("clause(%q, %d) = %q, want %q", tt.text, tt.limit, got, tt.want)
		}
	}
}
