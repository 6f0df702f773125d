package alert

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// evilRun has the incident at each of those targets with evil in every text; a
// verdict other than fail is the last word on all rungs.
func evilRun(evil string, v probes.Verdict, targets ...string) probes.Run {
	run := runOf()
	run.Name, run.Vantage = evil, evil
	for _, target := range targets {
		for rung := range 3 {
			o := banded()
			o.Target, o.Probe, o.Verdict = target+evil, evil, v
			o.Hold += time.Duration(rung) * time.Second
			o.Message, o.Client.Experiences, o.Retry.Beside = evil, evil, evil
			o.Advice = []string{evil, "second " + evil, "third " + evil}
			o.Notice = probes.NoticeInfo{Owner: evil, Severity: "page", Runbook: "https://wiki.example/" + evil, URL: evil}
			o.Lapsed = &probes.Accepted{Reason: evil}
			for i := range o.Hypotheses {
				o.Hypotheses[i].Evidence = evil
			}
			run.Outcomes = append(run.Outcomes, o)
		}
	}
	return run
}

// evilNotices are notices of every kind, of runs with evil in every text.
func evilNotices(t *testing.T, evil string) []Notice {
	t.Helper()
	var targets []string
	for n := range 12 {
		targets = append(targets, fmt.Sprint(n))
	}
	o := options(0)
	o.FireAfter, o.ResolveAfter, o.RemindEvery, o.DashboardURL, o.Config = 1, 1, time.Hour, "https://grafana.example/"+evil, evil
	all := []Notice{Test(o, evilRun(evil, probes.VerdictFail))}
	all = append(all, Preview(evilRun(evil, probes.VerdictFail, "x"), o)...)
	var m Memory
	step := func(v probes.Verdict, after time.Duration, targets ...string) {
		o.Now = o.Now.Add(after)
		run := evilRun(evil, v, targets...)
		run.Started = o.Now
		if strings.HasSuffix(string(v), "!") { // sharper
			for i := range run.Outcomes {
				run.Outcomes[i].Verdict, run.Outcomes[i].Diagnosis = probes.VerdictFail, probes.DiagnosisSilentDrop
			}
		}
		var due []Notice
		m, due = Decide(m, run, o)
		all = append(append(all, due...), Ongoing(m, run, o)...)
		m.Outbox = nil
	}
	for range 2 { // so often that it flaps
		step(probes.VerdictFail, time.Minute, "x")
		step(probes.VerdictPass, time.Minute, "x")
	}
	step(probes.VerdictFail, time.Minute, "x")
	step(probes.VerdictFail, time.Minute, "y")
	step("fail!", time.Minute, "y")
	step(probes.VerdictFail, 2*time.Hour, "y")
	step(probes.VerdictDegraded, time.Minute, targets...)
	step(probes.VerdictFail, 24*time.Hour, targets...)
	step(probes.VerdictFail, 24*time.Hour, targets...)
	o.Silences = []Silence{{Match: "y*", Until: o.Now.Add(time.Hour), Reason: evil}}
	step(probes.VerdictPass, time.Minute, append(targets, "y")...)
	o.Silences, o.Known = nil, []string{}
	step(probes.VerdictPass, time.Minute, "x")
	m, o.Known = Memory{}, nil
	for n := range 70 { // an outage
		o.Now = o.Now.Add(time.Minute)
		run := evilRun(evil, probes.VerdictFail, "z"+fmt.Sprint(n))
		run.Outcomes = run.Outcomes[:1]
		m, _ = Decide(m, run, o)
	}
	o.Now = o.Now.Add(25 * time.Hour)
	m, due := Decide(m, runOf(), o)
	return append(all, due...)
}

// TestEveryKindIsBounded: whatever an API and a config put into the outcomes,
// each kind of message stays within every limit and addresses nobody.
func TestEveryKindIsBounded(t *testing.T) {
	for i, evil := range []string{
		strings.Repeat("&<>", 250), strings.Repeat("word ", 150), strings.Repeat("x", 800), strings.Repeat("`code` ```", 80),
		"<!channel> <@U012> <http://evil.example|click> *bold*", "\x00\x1b[31m\u202e\u200b\xff\xfe", strings.Repeat("日本語🙂", 150), "",
	} {
		seen := map[Kind]bool{}
		for _, n := range evilNotices(t, evil) {
			seen[n.Kind] = true
			all := texts(t, Blocks(n))
			if sum := total(all, n); sum > maxCharacter {
				t.Errorf("hostile %d, %s: %d characters in all, want at most %d", i, n.Kind, sum, maxCharacter)
			}
			joined := strings.Join(all[1:], "\n") // the header is not markup
			for _, bad := range []string{"<!", "<@", "<http://evil", "\x00", "\x1b", "\u202e", "\u200b"} {
				if strings.Contains(joined, bad) {
					t.Errorf("hostile %d, %s: %q got through", i, n.Kind, bad)
				}
			}
			for _, text := range all {
				if strings.Count(text, fence)%2 != 0 {
					t.Errorf("hostile %d, %s: a fence is open: %.200q", i, n.Kind, text)
				}
			}
			if mutes := n.Kind == KindFiring || n.Kind == KindFlapping || n.Kind == KindSharper || n.Kind == KindReminder; mutes && !strings.Contains(joined, "perch run") {
				t.Errorf("hostile %d, %s: how to check is missing", i, n.Kind)
			}
		}
		for _, k := range []Kind{
			KindFiring, KindResolved, KindFlapping, KindSharper, KindReminder, KindOngoing, KindDigest, KindBacklog, KindTest, KindPreview,
		} {
			if !seen[k] {
				t.Errorf("hostile %d: nothing was told as %s", i, k)
			}
		}
	}
}

// TestAbsurdNoticesFit: whatever is in a notice, its blocks are no larger than
// Slack takes, and of what is cut as much is left as there is room for.
func TestAbsurdNoticesFit(t *testing.T) {
	for _, word := range []string{"&", "<>", "\"\\", "日本語", "🙂", "\x01", "\u2028", "word ", "`"} {
		text := strings.Repeat(word, 3200/len(word)+1)
		n := Notice{Title: text, Summary: text, Links: []Link{{text, "https://a.example/" + text}, {text[:60], "https://a.example/" + strings.Repeat("&", 90)}}, Trail: []Fact{{text, text}, {"run", "7"}}}
		for _, form := range []Form{FormText, FormList, FormFixed, FormFacts, "odd"} {
			n.Sections = append(n.Sections, Section{Heading: text, Form: form, Lines: []string{text, text}, Facts: []Fact{{"a", text}, {text, text}}})
		}
		if sum := total(texts(t, Blocks(n)), n); sum > maxCharacter {
			t.Errorf("%.10q: %d characters, want at most %d", word, sum, maxCharacter)
		}
		short := []Section{{Heading: "short", Form: FormText, Lines: []string{"it stays whole"}}}
		n = Notice{Title: "a", Sections: append(n.Sections[:2:2], short...)}
		content, err := json.Marshal(Blocks(n))
		if err != nil || !strings.Contains(string(content), "it stays whole") {
			t.Errorf("%.10q: a short section behind long ones is cut: %v", word, err)
		}
		if room := maxJSON - len(content); room > maxJSON/3 {
			t.Errorf("%.10q: %d bytes are not used", word, room)
		}
	}
}
