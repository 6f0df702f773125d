package metrics

import (
	"slices"

	"perch.example/probes"
)

// mayBeH2 reports whether a probe's connections can speak HTTP/2.
func mayBeH2(s probes.Spec) bool {
	switch s.Speaks() {
	case probes.ProtocolH2, probes.ProtocolH2C:
		return true
	case probes.ProtocolAuto:
		return secure(s)
	default:
		return false
	}
}

// mayBeHTTP1 reports whether a probe's connections can speak HTTP/1.1.
func mayBeHTTP1(s probes.Spec) bool {
	p := s.Speaks()
	return p != probes.ProtocolH2 && p != probes.ProtocolH2C
}

// streamReasons are the ends of an exchange that only HTTP/2's frames tell.
func streamReasons(s probes.Spec) []probes.Reason {
	if !mayBeH2(s) {
		return nil
	}
	return []probes.Reason{
		probes.ReasonGoawayUnprocessed, probes.ReasonRefusedStream, probes.ReasonGoawayProcessed, probes.ReasonStreamReset,
	}
}

// reusedReasons are the ends of an exchange on a connection that was held.
func reusedReasons(s probes.Spec) []probes.Reason {
	all := append(exchangeReasons(), streamReasons(s)...)
	all = append(all, probes.ReasonIdleFIN, probes.ReasonIdleRST)
	if mayBeHTTP1(s) {
		all = append(all, probes.ReasonIdleBytes)
	}
	if mayBeH2(s) {
		all = append(all, probes.ReasonIdleGoaway)
	}
	if secure(s) {
		all = append(all, probes.ReasonIdleCloseNotify)
	}
	return all
}

// gapReasons are the reasons for which a retry policy can have a gap: a policy
// is the target's, so they are those of every kind of probe, as far as the
// probe's protocol can end so and something could then be sent again.
func gapReasons(s probes.Spec) []probes.Reason {
	all := append(freshReasons(true, true), reusedReasons(s)...)
	all = append(all, probes.ReasonIdleCloseNotify)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(r probes.Reason) bool {
		return r.Resend() == "" || r.Resend() == probes.ResendNo
	})
}
