package diagnose

import (
	"slices"

	"perch.example/probes"
)

// row is a line of the table of fresh exchanges: what it comes to when a
// second try worked, and when it was not made or failed too.
type row struct {
	reasons         []probes.Reason
	recovers        bool // perch tries again, and a second try that works makes it degraded
	answer          bool // a whole answer: it means the same on a reused connection
	again, diagnose probes.Diagnosis
	family          probes.Family
	why             string
}

// freshRows are about every exchange on a fresh connection: http, each warm-up,
// each control, and what a reused connection answered that has nothing to do
// with its being reused.
func freshRows() []row {
	return []row{
		{
			reasons: []probes.Reason{
				probes.ReasonDNS, probes.ReasonRefused, probes.ReasonConnectTimeout,
				probes.ReasonConnectFailed, probes.ReasonProxy, probes.ReasonTLS,
			},
			recovers: true, again: probes.DiagnosisUnstable, diagnose: probes.DiagnosisUnreachable,
			family: probes.FamilyReachability, why: "No connection could be made.",
		},
		{
			reasons:  []probes.Reason{probes.ReasonCertificate},
			diagnose: probes.DiagnosisCertificate, family: probes.FamilyCertificate,
			why: "The certificate could not be verified.",
		},
		{
			reasons: []probes.Reason{
				probes.ReasonEOF, probes.ReasonCrossedClose, probes.ReasonReset, probes.ReasonBlackhole,
				probes.ReasonNoResponse, probes.ReasonPartialHead, probes.ReasonPartialBody,
				probes.ReasonBadResponse, probes.ReasonGoawayProcessed, probes.ReasonGoawayUnprocessed,
				probes.ReasonRefusedStream, probes.ReasonStreamReset, probes.ReasonUnavailable,
			},
			recovers: true, again: probes.DiagnosisUnstable, diagnose: probes.DiagnosisServiceDown,
			family: probes.FamilyReachability, why: "A new connection was made and no whole answer came.",
		},
		{
			reasons:  []probes.Reason{probes.ReasonProxyUpstreamReset},
			recovers: true, again: probes.DiagnosisProxyStale, diagnose: probes.DiagnosisProxyStale,
			family: probes.FamilyConnection, why: "A proxy used a dead connection of its own.",
		},
		{
			reasons:  []probes.Reason{probes.ReasonRateLimited},
			recovers: true, answer: true, again: probes.DiagnosisRateLimited, diagnose: probes.DiagnosisRateLimited,
			family: probes.FamilyLimits, why: "The API says that it is called too often.",
		},
		{
			reasons:  []probes.Reason{probes.ReasonUnauthorized},
			answer:   true,
			diagnose: probes.DiagnosisUnauthorized, family: probes.FamilyAuthorization,
			why: "The credentials were refused.",
		},
		{
			reasons: []probes.Reason{
				probes.ReasonRedirected, probes.ReasonStatus, probes.ReasonTooLarge, probes.ReasonExpectation,
			},
			answer: true, diagnose: probes.DiagnosisContract, family: probes.FamilyContract,
			why: "A whole answer that is not the expected one.",
		},
		{
			reasons:  []probes.Reason{probes.ReasonSlow},
			answer:   true,
			diagnose: probes.DiagnosisSlow, family: probes.FamilyLatency,
			why: "As expected, but too late.",
		},
	}
}

// triedAgain reports whether perch tries again after a reason on a fresh
// connection; for the others a second answer would be the same.
func triedAgain(r probes.Reason) bool {
	return slices.ContainsFunc(freshRows(), func(w row) bool {
		return w.recovers && slices.Contains(w.reasons, r)
	})
}

// freshRules spell the rows out. On a reused connection only whole answers are
// judged here; rungRules have taken the rest.
func freshRules() []Rule {
	fresh := []probes.Connection{probes.ConnectionFresh, probes.ConnectionControl}
	rules := append(certificateRules(), Rule{
		Table: TableFresh, Connections: fresh, Reasons: []probes.Reason{probes.ReasonOK},
		Verdict: probes.VerdictPass, Why: "A whole answer, as expected.",
	})
	rules = append(rules, Rule{
		Table: TableFresh, Connections: fresh, Causes: []Cause{CauseProtocol},
		Reasons: []probes.Reason{probes.ReasonTLS, probes.ReasonBadResponse, probes.ReasonStreamReset},
		Again:   []Again{AgainNotTried, AgainFailed},
		Verdict: probes.VerdictFail, Diagnosis: probes.DiagnosisContract, Family: probes.FamilyContract,
		Why: "It is there, and does not speak what was agreed: `protocol` says what the probe speaks.",
	})
	for _, w := range freshRows() {
		on := fresh
		if w.answer {
			on = append(slices.Clone(fresh), probes.ConnectionReused)
		}
		failed := Rule{
			Table: TableFresh, Connections: on, Reasons: w.reasons,
			Again:   []Again{AgainNotTried, AgainFailed},
			Verdict: probes.VerdictFail, Diagnosis: w.diagnose, Family: w.family, Why: w.why,
		}
		if !w.recovers {
			failed.Again = []Again{AgainNotTried}
			rules = append(rules, failed)
			continue
		}
		recovered := failed
		recovered.Again = []Again{AgainOK}
		recovered.Verdict, recovered.Diagnosis = probes.VerdictDegraded, w.again
		rules = append(rules, recovered, failed)
	}
	return rules
}

// certificateRules warn before a certificate ends. Idle rungs are not touched.
func certificateRules() []Rule {
	soon := Rule{
		Table: TableFresh, Kinds: []probes.Kind{probes.KindHTTP, probes.KindBurst, probes.KindGRPC, probes.KindTLS},
		Connections: []probes.Connection{probes.ConnectionFresh},
		Reasons:     []probes.Reason{probes.ReasonOK}, Expiry: []Expiry{ExpirySoon},
		Verdict: probes.VerdictDegraded, Diagnosis: probes.DiagnosisCertificate, Family: probes.FamilyCertificate,
		Why: "A certificate that the chain needs (the server's own, or one that it is signed with) expires within 21 days.",
	}
	imminent, staple, anchor := soon, soon, soon
	imminent.Expiry, imminent.Verdict = []Expiry{ExpiryImminent}, probes.VerdictFail
	imminent.Why = "One of them expires within 7 days."
	staple.Expiry = []Expiry{ExpiryStaple}
	staple.Why = "Its OCSP staple has expired, cannot be read, does not know it, or is missing though it asks for one."
	anchor.Expiry = []Expiry{ExpiryAnchor}
	anchor.Why = "The authority of `tls.ca_file` that the chain ends in expires within 21 days: many clients then refuse all that it signed, and some do not."
	return []Rule{imminent, soon, anchor, staple}
}
