package alert

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestWhy: what a resolve says changed, from what was seen then and now.
func TestWhy(t *testing.T) {
	closedAt := func(age time.Duration, client *probes.ClientOutcome) []probes.Outcome {
		o := closedRung(1500*ms, age)
		o.Verdict, o.Family, o.Client = probes.VerdictFail, probes.FamilyConnection, client
		return []probes.Outcome{o}
	}
	band := func(to time.Duration) *probes.ClientOutcome {
		return &probes.ClientOutcome{Kind: "apache-httpclient-4.5", Band: &probes.Band{From: 891 * ms, To: to}}
	}
	open := &probes.ClientOutcome{Kind: "apache-httpclient-4.5", Band: &probes.Band{From: 891 * ms, Open: true}}
	unbanded := &probes.ClientOutcome{Kind: "apache-httpclient-4.5"}
	moved := closedAt(time.Second, nil)
	moved[0].Path.TCPEnds = probes.TCPEndsBeforePeer
	covered := func(c probes.RetryCover, experiences string) []probes.Outcome {
		o := closedAt(time.Second, &probes.ClientOutcome{Kind: "okhttp-4", Experiences: experiences, Band: &probes.Band{From: ms, To: time.Minute}})
		o[0].Retry.Application = c
		return o
	}
	expects := func(keepAlive time.Duration) []probes.Outcome {
		o := closedAt(time.Second, nil)
		o[0].KeepAlive = keepAlive
		return o
	}
	declared := func(name, value string) []probes.Outcome {
		c := &probes.ClientOutcome{Kind: "okhttp-4"}
		if value != "" {
			c.Settings = []probes.Setting{{Name: name, Value: value}}
		}
		return closedAt(time.Second, c)
	}
	silent := rung(61 * time.Second)
	silent.Verdict, silent.Family = probes.VerdictFail, probes.FamilyConnection
	silent.Attempts[1].Reason, silent.Attempts[1].IdleTime = probes.ReasonBlackhole, 61*time.Second

	tests := []struct {
		name      string
		then, now []probes.Outcome
		want      cause
		says      string
	}{
		{"the timeout was raised", closedAt(time.Second, nil), closedAt(60*time.Second, nil), causePath, "closed after 60 s now, and were after 1 s before"},
		{"within the tolerance it was not", closedAt(60*time.Second, nil), closedAt(60900*ms, nil), causeNeither, ""},
		{"idle connections live now", closedAt(time.Second, nil), []probes.Outcome{rung(3 * time.Second)}, causePath, "idle for 3 s work now, and ended at about 1 s before"},
		{"shorter holds prove nothing", closedAt(time.Second, nil), []probes.Outcome{rung(500 * ms)}, causeNeither, ""},
		{"what died in silence lives now", []probes.Outcome{silent}, []probes.Outcome{rung(2 * time.Minute)}, causePath, "ended at about 61 s before"},
		{"the path leads elsewhere", closedAt(time.Second, nil), moved, causePath, "before_peer"},
		{"the client looks earlier", closedAt(time.Second, band(2*time.Second)), closedAt(time.Second, unbanded), causeClient, "no longer uses connections that the path has closed"},
		{"the client's limit moved", closedAt(time.Second, open), closedAt(time.Second, band(2*time.Second)), causeClient, "up to 2 s without looking; before, up to any idle age"},
		{"another client", closedAt(time.Second, nil), closedAt(time.Second, unbanded), causeClient, "apache-httpclient-4.5 is declared now, before: none"},
		{"its declaration was removed", closedAt(time.Second, unbanded), closedAt(time.Second, nil), causeClient, "no longer declared"},
		{"its retries cover it", covered(probes.CoverUncovered, "throws"), covered(probes.CoverCovered, "throws"), causeClient, "retry policy covers this now"},
		{"its retries cover it no more", covered(probes.CoverCovered, "throws"), covered(probes.CoverUncovered, "throws"), causeNeither, ""},
		{"it sends again by itself", covered(probes.CoverUncovered, "throws"), covered("", "sends it again by itself"), causeClient, "okhttp-4 sends it again by itself; before, it throws"},
		{"the config expects less", expects(time.Minute), expects(time.Second), causeConfig, "to live for 1 s now, and expected 60 s before"},
		{"it says nothing of it any more", expects(time.Minute), expects(0), causeNeither, ""},
		{"without a close the band says nothing", closedAt(time.Second, band(2*time.Second)), []probes.Outcome{func() probes.Outcome {
			o := rung(500 * ms)
			o.Client = unbanded
			return o
		}()}, causeNeither, ""},
		{"its idle limit was lowered", declared("max_idle", "none"), declared("max_idle", "750ms"), causeClient, "its declared max_idle is 750ms now, before: none"},
		{"its idle limit is the client's own again", declared("max_idle", "5m"), declared("wrapped_by", "x"), causeClient, "wrapped_by is x now, before: the client's default; its declared max_idle is the client's default now, before: 5m"},
		{"its list was completed", declared("retry.errors", "a.B, c.D"), declared("retry.errors", "a.B, e.F, c.D"), causeClient, "retry.errors now hold e.F"},
		{"an entry took another's place", declared("retry.errors", "a.B"), declared("retry.errors", "e.F"), causeClient, "retry.errors now hold e.F, and no longer a.B"},
		{"a memory that kept no settings", declared("max_idle", ""), declared("max_idle", "750ms"), causeNeither, ""},
		{"nothing changed", closedAt(time.Second, open), closedAt(time.Second, open), causeNeither, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, how := why(look(tt.then, probes.FamilyConnection), look(tt.now, probes.FamilyConnection))
			if got != tt.want || !strings.Contains(how, tt.says) {
				t.Errorf("why: %s (%s), want %s (%s)", got, how, tt.want, tt.says)
			}
			if back := comesBack(look(tt.then, probes.FamilyConnection), look(tt.now, probes.FamilyConnection), got); !strings.HasSuffix(back, ".") {
				t.Errorf("comes back: %q", back)
			}
		})
	}
}

// TestOtherFamiliesKnowNoIdleAge: that a refused rung's hold works later says
// nothing about the path.
func TestOtherFamiliesKnowNoIdleAge(t *testing.T) {
	refused := rung(30 * time.Second)
	refused.Verdict, refused.Family, refused.Diagnosis = probes.VerdictFail, probes.FamilyReachability, probes.DiagnosisUnreachable
	refused.Attempts = []probes.Attempt{exchange(probes.ConnectionFresh, probes.ReasonRefused, ms)}
	down, up := runOf(refused), runOf(rung(30*time.Second), rung(61*time.Second))
	_, told := decideAll(options, down, down, up, up)
	text := Text(told[3][0])
	for _, want := range []string{"RESOLVED stock-api (no connection can be made)", "Connections are accepted again, and it answered 200 in 131 ms."} {
		if !strings.Contains(text, want) {
			t.Errorf("the resolve lacks %q:\n%s", want, text)
		}
	}
	for _, never := range []string{"idle connections", "When it would come back"} {
		if strings.Contains(text, never) {
			t.Errorf("the resolve says %q:\n%s", never, text)
		}
	}
}

// TestAResolveIsHonest: it names what a good run does not prove.
func TestAResolveIsHonest(t *testing.T) {
	fail := func(probe string) probes.Outcome {
		return single("shop", probe, probes.VerdictFail, probes.DiagnosisUnreachable, probes.FamilyReachability)
	}
	lucky := single("shop", "a", probes.VerdictDegraded, probes.DiagnosisUnstable, probes.FamilyReachability)
	lucky.Message = "the second try worked"
	_, told := decideAll(options, runOf(fail("a"), fail("b")), runOf(fail("a")), runOf(lucky), runOf(lucky))
	if len(told[3]) != 1 {
		t.Fatalf("the fourth run told %d notices, want the resolve", len(told[3]))
	}
	text := Text(told[3][0])
	for _, want := range []string{"shop/b did not run in the last run", "shop/a is degraded (the first try fails, the second works): the second try worked"} {
		if !strings.Contains(text, want) {
			t.Errorf("the resolve lacks %q:\n%s", want, text)
		}
	}
}
