package alert

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// coping is an early close that the application does not feel: its client
// looks before it uses a connection.
func coping(result probes.ClientResult, experiences string) probes.Run {
	var run probes.Run
	for _, hold := range []time.Duration{1500 * ms, 2500 * ms} {
		o := closedRung(hold, 1001*ms)
		o.Verdict, o.Diagnosis, o.Family = probes.VerdictFail, probes.DiagnosisEarlyClose, probes.FamilyConnection
		o.Message = "the connection was closed by the peer after 1.001 s idle, before the expected 60 s; a fresh one worked"
		o.Client = &probes.ClientOutcome{Kind: "go-net-http", Experiences: experiences, Result: result}
		run.Outcomes = append(run.Outcomes, o)
	}
	return runOf(run.Outcomes...)
}

func TestTheClientCopes(t *testing.T) {
	const copes, unhurtWords = "FIRING stock-api: idle connections are closed too early (go-net-http copes)", "The application is not hurt by it: its HTTP client, go-net-http as declared, "
	for _, tt := range []struct {
		name  string
		run   func() probes.Run
		copes bool
		says  string
	}{
		{"it looks first", func() probes.Run {
			return coping(probes.ClientNotices, "notices that it is dead and opens a new connection")
		}, true, "notices that it is dead"},
		{"it sends again by itself", func() probes.Run { return coping(probes.ClientRetries, "sends the request again by itself") }, true, "sends the request again"},
		{"it fails", func() probes.Run { return coping(probes.ClientFails, "returns EOF") }, false, "as declared, returns EOF"},
		{"nobody knows", func() probes.Run { return coping("", "does something") }, false, "does something"},
		{"it copes with one rung only", func() probes.Run {
			run := coping(probes.ClientNotices, "notices it")
			run.Outcomes[1].Client.Result = probes.ClientFails
			return run
		}, false, "notices it"},
		{"it looks first, but not in its danger band", func() probes.Run {
			run := coping(probes.ClientNotices, "notices it")
			for n := range run.Outcomes {
				run.Outcomes[n].Client.Band = &probes.Band{From: 900 * ms, To: 1400 * ms}
			}
			return run
		}, false, "It would use without looking connections idle for 0.9 s to 1.4 s"},
		{"after a timeout", func() probes.Run {
			run := coping(probes.ClientRetries, "sends it again after its timeout")
			for n := range run.Outcomes {
				run.Outcomes[n].Reason = probes.ReasonBlackhole
			}
			return run
		}, false, "after its timeout"},
	} {
		_, told := decideAll(options, tt.run(), tt.run())
		n := told[1][0]
		text := wordsOf(n)
		if (n.Title == copes) != tt.copes || strings.Contains(n.Summary, unhurtWords) != tt.copes || strings.Contains(text, unhurtWords) != tt.copes || !strings.Contains(text, tt.says) {
			t.Errorf("%s: %q, %q\n%s", tt.name, n.Title, n.Summary, text)
		}
	}
}

// TestSeveralClientsCope: a group says so of all, or of none.
func TestSeveralClientsCope(t *testing.T) {
	fleet := func(fails string) probes.Run {
		run := runOf()
		for _, name := range []string{"a", "b", "c"} {
			result := probes.ClientNotices
			if name == fails {
				result = probes.ClientFails
			}
			for _, o := range coping(result, "does it").Outcomes {
				o.Target = name
				run.Outcomes = append(run.Outcomes, o)
			}
		}
		return run
	}
	for fails, want := range map[string]string{
		"":  "FIRING 3 targets: idle connections are closed too early (the clients cope)",
		"b": "FIRING 3 targets: idle connections are closed too early",
	} {
		_, told := decideAll(options, fleet(fails), fleet(fails))
		if got := told[1][0].Title; len(told[1]) != 1 || got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNumbersDoNotPartAGroup: three certificates with other days left are one
// trouble.
func TestNumbersDoNotPartAGroup(t *testing.T) {
	run := runOf()
	for n, name := range []string{"a", "b", "c"} {
		o := single(name, "p", probes.VerdictFail, probes.DiagnosisCertificate, probes.FamilyCertificate)
		o.Reason, o.Attempts = probes.ReasonOK, []probes.Attempt{exchange(probes.ConnectionFresh, probes.ReasonOK, 12*ms)}
		o.Attempts[0].TLSExpiry = noon().AddDate(0, 0, 3+n)
		run.Outcomes = append(run.Outcomes, o)
	}
	_, told := decideAll(options, run, run)
	if got := told[1][0].Title; len(told[1]) != 1 || got != "FIRING 3 targets: the certificate is not valid, or not for long" {
		t.Errorf("told %s: %q", kinds(told), got)
	}
	run.Outcomes = run.Outcomes[:1]
	_, told = decideAll(options, run, run)
	if got := told[1][0].Title; got != "FIRING a: the certificate expires in 3 days" {
		t.Errorf("%q", got)
	}
}

// TestWhyItIsTold: an early close that the client notices is told since the path does
// not keep what the config expects, and the summary says so first.
func TestWhyItIsTold(t *testing.T) {
	const why = "Connections end after 1.001 s idle, before the declared keep_alive of 60 s. "
	summaryOf := func(change func(*probes.Outcome)) string {
		run := coping(probes.ClientNotices, "notices that it is dead and opens a new connection")
		for n := range run.Outcomes {
			change(&run.Outcomes[n])
		}
		_, told := decideAll(options, run, run)
		return told[1][0].Summary
	}
	for _, tt := range []struct {
		name   string
		change func(*probes.Outcome)
		want   string
	}{
		{"it copes", func(*probes.Outcome) {}, why + "The application is not hurt by it: "},
		{"it notices, but not in its danger band", func(o *probes.Outcome) { o.Client.Band = &probes.Band{From: 900 * ms, To: 1400 * ms} }, why + "The application's HTTP client, "},
		{"its error is the reason", func(o *probes.Outcome) { o.Client.Result = probes.ClientFails }, "The application's HTTP client, "},
		{"nothing was declared", func(o *probes.Outcome) { o.KeepAlive = 0 }, "The application is not hurt by it: "},
	} {
		if got := summaryOf(tt.change); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}
