package diagnose

import (
	"net/url"
	"strings"
	"testing"

	"perch.example/probes"
)

// What speaks HTTP/2 only is there, on a fresh connection and on a control: the config is
// what is wrong, and the advice says what to write.
func TestHTTP2Only(t *testing.T) {
	frames := func(a *probes.Attempt) { a.NoHTTP1, a.ResponseBytes = true, 27 }
	alpn := func(a *probes.Attempt) { a.NoALPN = true }
	burst := httpInput(probes.ReasonBadResponse, probes.ReasonBadResponse)
	burst.Spec.Kind, burst.Observations[0].Kind = probes.KindBurst, probes.KindBurst
	unwarmed := httpInput(probes.ReasonBadResponse)
	unwarmed.Spec.Kind, unwarmed.Observations[0].Kind = probes.KindIdle, probes.KindIdle
	for name, tt := range map[string]struct {
		in           Input
		change       func(*probes.Attempt)
		scheme       string
		protocol     probes.Protocol
		advice, says string
	}{
		"frames":                     {httpInput(probes.ReasonBadResponse, probes.ReasonBadResponse), frames, "http", "", "Set protocol: h2c for this probe", "the peer speaks no HTTP/1.1"},
		"frames over TLS":            {httpInput(probes.ReasonBadResponse, probes.ReasonBadResponse), frames, "https", "", "Set protocol: h2 for this probe", "the peer speaks no HTTP/1.1"},
		"a warm-up":                  {unwarmed, frames, "http", "", "Set protocol: h2c for this probe", "the peer speaks no HTTP/1.1"},
		"a burst":                    {burst, frames, "http", "", "Put a probe of kind idle or http with protocol: h2c in the place of this burst", "the peer speaks no HTTP/1.1"},
		"ALPN refuses HTTP/1.1":      {httpInput(probes.ReasonTLS, probes.ReasonTLS), alpn, "https", "", "Set protocol: h2, or auto", ""},
		"ALPN refuses HTTP/2":        {httpInput(probes.ReasonTLS, probes.ReasonTLS), alpn, "https", probes.ProtocolH2, "Set protocol: http/1.1, or auto", ""},
		"ALPN refuses both":          {httpInput(probes.ReasonTLS, probes.ReasonTLS), alpn, "https", probes.ProtocolAuto, "Check the URL's port", ""},
		"frames, and not once again": {httpInput(probes.ReasonBadResponse, probes.ReasonOK), frames, "http", "", "Ask the API's owner which versions", "the peer speaks no HTTP/1.1"},
	} {
		tt.in.Spec.URL, tt.in.Spec.Protocol = &url.URL{Scheme: tt.scheme, Host: "api.example"}, tt.protocol
		for i := range tt.in.Observations {
			for k := range tt.in.Observations[i].Attempts {
				if a := &tt.in.Observations[i].Attempts[k]; !a.OK() {
					tt.change(a)
				}
			}
		}
		o := judgeOne(t, tt.in, 0)
		verdict, diagnosis := probes.VerdictFail, probes.DiagnosisContract
		if strings.Contains(name, "not once again") {
			verdict, diagnosis = probes.VerdictDegraded, probes.DiagnosisUnstable
		}
		if o.Verdict != verdict || o.Diagnosis != diagnosis || hypothesis(o, probes.HypothesisAPIDown).Ruled != probes.RuledOut {
			t.Errorf("%s: %s %s, %+v", name, o.Verdict, o.Diagnosis, hypothesis(o, probes.HypothesisAPIDown))
		}
		if len(o.Advice) != 1 || !strings.HasPrefix(o.Advice[0], tt.advice) || !strings.Contains(o.Message, tt.says) {
			t.Errorf("%s: %s\n%q", name, o.Message, o.Advice)
		}
	}
}
