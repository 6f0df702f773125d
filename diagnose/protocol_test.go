package diagnose

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// What speaks HTTP/2 only is there, on a fresh connection and on a control: the config is
// what is wrong, and the advice says what to write.
func TestHTTP2Only(t *testing.T) {
	frames := func(a *probes.Attempt) { a.NoHTTP1, a.ResponseBytes = true, 27 }
	alpn := func(a *probes.Attempt) { a.NoALPN = true }
	burst := httpInput(probes.ReasonBadResponse, probes.ReasonBadResponse)
	burst.Spec.Kind, burst.Observations[0].Kind = probes.KindBurst, probes.KindBurst
	alpnBurst := httpInput(probes.ReasonTLS, probes.ReasonTLS)
	alpnBurst.Spec.Kind, alpnBurst.Observations[0].Kind = probes.KindBurst, probes.KindBurst
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
		"ALPN refuses HTTP/1.1":      {httpInput(probes.ReasonTLS, probes.ReasonTLS), alpn, "https", "", "Set protocol: h2, or auto, for this probe if the application does so: the server refused http/1.1", ""},
		"ALPN refuses HTTP/2":        {httpInput(probes.ReasonTLS, probes.ReasonTLS), alpn, "https", probes.ProtocolH2, "Set protocol: http/1.1, or auto, for this probe if the application does so: the server agreed to no HTTP/2", ""},
		"ALPN refuses both":          {httpInput(probes.ReasonTLS, probes.ReasonTLS), alpn, "https", probes.ProtocolAuto, "Check the URL's port: the server refused all that ALPN offered, h2 and http/1.1", ""},
		"ALPN refuses a burst":       {alpnBurst, alpn, "https", "", "Put a probe of kind idle or http with protocol: h2 in the place of this burst if", ""},
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
		down := probes.RuledOut
		if strings.HasPrefix(name, "ALPN") { // nothing was asked of it
			down = probes.RuledOpen
		}
		if o.Verdict != verdict || o.Diagnosis != diagnosis || hypothesis(o, probes.HypothesisAPIDown).Ruled != down {
			t.Errorf("%s: %s %s, %+v", name, o.Verdict, o.Diagnosis, hypothesis(o, probes.HypothesisAPIDown))
		}
		if len(o.Advice) != 1 || !strings.HasPrefix(o.Advice[0], tt.advice) || !strings.Contains(o.Message, tt.says) {
			t.Errorf("%s: %s\n%q", name, o.Message, o.Advice)
		}
	}
}

// Where anything of the run was answered over the probe's protocol, the peer that spoke
// another one is not all that there is: whenever that was, and whatever the answer.
func TestOtherProtocolNowAndThen(t *testing.T) {
	const hold = 2 * time.Second
	frames := func(i int) *build {
		b := rungAt(time.Duration(i)*time.Minute, hold, probes.ReasonOK)
		b.o.Attempts = b.o.Attempts[:1]
		a := &b.o.Attempts[0]
		a.Reason, a.Status, a.NoHTTP1, a.ResponseBytes = probes.ReasonBadResponse, 0, true, 27
		return b
	}
	missing := rungAt(time.Hour, hold, probes.ReasonOK)
	missing.o.Attempts = missing.o.Attempts[:1]
	missing.o.Attempts[0].Reason, missing.o.Attempts[0].Status = probes.ReasonStatus, 404
	text := frames(0)
	text.o.Attempts[0].NoHTTP1, text.o.Attempts[0].NoHTTP2, text.o.Attempts[0].TextStatus = false, true, 503
	unused := frames(0)
	unused.o.Unused = true
	held := unused.o.Attempts[0]
	held.Connection, held.IdleTime = probes.ConnectionReused, hold
	beside := rungAt(0, hold, probes.ReasonOK).o.Attempts[0]
	beside.Connection = probes.ConnectionControl
	unused.o.Attempts = []probes.Attempt{held, beside}
	for name, tt := range map[string]struct {
		in   Input
		says string
	}{
		"another rung was answered later":   {idleInput(0, frames(0), rungAt(time.Hour, 2*hold, probes.ReasonOK)), "another connection of this run answered 200"},
		"another rung was answered before":  {idleInput(0, frames(60), rungAt(0, 2*hold, probes.ReasonOK)), "another connection of this run answered 200"},
		"another one was answered with 404": {idleInput(0, frames(0), missing), "another connection of this run answered 404"},
		"text with 503, and another answer": {idleInput(0, text, rungAt(time.Hour, 2*hold, probes.ReasonOK)), "another connection of this run answered 200"},
		"one that was held unused":          {idleInput(0, unused), "a fresh one worked"},
	} {
		o := judgeOne(t, tt.in, 0)
		if o.Verdict == probes.VerdictFail || o.Diagnosis == probes.DiagnosisContract || hypothesis(o, probes.HypothesisAPIDown).Ruled != probes.RuledOut {
			t.Errorf("%s: %s %s, %+v", name, o.Verdict, o.Diagnosis, hypothesis(o, probes.HypothesisAPIDown))
		}
		if len(o.Advice) == 0 || !strings.HasPrefix(o.Advice[0], "Ask the API's owner which versions") || !strings.Contains(o.Message, tt.says) {
			t.Errorf("%s: %s\n%q", name, o.Message, o.Advice)
		}
	}
	if o := judgeOne(t, idleInput(0, frames(0), frames(1)), 0); o.Diagnosis != probes.DiagnosisContract || !strings.Contains(o.Advice[0], "speaks HTTP/2 only") {
		t.Errorf("none was answered: %s, %q", o.Diagnosis, o.Advice)
	}
}

// An address that speaks another version than the host's others fails for itself; what to
// write into the config is not the advice.
func TestOtherProtocolOfAnAddress(t *testing.T) {
	in := httpInput(probes.ReasonBadResponse, probes.ReasonOK)
	at := in.Observations[0].Attempts
	at[0].NoHTTP1, at[0].Address, at[1].Address = true, netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	o := judgeOne(t, in, 0)
	if o.Diagnosis != probes.DiagnosisContract || !strings.Contains(o.Message, "1 of 2 addresses (192.0.2.1)") || !strings.HasPrefix(o.Advice[0], "Ask the API's owner which versions") {
		t.Errorf("%s: %s\n%q", o.Diagnosis, o.Message, o.Advice)
	}
}

// An answer in HTTP/1 shows what is spoken. With a status of the 500s it may say that the
// API is down, too.
func TestHTTP1AnswerThatMayMeanDown(t *testing.T) {
	for status, want := range map[int]probes.Ruling{0: probes.RuledOut, 400: probes.RuledOut, 505: probes.RuledOpen, 503: probes.RuledOpen} {
		for _, grpc := range []bool{false, true} {
			in := httpInput(probes.ReasonBadResponse, probes.ReasonBadResponse)
			if grpc {
				in.Spec.GRPC = &probes.GRPC{}
			}
			for i := range in.Observations[0].Attempts {
				a := &in.Observations[0].Attempts[i]
				a.NoHTTP2, a.TextStatus, a.ResponseBytes = true, status, 103
			}
			o := judgeOne(t, in, 0)
			h := hypothesis(o, probes.HypothesisAPIDown)
			if o.Diagnosis != probes.DiagnosisContract || h.Ruled != want || strings.Contains(o.Advice[0], "API's trouble") != (want == probes.RuledOpen) {
				t.Errorf("%d, gRPC %v: %s, %+v, %q", status, grpc, o.Diagnosis, h, o.Advice)
			}
		}
	}
	in := httpInput(probes.ReasonBadResponse, probes.ReasonBadResponse) // text that is no HTTP
	in.Spec.Protocol = probes.ProtocolH2C
	if o := judgeOne(t, in, 0); o.Diagnosis != probes.DiagnosisServiceDown || hypothesis(o, probes.HypothesisAPIDown).Ruled != probes.RuledIn {
		t.Errorf("%s, %+v", o.Diagnosis, o.Hypotheses)
	}
}
