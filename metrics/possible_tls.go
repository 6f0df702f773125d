package metrics

import (
	"slices"

	"perch.example/probes"
)

// possibleForHandshake is of kind tls, which asks nothing: nothing of an answer can
// be wrong.
func possibleForHandshake(s probes.Spec, name bool) possible {
	without := func(unwanted []probes.Reason) []probes.Reason {
		return slices.DeleteFunc(freshReasons(true, name), func(r probes.Reason) bool { return slices.Contains(unwanted, r) })
	}
	answers := slices.DeleteFunc(exchangeReasons(), func(r probes.Reason) bool {
		switch r {
		case probes.ReasonCanceled, probes.ReasonInternal, probes.ReasonSlow, probes.ReasonExpectation, probes.ReasonOK:
			return true
		default:
			return false
		}
	})
	p := possible{
		connections: []onConnection{{probes.ConnectionFresh, withWay(s, without(answers))}},
		phases:      slices.DeleteFunc(phases(true, name), func(p string) bool { return p == phaseWait || p == phaseTransfer }),
		retries:     retriesOf(s),
		diagnoses: []probes.Diagnosis{
			probes.DiagnosisOwnPod, probes.DiagnosisUnreachable, probes.DiagnosisContract, probes.DiagnosisSlow, probes.DiagnosisCertificate,
		},
	}
	if s.Retry.Attempts > 1 {
		p.diagnoses = append(p.diagnoses, probes.DiagnosisUnstable)
	}
	return p
}
