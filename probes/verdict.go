package probes

import "slices"

// Verdict is the judgement on one outcome or on a run. The zero value is not a
// verdict and never counts as a pass.
type Verdict string

// The verdicts.
const (
	VerdictPass       Verdict = "pass"
	VerdictDegraded   Verdict = "degraded" // served, but only by luck or a retry
	VerdictFail       Verdict = "fail"
	VerdictSkipped    Verdict = "skipped"    // nothing to judge
	VerdictIncomplete Verdict = "incomplete" // perch could not judge
)

// Verdicts returns the closed set.
func Verdicts() []Verdict {
	return []Verdict{VerdictPass, VerdictDegraded, VerdictFail, VerdictSkipped, VerdictIncomplete}
}

// Diagnosis is what the attempts of an outcome mean together: a closed set.
type Diagnosis string

// The diagnoses. Empty when nothing is wrong.
const (
	DiagnosisOwnPod          Diagnosis = "own_pod"
	DiagnosisUnstable        Diagnosis = "unstable"
	DiagnosisUnreachable     Diagnosis = "unreachable"
	DiagnosisCertificate     Diagnosis = "certificate"
	DiagnosisServiceDown     Diagnosis = "service_down"
	DiagnosisProxyStale      Diagnosis = "proxy_stale"
	DiagnosisRateLimited     Diagnosis = "rate_limited"
	DiagnosisUnauthorized    Diagnosis = "unauthorized"
	DiagnosisContract        Diagnosis = "contract"
	DiagnosisSlow            Diagnosis = "slow"
	DiagnosisNoKeepAlive     Diagnosis = "no_keep_alive"
	DiagnosisUndeclaredClose Diagnosis = "undeclared_close"
	DiagnosisEarlyClose      Diagnosis = "early_close"
	DiagnosisStaleConnection Diagnosis = "stale_connection"
	DiagnosisStalled         Diagnosis = "stalled"
	DiagnosisSilentDrop      Diagnosis = "silent_drop"
	DiagnosisMassClose       Diagnosis = "mass_close"
	DiagnosisBoundChanged    Diagnosis = "bound_changed"
)

// Diagnoses returns the closed set.
func Diagnoses() []Diagnosis {
	return []Diagnosis{
		DiagnosisOwnPod, DiagnosisUnstable, DiagnosisUnreachable, DiagnosisCertificate,
		DiagnosisServiceDown, DiagnosisProxyStale, DiagnosisRateLimited, DiagnosisUnauthorized,
		DiagnosisContract, DiagnosisSlow, DiagnosisNoKeepAlive, DiagnosisUndeclaredClose,
		DiagnosisEarlyClose, DiagnosisStaleConnection, DiagnosisStalled, DiagnosisSilentDrop,
		DiagnosisMassClose, DiagnosisBoundChanged,
	}
}

// CanFail reports whether an outcome with this diagnosis can be a fail: the
// others are never more than degraded, and never fire.
func (d Diagnosis) CanFail() bool {
	switch d {
	case "", DiagnosisOwnPod, DiagnosisUnstable, DiagnosisNoKeepAlive, DiagnosisMassClose, DiagnosisBoundChanged:
		return false
	default:
		return slices.Contains(Diagnoses(), d)
	}
}

// OnlyIdle reports whether only a connection that idled can fail with it: a rung of kind
// idle, or a reused call of kind burst.
func (d Diagnosis) OnlyIdle() bool {
	switch d {
	case DiagnosisUndeclaredClose, DiagnosisEarlyClose, DiagnosisStaleConnection, DiagnosisStalled, DiagnosisSilentDrop:
		return true
	default:
		return false
	}
}

// AtIdleAge reports whether it can be the finding of a held connection, which
// has an idle age.
func (d Diagnosis) AtIdleAge() bool { return d.OnlyIdle() || d == DiagnosisProxyStale }

// Family groups diagnoses that are one incident for the people on call.
type Family string

// The families. Empty when the verdict is a pass.
const (
	FamilyReachability  Family = "reachability"
	FamilyCertificate   Family = "certificate"
	FamilyConnection    Family = "connection"
	FamilyLimits        Family = "limits"
	FamilyAuthorization Family = "authorization"
	FamilyContract      Family = "contract"
	FamilyLatency       Family = "latency"
	FamilyOwn           Family = "own"
)

// Families returns the closed set.
func Families() []Family {
	return []Family{
		FamilyReachability, FamilyCertificate, FamilyConnection, FamilyLimits,
		FamilyAuthorization, FamilyContract, FamilyLatency, FamilyOwn,
	}
}
