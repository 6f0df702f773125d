package diagnose

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestRenewedToken: an attempt that was made again with another token gives way to
// that, for an exchange as for a warm-up.
func TestRenewedToken(t *testing.T) {
	for _, c := range []struct {
		second  probes.Reason
		verdict probes.Verdict
		finds   probes.Diagnosis
	}{
		{probes.ReasonOK, probes.VerdictPass, ""},
		{probes.ReasonUnauthorized, probes.VerdictFail, probes.DiagnosisUnauthorized},
		{probes.ReasonReset, probes.VerdictFail, probes.DiagnosisServiceDown},
	} {
		in := httpInput(probes.ReasonUnauthorized, c.second)
		in.Observations[0].Attempts[0].Renewed, in.Observations[0].Attempts[0].Status = true, 401
		o := judgeOne(t, in, 0)
		if o.Verdict != c.verdict || o.Diagnosis != c.finds || len(o.Attempts) != 2 || o.Reason != c.second {
			t.Errorf("%s: %s %q, %s", c.second, o.Verdict, o.Diagnosis, o.Message)
		}
	}
	in := httpInput(probes.ReasonUnauthorized) // the budget had no room for the second one
	in.Observations[0].Attempts[0].Renewed = true
	if o := judgeOne(t, in, 0); o.Verdict != probes.VerdictFail || o.Diagnosis != probes.DiagnosisUnauthorized {
		t.Errorf("%+v", o)
	}
}

// TestNoToken: the API was not asked, and nothing is said of it.
func TestNoToken(t *testing.T) {
	in := httpInput(probes.ReasonUnauthorized)
	a := &in.Observations[0].Attempts[0]
	in.Spec.Client = &probes.Client{Kind: "go-net-http"}
	a.NoToken, a.Started, a.Elapsed, a.Detail = true, time.Time{}, 0, "no token: the token endpoint at login.example: it answered 503"
	o := judgeOne(t, in, 0)
	if o.Verdict != probes.VerdictFail || o.Diagnosis != probes.DiagnosisUnauthorized || o.Family != probes.FamilyAuthorization {
		t.Errorf("%s, %s, %s", o.Verdict, o.Diagnosis, o.Family)
	}
	if o.Message != "nothing was sent: "+a.Detail || !strings.Contains(strings.Join(o.Advice, " "), "token endpoint") {
		t.Errorf("%s\n%q", o.Message, o.Advice)
	}
	if o.Client.Experiences != "" || o.DiagnosisWords() != "there is no token to ask the API with" {
		t.Errorf("%+v, %s", o.Client, o.DiagnosisWords())
	}
	for _, h := range o.Hypotheses {
		if strings.Contains(h.Evidence, "401") || h.ID == probes.HypothesisRetryGap && h.Ruled != probes.RuledOpen {
			t.Errorf("%s is %s: %s", h.ID, h.Ruled, h.Evidence)
		}
		if h.Ruled == probes.RuledIn || strings.Contains(h.Evidence, "fresh connection") {
			t.Errorf("%s is %s: %s", h.ID, h.Ruled, h.Evidence)
		}
	}
}
