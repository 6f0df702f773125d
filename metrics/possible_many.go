package metrics

import "perch.example/probes"

// withReuse adds what a probe that uses its connections again can produce: many requests
// on one of them, or bursts through a pool.
func withReuse(s probes.Spec, fresh []probes.Reason, p possible) possible {
	if s.Burst == nil && (s.Kind != probes.KindHTTP || s.Requests < 2) {
		return p
	}
	p.connections = append(p.connections,
		onConnection{probes.ConnectionReused, reusedReasons(s)}, onConnection{probes.ConnectionControl, fresh})
	p.diagnoses = append(p.diagnoses,
		probes.DiagnosisUndeclaredClose, probes.DiagnosisStaleConnection, probes.DiagnosisStalled, probes.DiagnosisSilentDrop)
	if s.Burst != nil {
		p.diagnoses = append(p.diagnoses, probes.DiagnosisNoKeepAlive, probes.DiagnosisEarlyClose, probes.DiagnosisMassClose)
	}
	p.retries = []probes.RetryResult{probes.RetryRecovered, probes.RetryFailed}
	return p
}
