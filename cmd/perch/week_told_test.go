//go:build peers

package main

import (
	"bytes"
	"encoding/json"
	"image/png"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/internal/slackfake"
	"perch.example/probes"
)

// What people were told, as it stands in Slack.

// incidentKey is what one incident is about.
type incidentKey struct {
	target string
	family probes.Family
}

// telling is one message that opens or ends incidents.
type telling struct {
	opens  bool // else it ends them
	about  []incidentKey
	at     time.Time
	marked bool   // as a possible repeat
	clear  bool   // Slack's answer said that it was told
	root   string // of the thread in which it stands: a message's id
	title  string
}

// tellings reads what Slack accepted, in order.
func tellings(t *testing.T, fake *slackfake.Fake) []telling {
	t.Helper()
	messages := map[string]slackfake.Message{}
	for _, m := range fake.Messages() {
		messages[m.TS] = m
	}
	var accepted []slackfake.Call
	for _, c := range fake.Calls() {
		if c.Accepted && (c.Method == slackfake.MethodWebhook || c.Method == "chat.postMessage") {
			accepted = append(accepted, c)
		}
	}
	var all []telling
	for _, e := range fake.Events() {
		if e.What != "posted" && e.What != "replied" {
			continue
		}
		if len(accepted) == 0 {
			t.Fatal("more messages stand in Slack than were accepted")
		}
		call := accepted[0]
		accepted = accepted[1:]
		if one, ok := readTelling(t, e, messages[e.TS]); ok {
			one.clear = call.Result == "ok"
			all = append(all, one)
		}
	}
	return all
}

// readTelling reads one message as it was first said.
func readTelling(t *testing.T, e slackfake.Event, m slackfake.Message) (telling, bool) {
	t.Helper()
	blocks := m.Blocks
	if len(m.Edits) > 0 {
		blocks = m.Edits[0].Blocks
	}
	one := telling{at: e.At, root: m.TS, title: e.Title, marked: strings.Contains(string(blocks), "This may be a repeat")}
	if m.Thread != "" {
		one.root = m.Thread
	}
	opens, ends := regexp.MustCompile(`^FIRING (.+?): (.+)$`), regexp.MustCompile(`^RESOLVED (.+?) \((.+)\)$`)
	var who, trouble string
	if parts := opens.FindStringSubmatch(e.Title); parts != nil {
		one.opens, who, trouble = true, parts[1], parts[2]
	} else if parts := ends.FindStringSubmatch(e.Title); parts != nil {
		who, trouble = parts[1], parts[2]
	} else {
		if !isDigest(e.Title) && !strings.HasPrefix(e.Title, "STILL FIRING ") && !strings.HasPrefix(e.Title, "CHANGED ") {
			t.Errorf("%s: a message that is not expected in this week: %q", stamp(e.At), e.Title)
		}
		return telling{}, false
	}
	family := familyOf(t, trouble)
	if !strings.HasSuffix(who, " targets") {
		one.about = []incidentKey{{who, family}}
		return one, true
	}
	lines := regexp.MustCompile(`(?m)^(?:\*Where\*\n)?([a-z]+-api): \d+ of \d+ runs? failed since`)
	for _, parts := range lines.FindAllStringSubmatch(strings.Join(textsOf(t, blocks), "\n"), -1) {
		one.about = append(one.about, incidentKey{parts[1], family})
	}
	if len(one.about) < 3 {
		t.Errorf("%s: %q names %v", stamp(e.At), e.Title, one.about)
	}
	return one, true
}

// textsOf are the texts of a message's sections.
func textsOf(t *testing.T, blocks json.RawMessage) []string {
	t.Helper()
	var all []struct{ Text struct{ Text string } }
	if err := json.Unmarshal(blocks, &all); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, b := range all {
		texts = append(texts, b.Text.Text)
	}
	return texts
}

// familyOf finds the family that a trouble's words mean: a diagnosis's, with
// what may be said beside it in brackets; or what is wrong with a certificate.
func familyOf(t *testing.T, words string) probes.Family {
	t.Helper()
	if strings.HasPrefix(words, "the certificate ") {
		return probes.FamilyCertificate
	}
	plain, _, _ := strings.Cut(strings.TrimSuffix(words, " too"), " (")
	families := map[probes.Diagnosis]probes.Family{
		probes.DiagnosisEarlyClose: probes.FamilyConnection, probes.DiagnosisStaleConnection: probes.FamilyConnection,
		probes.DiagnosisUnreachable: probes.FamilyReachability, probes.DiagnosisServiceDown: probes.FamilyReachability,
		probes.DiagnosisRateLimited: probes.FamilyLimits, probes.DiagnosisSlow: probes.FamilyLatency,
	}
	for diagnosis, family := range families {
		if diagnosis.Words() == plain {
			return family
		}
	}
	t.Errorf("no trouble of this week is told as %q", words)
	return ""
}

// disturbance is when a run ended without having kept what it told.
type disturbance struct {
	at  time.Time
	why string
}

// toldOf are the tellings of one incident's target and family. Of what was told
// again the first stands; the others must say that they may be repeats, and
// nothing but an answer that was not clear, or a run's death, may be their cause.
func toldOf(t *testing.T, about incidentKey, all []telling, disturbed []disturbance, forgets time.Time) (told []telling, repeats int) {
	t.Helper()
	var last telling
	var opened time.Time // when its opening was told last
	for _, one := range all {
		if !slices.Contains(one.about, about) {
			continue
		}
		// A run that told an opening and its end and died before it kept that
		// leaves both to be told again.
		both := one.opens && one.marked && len(told) >= 2 && !last.opens && last.at.Sub(opened) < time.Minute
		if both && diedBetween(disturbed, last.at, last.at.Add(time.Minute)) {
			told = told[:len(told)-1]
		}
		if one.opens {
			opened = one.at
		}
		// What was open when the state was lost is new to perch.
		anew := !forgets.IsZero() && last.at.Before(forgets) && !one.at.Before(forgets)
		if len(told) == 0 || told[len(told)-1].opens != one.opens || anew {
			told = append(told, one)
			last = one
			continue
		}
		repeats++
		if !one.marked {
			t.Errorf("%s: %q is told again, after %s, and does not say so", stamp(one.at), one.title, stamp(last.at))
		}
		if last.clear && !diedBetween(disturbed, last.at, one.at) {
			t.Errorf("%s: %q is told again, though it was told at %s with a clear answer, and no run died", stamp(one.at), one.title, stamp(last.at))
		}
		last = one
		if one.opens {
			told[len(told)-1].root = one.root // the thread goes on under the last root
		}
	}
	return told, repeats
}

// diedBetween reports whether a run ended then without having kept what it told.
func diedBetween(disturbed []disturbance, from, to time.Time) bool {
	return slices.ContainsFunc(disturbed, func(d disturbance) bool { return !d.at.Before(from) && !d.at.After(to) })
}

// checkThreads wants each incident to be one thread: its end is told there, and
// the root says that it is over, above the evidence of its opening.
func (f *faultyWeek) checkThreads(about incidentKey, incidents [][2]telling) {
	if f.cfg.Slack.BotToken.Zero() {
		return // a webhook knows no threads
	}
	for _, opening := range incidents {
		root, end := opening[0].root, opening[1]
		if end.root != root {
			f.t.Errorf("%v: opened in the thread %s and ended in %s", about, root, end.root)
		}
		for _, m := range f.fake.Messages() {
			if m.TS != root {
				continue
			}
			if !strings.HasPrefix(m.Title(), "RESOLVED ") {
				f.t.Errorf("%v: it is over, and the root says %q", about, m.Title())
			}
			text := strings.Join(textsOf(f.t, m.Blocks), "\n")
			for _, part := range []string{"Over since ", "Explanations, ruled in or out"} {
				if len(m.Edits) > 0 && !strings.Contains(text, part) {
					f.t.Errorf("%v: the root %s does not say %q", about, root, part)
				}
			}
		}
	}
}

// checkPictures wants every picture whole, described, and in a thread. A picture
// is not tried again: some are missing in this week, not all.
func (f *faultyWeek) checkPictures() {
	kinds := map[string]int{}
	for _, file := range f.fake.Files() {
		kinds[file.Name]++
		if _, err := png.Decode(bytes.NewReader(file.Content)); err != nil {
			f.t.Errorf("the picture %q: %v", file.Name, err)
		}
		if file.Alt == "" || file.Thread == "" {
			f.t.Errorf("the picture %q is described as %q, in the thread %q", file.Name, file.Alt, file.Thread)
		}
	}
	if !f.cfg.Slack.BotToken.Zero() && len(kinds) < 2 {
		f.t.Errorf("pictures of %v, want those of ladders and of latencies", kinds)
	}
}
