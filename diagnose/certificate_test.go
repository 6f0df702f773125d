package diagnose

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// ends returns what a handshake showed whose leaf and intermediate end after so long.
func ends(now time.Time, leaf, mid time.Duration) *probes.TLSFacts {
	f := &probes.TLSFacts{Version: "1.3", Leaf: probes.Certificate{Subject: "api.example", Issuer: "Issuing CA", NotAfter: now.Add(leaf)}}
	f.Earliest = f.Leaf
	if mid < leaf {
		f.Earliest = probes.Certificate{Subject: "Issuing CA", Issuer: "Root", NotAfter: now.Add(mid), Authority: true}
	}
	return f
}

// anchored returns what a handshake showed whose authority is from tls.ca_file.
func anchored(now time.Time, leaf, root time.Duration) *probes.TLSFacts {
	f := ends(now, leaf, leaf)
	f.Anchor = probes.Certificate{Subject: "Private Root", Issuer: "Private Root", NotAfter: now.Add(root), Authority: true, Root: true}
	return f
}

// deadRoot is what a handshake showed that was refused for a root.
func deadRoot(now time.Time, own bool) *probes.TLSFacts {
	f := anchored(now, 60*24*time.Hour, -time.Hour)
	f.Earliest = f.Anchor
	if !own {
		f.Anchor = probes.Certificate{}
	}
	return f
}

func TestWhatOfTheChainMatters(t *testing.T) {
	const day = 24 * time.Hour
	now := httpInput(probes.ReasonOK).Now
	staple := func(s probes.Staple) *probes.TLSFacts {
		f := ends(now, 60*day, 900*day)
		f.Staple = &s
		return f
	}
	must := ends(now, 60*day, 900*day)
	must.MustStaple = true
	both := ends(now, 5*day, 900*day)
	both.MustStaple = true
	tests := []struct {
		name    string
		facts   *probes.TLSFacts
		verdict probes.Verdict
		says    string // in the message
		advises string // in the advice
	}{
		{"far", ends(now, 60*day, 900*day), "pass", "", ""},
		{"the leaf soon", ends(now, 20*day, 900*day), "degraded", `the certificate "api.example" (by "Issuing CA") expires in 20 days`, "renew the certificate before"},
		{"the intermediate soon", ends(now, 60*day, 20*day), "degraded", `the intermediate certificate "Issuing CA" (by "Root"), which the server's own is signed with, expires in 20 days`, "changes nothing"},
		{"the intermediate at once", ends(now, 60*day, 6*day), "fail", "the intermediate certificate", "changes nothing"},
		{"the leaf in two days", ends(now, 2*day-time.Minute, 900*day), "fail", "expires in 47 hours (", "renew the certificate before"},
		{"the leaf in an hour", ends(now, time.Hour, 900*day), "fail", "expires in 60 min (", "renew the certificate before"},
		{"expired since", ends(now, -day, 900*day), "fail", "expired at ", "renew the certificate before"},
		{"a good staple", staple(probes.Staple{Status: probes.StapleGood, NextUpdate: now.Add(day)}), "pass", "", ""},
		{"a staple without an end", staple(probes.Staple{Status: probes.StapleGood}), "pass", "", ""},
		{"a staple that has ended", staple(probes.Staple{Status: probes.StapleGood, NextUpdate: now.Add(-day)}), "degraded", "came with an OCSP staple that ended on ", "fetch its OCSP staple anew"},
		{"an unknown staple", staple(probes.Staple{Status: probes.StapleUnknown, NextUpdate: now.Add(day)}), "degraded", "does not know it", "OCSP staple"},
		{"garbage", staple(probes.Staple{Status: probes.StapleUnreadable}), "degraded", "no answer about it", "OCSP staple"},
		{"must-staple and none", must, "degraded", "asks for an OCSP staple (must-staple), and none came", "without must-staple"},
		{"a staple of tomorrow", staple(probes.Staple{Status: probes.StapleGood, ThisUpdate: now.Add(day), NextUpdate: now.Add(2 * day)}), "degraded", "came with an OCSP staple that begins on ", "fetch its OCSP staple anew"},
		{"a staple by another clock", staple(probes.Staple{Status: probes.StapleGood, ThisUpdate: now.Add(4 * time.Minute)}), "pass", "", ""},
		{"our own root far", anchored(now, 60*day, 22*day), "pass", "", ""},
		{"our own root soon", anchored(now, 60*day, 20*day), "degraded", `the root certificate "Private Root", an authority of tls.ca_file that the server's own is signed with, expires in 20 days`, "Put the newer one into tls.ca_file"},
		{"our own root at once", anchored(now, 60*day, day), "degraded", `the root certificate "Private Root"`, "Renewing the server's own under the same one changes nothing"},
		{"our own root after the leaf", anchored(now, 5*day, 6*day), "fail", `the certificate "api.example"`, "renew the certificate before"},
		{"the worse of two", both, "fail", "expires in 5 days", "renew"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, kind := range []probes.Kind{probes.KindHTTP, probes.KindGRPC, probes.KindTLS} {
				in := httpInput(probes.ReasonOK)
				in.Spec.Kind, in.Observations[0].Kind = kind, kind
				in.Observations[0].Attempts[0].TLS = tt.facts
				o := judgeOne(t, in, 0)
				if o.Verdict != tt.verdict || !strings.Contains(o.Message, tt.says) || !strings.Contains(strings.Join(o.Advice, "\n"), tt.advises) {
					t.Errorf("%s: %s: %s\n%s", kind, o.Verdict, o.Message, strings.Join(o.Advice, "\n"))
				}
				if o.Verdict != probes.VerdictPass && (o.Diagnosis != probes.DiagnosisCertificate || o.Family != probes.FamilyCertificate) {
					t.Errorf("%s: %s %s", kind, o.Diagnosis, o.Family)
				}
			}
			rung := rungAt(0, time.Second, probes.ReasonOK)
			rung.reuse(func(a *probes.Attempt) { a.TLS = tt.facts })
			if o := judgeOne(t, idleInput(time.Minute, rung), 0); o.Verdict != probes.VerdictPass {
				t.Errorf("an idle rung is %s, want pass", o.Verdict)
			}
		})
	}
}

// What verification refused is told with the certificate that it refused.
func TestAdviceOfRefusedCertificates(t *testing.T) {
	const expired = "TLS handshake: tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-11-30T12:00:00Z is after 2026-11-29T12:00:00Z"
	now := httpInput(probes.ReasonOK).Now
	tests := []struct {
		name, detail, want string
		facts              *probes.TLSFacts
	}{
		{"the leaf", expired, "renew the certificate: it has expired", ends(now, -time.Hour, time.Hour)},
		{"the intermediate", expired, `send the newer certificate of "Issuing CA" (by "Root")`, ends(now, time.Hour, -time.Hour)},
		{"the application's own root", expired, `Put the newer certificate of the authority "Private Root" into tls.ca_file`, deadRoot(now, true)},
		{"the system's root", expired, "Update the system's store of authorities", deadRoot(now, false)},
		{"revoked", "TLS handshake: its certificate is revoked (since 2026-11-01, its OCSP staple says)", "replace it and its key", ends(now, 60*time.Hour, 900*time.Hour)},
	}
	for _, tt := range tests {
		in := httpInput(probes.ReasonCertificate)
		a := &in.Observations[0].Attempts[0]
		a.Detail, a.TLS = tt.detail, tt.facts
		o := judgeOne(t, in, 0)
		if advice := strings.Join(o.Advice, "\n"); o.Verdict != probes.VerdictFail || !strings.Contains(advice, tt.want) {
			t.Errorf("%s: %s:\n%s", tt.name, o.Verdict, advice)
		}
	}
}
