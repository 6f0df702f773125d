package metrics

import "perch.example/probes"

// withLimit adds what a probe of many requests on one connection can produce.
func withLimit(s probes.Spec, fresh []probes.Reason, p possible) possible {
	if s.Kind != probes.KindHTTP || s.Requests < 2 {
		return p
	}
	p.connections = append(p.connections,
		onConnection{probes.ConnectionReused, reusedReasons(s)}, onConnection{probes.ConnectionControl, fresh})
	p.diagnoses = append(p.diagnoses,
		probes.DiagnosisUndeclaredClose, probes.DiagnosisStaleConnection, probes.DiagnosisStalled, probes.DiagnosisSilentDrop)
	p.retries = []probes.RetryResult{probes.RetryRecovered, probes.RetryFailed}
	return p
}
