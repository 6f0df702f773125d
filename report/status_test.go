package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

func statusPage(t testing.TB, s Status) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := StatusPage(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func statuses() map[string]Status {
	fresh := incidentStatus()
	for i := range fresh.Targets {
		fresh.Targets[i].Probes = slices.Clone(fresh.Targets[i].Probes)
		for k := range fresh.Targets[i].Probes {
			fresh.Targets[i].Probes[k].Outcomes = nil
		}
	}
	fresh.Trouble, fresh.Incidents, fresh.Held = "the state is not open yet", nil, nil
	return map[string]Status{"incident": incidentStatus(), "well": wellStatus(), "fresh": fresh, "empty": {}}
}

// The style is left out of it: base.css and status.css are files of their own.
func TestStatusGolden(t *testing.T) {
	for name, s := range statuses() {
		t.Run(name, func(t *testing.T) {
			page := statusPage(t, s)
			golden(t, "status_"+name+".html", bytes.Replace(page, []byte(statusStyle()), []byte("..."), 1))
		})
	}
}

func TestStatusSentence(t *testing.T) {
	ran := func(verdicts ...probes.Verdict) []StatusTarget {
		var all []StatusTarget
		for n, v := range verdicts {
			o := probes.Outcome{Target: fmt.Sprint("t", n), Probe: "get", Kind: probes.KindHTTP, Verdict: v}
			p := StatusProbe{Name: "get", Outcomes: []probes.Outcome{o}}
			if before, was := strings.CutPrefix(string(v), "before "); was {
				p.Outcomes, p.Before = nil, probes.Verdict(before)
			}
			if v == "waiting" {
				p.Outcomes = nil
			}
			all = append(all, StatusTarget{Name: o.Target, Probes: []StatusProbe{p}})
		}
		return all
	}
	for want, targets := range map[string][]StatusTarget{
		"incomplete Nothing is known yet: There is no probe to run.":      nil,
		"incomplete Nothing is known yet: 1 probe, and none has run yet.": ran("waiting"),
		"pass All well: 1 probe passes.":                                  ran("pass"),
		"pass All well: 2 probes pass.":                                   ran("pass", "pass"),
		"pass All well: 1 probe passed, 1 skipped.":                       ran("pass", "skipped"),
		"pass All well: 1 probe passes; 1 not run yet.":                   ran("pass", "waiting"),
		"fail Failing: 1 of 3 probes fails: t1/get; 2 not run yet since the start, and counted as before it; 1 not run yet.":   ran("before pass", "before fail", "waiting"),
		"pass All well: 2 probes pass; 1 not run yet since the start, and counted as before it.":                               ran("pass", "before pass"),
		"incomplete Incomplete: 1 of 2 probes is incomplete: t0/get; 1 not run yet since the start, and counted as before it.": ran("before never heard of", "pass"),
		"degraded Degraded: 1 of 2 probes is degraded: t1/get.":                                                                ran("pass", "degraded"),
		"fail Failing: 2 of 4 probes fail: t1/get and t3/get; 1 is degraded: t2/get.":                                          ran("pass", "fail", "degraded", "fail"),
		"fail Failing: 5 of 5 probes fail: t0/get, t1/get, t2/get and 2 more.":                                                 ran("fail", "fail", "fail", "fail", "fail"),
		"incomplete Incomplete: 1 of 2 probes is incomplete: t1/get.":                                                          ran("pass", "never heard of"),
		"fail Failing: 1 of 3 probes fails: t0/get; 1 is incomplete: t1/get; 1 is degraded: t2/get.":                           ran("fail", "incomplete", "degraded"),
	} {
		v, sentence := overallStatus(Status{}, byAttention(targets))
		if got := v.Class + " " + v.Word + ": " + sentence; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if v, _ := overallStatus(Status{Trouble: "the state cannot be saved"}, byAttention(ran("pass"))); v.Class == string(probes.VerdictPass) {
		t.Error("a perch that is not well itself says that all is well")
	}
}

// A refused config is said on top, and with a word: nobody must take the one before it
// for what is in the files.
func TestStatusOfARefusedConfig(t *testing.T) {
	s := wellStatus()
	s.Config, s.ConfigRefused = "2 mistakes, at 2026-03-01 16:02 UTC. The first: perch.yaml:3: no name", true
	v := newStatusView(s)
	if v.Verdict.Class != string(probes.VerdictDegraded) || v.Verdict.Word != "The config is refused" || !strings.Contains(v.Title, "refused") {
		t.Errorf("%+v, %q", v.Verdict, v.Title)
	}
	want := "<strong>The config in the files is refused, an earlier one is in use.</strong> 2 mistakes, at 2026-03-01 16:02 UTC. The first: perch.yaml:3: no name</p>"
	if page := string(statusPage(t, s)); !strings.Contains(page, want) {
		t.Errorf("the page does not say %q", want)
	}
	s.Targets = incidentStatus().Targets
	s.ConfigRefused = true
	if v := newStatusView(s); v.Verdict.Word != "Failing" || v.Refused == "" {
		t.Errorf("%+v", v.Verdict)
	}
}

// The page says as the notice does that the declared client copes.
func TestStatusSaysThatTheClientCopes(t *testing.T) {
	fails := func(result probes.ClientResult) Status {
		o := probes.Outcome{
			Target: "py", Probe: "idle", Kind: probes.KindIdle, Verdict: probes.VerdictFail, Diagnosis: probes.DiagnosisEarlyClose, Family: probes.FamilyConnection,
			Attempts: []probes.Attempt{{Connection: probes.ConnectionReused, Reason: probes.ReasonIdleFIN}}, Reason: probes.ReasonIdleFIN,
			Client: &probes.ClientOutcome{Kind: "requests", Experiences: "a success", Result: result},
		}
		return Status{
			Targets:   []StatusTarget{{Name: "py", Probes: []StatusProbe{{Name: "idle", Kind: probes.KindIdle, Outcomes: []probes.Outcome{o}}}}},
			Incidents: []probes.Incident{{Name: "py/connection#1", Target: "py", Family: probes.FamilyConnection, State: probes.IncidentFiring}},
		}
	}
	v := newStatusView(fails(probes.ClientRetries))
	if !strings.HasSuffix(v.Incidents[0].Diagnosis, " (requests copes)") || !strings.Contains(v.Sentence, "py/idle (early_close; requests copes)") {
		t.Errorf("%q, %q", v.Incidents[0].Diagnosis, v.Sentence)
	}
	v = newStatusView(fails(probes.ClientFails))
	if strings.Contains(v.Incidents[0].Diagnosis+v.Sentence, "copes") {
		t.Errorf("%q, %q", v.Incidents[0].Diagnosis, v.Sentence)
	}
}

// A rung that passes though its reuse failed says why, wherever it is shown.
func TestWhyPassed(t *testing.T) {
	closed := func(v probes.Verdict, keep time.Duration) []*probes.Outcome {
		return []*probes.Outcome{{
			Target: "py", Probe: "idle", Kind: probes.KindIdle, Verdict: v, Hold: 9500 * time.Millisecond, KeepAlive: keep, Close: &probes.Close{Age: 6 * time.Second, How: probes.HowFIN},
			Attempts: []probes.Attempt{{Connection: probes.ConnectionReused, Reason: probes.ReasonIdleFIN}},
		}}
	}
	for name, tt := range map[string]struct {
		outcomes []*probes.Outcome
		want     string
	}{
		"fails":      {closed(probes.VerdictFail, 10*time.Second), ""},
		"keep_alive": {closed(probes.VerdictPass, 5*time.Second), "after the 5 s of keep_alive"},
		"none":       {closed(probes.VerdictPass, 0), "so that a client that looks sees it"},
	} {
		got := whyPassed(tt.outcomes)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		var s Status
		s.Targets = []StatusTarget{{Name: "py", Probes: []StatusProbe{{Name: "idle", Kind: probes.KindIdle, Outcomes: []probes.Outcome{*tt.outcomes[0]}}}}}
		var text, page bytes.Buffer
		run := probes.Run{Outcomes: []probes.Outcome{*tt.outcomes[0]}}
		if err := errors.Join(Text(&text, run, Style{Width: 200}), HTML(&page, run)); err != nil {
			t.Fatal(err)
		}
		for what, shown := range map[string]string{"status": string(statusPage(t, s)), "text": text.String(), "html": page.String()} {
			if strings.Contains(shown, "though the reuse failed") != (tt.want != "") {
				t.Errorf("%s: %s", name, what)
			}
		}
	}
}

func TestStatusFilter(t *testing.T) {
	s := crowdedStatus(12, 4)
	shown := func(f StatusFilter) []string {
		s.Filter = f
		var names []string
		for _, v := range newStatusView(s).Targets {
			names = append(names, v.Name)
		}
		return names
	}
	if all := shown(StatusFilter{}); len(all) != 12 || all[0] != "stock-api-000" || all[1] != "stock-api-004" {
		t.Errorf("all, those that fail first: %v", all)
	}
	for _, c := range []struct {
		filter StatusFilter
		want   string
	}{
		{StatusFilter{Target: "payment-api-001"}, "payment-api-001"},
		{StatusFilter{Target: "STOCK"}, "stock-api-000 stock-api-004 stock-api-008"},
		{StatusFilter{Verdict: probes.VerdictFail}, "stock-api-000 stock-api-004 stock-api-008"},
		{StatusFilter{Target: "-01", Verdict: probes.VerdictPass}, "payment-api-010 payment-api-011"},
		{StatusFilter{Target: "nobody"}, ""},
	} {
		if got := strings.Join(shown(c.filter), " "); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.filter, got, c.want)
		}
	}
	s.Filter = StatusFilter{Unknown: "<foo>"}
	if page := string(statusPage(t, s)); !strings.Contains(page, "“&lt;foo&gt;” is no verdict") || !strings.Contains(page, "There are: pass, degraded, fail") {
		t.Error("it does not say which verdicts there are")
	}
	s.Filter = StatusFilter{Refresh: 30 * time.Second}
	if page := string(statusPage(t, s)); !strings.Contains(page, `<meta http-equiv="refresh" content="30">`) || !strings.Contains(page, "Stop refreshing") {
		t.Error("it does not refresh")
	}
}

// Of many attempts those that failed are shown, where they were.
func TestStatusShowsTheAttemptsThatTell(t *testing.T) {
	all := slices.Repeat([]probes.Attempt{{Reason: probes.ReasonOK}}, 100)
	all[50].Reason, all[99].Reason = probes.ReasonIdleFIN, probes.ReasonReset
	if got := telling(all); len(got) != mostAttempts || got[0] != 0 || got[mostAttempts-3] != mostAttempts-3 || got[mostAttempts-2] != 50 || got[mostAttempts-1] != 99 {
		t.Errorf("shown: %v", got)
	}
	for i := range all {
		all[i].Reason = probes.ReasonReset
	}
	if got := telling(all); len(got) != mostAttempts || got[mostAttempts-1] != mostAttempts-1 {
		t.Errorf("of failed ones alone: %v", got)
	}
	if got := telling(all[:3]); len(got) != 3 {
		t.Errorf("of three: %v", got)
	}
}

// A burst is told by its sentence, its calls and what they foretell; its pool is held as
// one.
func TestStatusOfABurst(t *testing.T) {
	s := wellStatus()
	o := probes.Outcome{
		Target: "stock-api", Probe: "burst", Kind: probes.KindBurst, Verdict: probes.VerdictFail, Diagnosis: probes.DiagnosisEarlyClose, Message: "38 of 100 calls met a dead connection",
		Attempts:  slices.Repeat([]probes.Attempt{{Connection: probes.ConnectionReused, Reason: probes.ReasonOK}, {Connection: probes.ConnectionReused, Reason: probes.ReasonIdleFIN}}, 50),
		Burst:     &probes.BurstSeen{Shape: probes.Shape{Connections: 20, Bursts: 5}, Order: probes.PoolLIFO, Calls: slices.Repeat([]probes.BurstCall{{Burst: 1, Attempt: 1}, {Burst: 2}}, 50)},
		Predicted: []probes.Prediction{{Source: "the declared shape", Client: "apache-httpclient-4.5", Calls: 200, Dead: 25, Failed: 5, Gaps: 100, InBand: 40}},
	}
	s.Targets = []StatusTarget{{Name: "stock-api", Probes: []StatusProbe{{Name: "burst", Kind: probes.KindBurst, Outcomes: []probes.Outcome{o}}}}}
	s.Held = []probes.Event{{Target: "stock-api", Probe: "burst", Hold: time.Minute, Connections: 20, Until: s.Now.Add(time.Second)}}
	page := string(statusPage(t, s))
	for _, want := range []string{
		"<p>38 of 100 calls met a dead connection</p>", "100 calls through 20 connections (LIFO), 2 bursts: 50 were given a dead connection, 0 failed for another cause",
		"the declared shape with apache-httpclient-4.5: 13% of calls meet a dead connection, 3% fail; 40% of the gaps lie in the danger band",
		"60 s, 20 connections", "76 more attempts.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("it does not say %q", want)
		}
	}
}

// What a page takes is bounded, whatever a config and a server make of it.
func TestStatusIsBounded(t *testing.T) {
	const most = 2 << 20
	huge := strings.Repeat("<&\u202e日", 1<<18)
	long := crowdedStatus(200, 1)
	for i := range long.Targets[:3] {
		for k := range long.Targets[i].Probes {
			for n := range long.Targets[i].Probes[k].Outcomes {
				o := &long.Targets[i].Probes[k].Outcomes[n]
				o.Message, o.Advice = huge, []string{huge, huge}
				o.Attempts = slices.Repeat(o.Attempts, 400)
				for a := range o.Attempts {
					o.Attempts[a].Detail, o.Attempts[a].Proto = huge, huge
				}
			}
		}
	}
	long.Incidents = slices.Repeat([]probes.Incident{{Target: huge, Said: huge, Name: huge}}, 5000)
	long.Held = slices.Repeat([]probes.Event{{Target: huge, Probe: huge, Until: statusNow().Add(time.Minute)}}, 5000)
	long.Trouble, long.Config, long.Notices = huge, huge, []string{huge}
	rungs := incidentStatus()
	rungs.Targets[1].Probes[1].Outcomes = slices.Repeat(rungs.Targets[1].Probes[1].Outcomes, 2000)
	for name, s := range map[string]Status{"200, all fail": crowdedStatus(200, 1), "5000": crowdedStatus(5000, 3), "long texts": long, "6000 rungs": rungs} {
		if page := statusPage(t, s); len(page) > most {
			t.Errorf("%s: %d bytes", name, len(page))
		}
	}
}

// The browser takes the style by its hash, and nothing else.
func TestStatusPolicy(t *testing.T) {
	page := string(statusPage(t, incidentStatus()))
	_, style, _ := strings.Cut(page, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	if got := StatusPolicy(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestStatusTimes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 59400 * time.Millisecond: "59 s", time.Minute: "1 min", 61 * time.Second: "1 min 1 s", 45*time.Minute + time.Second: "45 min",
		time.Hour: "1 h", 90 * time.Minute: "1 h 30 min", 30*time.Hour + time.Minute: "30 h", 49 * time.Hour: "2 days 1 h", 1000 * time.Hour: "41 days", -time.Second: "0 s",
	} {
		if got := spell(d); got != want {
			t.Errorf("%s: got %q, want %q", d, got, want)
		}
	}
	now := statusNow()
	if got := nextTick(now, now) + ", " + nextTick(time.Time{}, now) + ", " + nextTick(now.Add(time.Minute), now) + ", " + ago(now, now) + ", " + ago(now.Add(-time.Hour), now); got != "now, not known, in 1 min, just now, 1 h ago" {
		t.Error(got)
	}
}

func TestStatusWriteErrorIsReturned(t *testing.T) {
	if err := StatusPage(broken{}, incidentStatus()); err == nil || !strings.Contains(err.Error(), "writing the status page: ") {
		t.Errorf("got %v", err)
	}
}
