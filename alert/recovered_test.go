package alert

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// wordsOf is a notice's text on one line.
func wordsOf(n Notice) string { return strings.Join(strings.Fields(Text(n)), " ") }

// TestWhatIsMeasuredAgain: the end of what has nothing to do with idle time
// says what is other, and when it would come back only where that says something.
func TestWhatIsMeasuredAgain(t *testing.T) {
	const never = "When it would come back"
	quick := single("shop", "quote", probes.VerdictPass, "", "")
	quick.Attempts[0].Elapsed, quick.Attempts[0].TLSExpiry = 12*ms, noon().AddDate(0, 6, 0)
	slow := "a fresh connection failed after 350 ms: the answer was slower than expected (latency 350ms, want latency < duration(\"300ms\"))"
	for _, tt := range []struct {
		diagnosis probes.Diagnosis
		family    probes.Family
		message   string
		want      []string
		not       string
	}{
		{probes.DiagnosisUnreachable, probes.FamilyReachability, "refused", []string{"Connections are accepted again, and it answered 200 in 12 ms."}, never},
		{probes.DiagnosisServiceDown, probes.FamilyReachability, "the answer was 503", []string{"Requests on fresh connections are answered again: it answered 200 in 12 ms."}, never},
		{probes.DiagnosisSlow, probes.FamilyLatency, slow, []string{"Answers come in time again: it answered 200 in 12 ms (limit 300 ms).", never + " When answers take longer than 300 ms again: fires when 2 of the last 3 failed."}, "measures"},
		{probes.DiagnosisSlow, probes.FamilyLatency, "slower than expected", []string{"Answers come in time again: it answered 200 in 12 ms."}, never},
		{probes.DiagnosisCertificate, probes.FamilyCertificate, "expired", []string{"The certificate was accepted, and is valid until 2026-09-02 12:00 UTC.", never + " When the certificate comes near its end, 2026-09-02 12:00 UTC, and is not renewed."}, "measures"},
		{probes.DiagnosisRateLimited, probes.FamilyLimits, "429", []string{"No 429 in the last 2 runs: it answered 200 in 12 ms."}, never},
		{probes.DiagnosisUnauthorized, probes.FamilyAuthorization, "401", []string{"The credentials are accepted again: it answered 200 in 12 ms."}, never},
		{probes.DiagnosisContract, probes.FamilyContract, "404", []string{"The answer is as expected again: it answered 200 in 12 ms."}, never},
	} {
		bad := single("shop", "quote", probes.VerdictFail, tt.diagnosis, tt.family)
		bad.Message = tt.message
		_, told := decideAll(options, runOf(bad), runOf(bad), runOf(quick), runOf(quick))
		if got := shorthand(told); got != ".F.R" {
			t.Fatalf("%s: told %s", tt.diagnosis, got)
		}
		text := wordsOf(told[3][0])
		for _, want := range append(tt.want, "At the opening: "+tt.message) {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing in\n%s", tt.diagnosis, want, text)
			}
		}
		for _, no := range []string{tt.not, "Neither", "nothing that perch measures", "At any time"} {
			if strings.Contains(text, no) {
				t.Errorf("%s: %q is said in\n%s", tt.diagnosis, no, text)
			}
		}
	}
}

// TestOnlyTheDeclaredClientIsSpokenOf: where none is, none has not changed.
func TestOnlyTheDeclaredClientIsSpokenOf(t *testing.T) {
	bad := closedRung(1500*ms, time.Second)
	bad.Verdict, bad.Family, bad.Diagnosis = probes.VerdictFail, probes.FamilyConnection, probes.DiagnosisEarlyClose
	well := rung(500 * ms)
	_, told := decideAll(options, runOf(bad), runOf(bad), runOf(well), runOf(well))
	if text := wordsOf(told[3][0]); !strings.Contains(text, "The path did not change in anything that perch measures") || strings.Contains(text, "client") {
		t.Errorf("the end says\n%s", text)
	}
}

// TestAGroupsEndSaysWhatIsOther, of each target.
func TestAGroupsEndSaysWhatIsOther(t *testing.T) {
	all := func(v probes.Verdict) probes.Run {
		run := runOf()
		for _, name := range []string{"a", "b", "c"} {
			run.Outcomes = append(run.Outcomes, single(name, "p", v, probes.DiagnosisUnreachable, probes.FamilyReachability))
		}
		return run
	}
	bad, good := all(probes.VerdictFail), all(probes.VerdictPass)
	_, told := decideAll(options, bad, bad, good, good)
	text := wordsOf(told[3][0])
	for _, want := range []string{"RESOLVED 3 targets (no connection can be made)", "c: 2 of 4 runs failed since 2026-03-02 12:00 UTC; over after 15 min: it works again (connections are accepted again, and it answered 200 in 131 ms)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestLimit(t *testing.T) {
	for message, want := range map[string]string{
		`latency 350ms, want latency < duration("300ms")`:             "300 ms",
		`latency 3s, want latency <= duration('2s') && status == 200`: "2 s",
		`latency 3s, want latency < limit`:                            "",
		`latency 3s, want latency < duration("soon")`:                 "",
		"": "",
	} {
		if got := (Sight{Message: message}).limit(); got != want {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}
