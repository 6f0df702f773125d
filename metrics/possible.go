package metrics

import (
	"net/netip"
	"slices"
	"strconv"
	"time"

	"perch.example/probes"
)

// possible is what a probe can produce by its kind and its protocol.
type possible struct {
	connections []onConnection
	phases      []string
	retries     []probes.RetryResult
	holds       []string // values of hold_seconds
	diagnoses   []probes.Diagnosis
	gaps        []probes.Reason // for which a retry policy can have a gap
}

// onConnection lists the reasons that an attempt on one kind of connection can
// end in.
type onConnection struct {
	on      probes.Connection
	reasons []probes.Reason
}

// searchHold labels a hold that does not follow from the config: a rung inside
// the bracket or the danger band that was measured, or a search. Its lengths
// depend on what was measured, so they would be new series again and again.
const searchHold = "search"

func possibleFor(s probes.Spec) possible {
	tls, name := secure(s), named(s)
	if s.Kind == probes.KindTLS {
		return possibleForHandshake(s, name)
	}
	fresh := withWay(s, append(freshReasons(tls, name), streamReasons(s)...))
	p := possible{
		phases:    phases(tls, name),
		retries:   retriesOf(s),
		diagnoses: diagnoses(s, tls),
	}
	if s.Kind != probes.KindIdle {
		p.connections = []onConnection{{probes.ConnectionFresh, fresh}}
		return withReuse(s, fresh, p)
	}
	p.connections = []onConnection{
		{probes.ConnectionFresh, append(slices.Clone(fresh), probes.ReasonNoKeepAlive)},
		{probes.ConnectionReused, reusedReasons(s)},
		{probes.ConnectionControl, fresh},
	}
	p.holds = holdsOf(s)
	return p
}

// secure reports whether the probe speaks TLS.
func secure(s probes.Spec) bool { return s.URL != nil && s.URL.Scheme == "https" }

// named reports whether the probe's host is a name, which must be resolved.
func named(s probes.Spec) bool {
	if s.URL == nil {
		return true
	}
	_, err := netip.ParseAddr(s.URL.Hostname())
	return err != nil
}

// exchangeReasons are the ends of an exchange on an open connection, whatever it
// speaks.
// `skipped` is none of them: what was not tried is no attempt.
func exchangeReasons() []probes.Reason {
	return []probes.Reason{
		probes.ReasonCanceled, probes.ReasonInternal,
		probes.ReasonBlackhole, probes.ReasonCrossedClose, probes.ReasonEOF, probes.ReasonReset, probes.ReasonNoResponse,
		probes.ReasonPartialHead, probes.ReasonPartialBody, probes.ReasonBadResponse, probes.ReasonTooLarge,
		probes.ReasonProxyUpstreamReset,
		probes.ReasonRateLimited, probes.ReasonUnavailable, probes.ReasonUnauthorized, probes.ReasonRedirected,
		probes.ReasonStatus, probes.ReasonSlow, probes.ReasonExpectation, probes.ReasonOK,
	}
}

func freshReasons(tls, name bool) []probes.Reason {
	all := append(exchangeReasons(), probes.ReasonRefused, probes.ReasonConnectTimeout, probes.ReasonConnectFailed)
	if name {
		all = append(all, probes.ReasonDNS)
	}
	if tls {
		all = append(all, probes.ReasonCertificate, probes.ReasonTLS)
	}
	return all
}

func phases(tls, name bool) []string {
	all := []string{phaseConnect, phaseWait, phaseTransfer}
	if name {
		all = append(all, phaseDNS)
	}
	if tls {
		all = append(all, phaseTLS)
	}
	return all
}

// retriesOf: a probe without a second try retries nothing; an idle probe's
// control is one. Only a method that may change something is unsafe.
func retriesOf(s probes.Spec) []probes.RetryResult {
	if s.Kind != probes.KindIdle && s.Retry.Attempts < 2 {
		return nil
	}
	all := []probes.RetryResult{probes.RetryRecovered, probes.RetryFailed}
	if s.GRPC != nil { // its POST is declared read-only
		return all
	}
	switch s.Method {
	case "", "GET", "HEAD", "OPTIONS":
		return all
	}
	return append(all, probes.RetryUnsafe)
}

func diagnoses(s probes.Spec, tls bool) []probes.Diagnosis {
	all := []probes.Diagnosis{
		probes.DiagnosisOwnPod, probes.DiagnosisUnreachable, probes.DiagnosisServiceDown, probes.DiagnosisProxyStale,
		probes.DiagnosisRateLimited, probes.DiagnosisUnauthorized, probes.DiagnosisContract, probes.DiagnosisSlow,
	}
	if tls {
		all = append(all, probes.DiagnosisCertificate)
	}
	if idles(s) || s.Retry.Attempts > 1 {
		all = append(all, probes.DiagnosisUnstable)
	}
	if s.Kind != probes.KindIdle {
		return all
	}
	return append(all,
		probes.DiagnosisNoKeepAlive, probes.DiagnosisUndeclaredClose, probes.DiagnosisEarlyClose,
		probes.DiagnosisStaleConnection, probes.DiagnosisStalled, probes.DiagnosisSilentDrop, probes.DiagnosisMassClose,
		probes.DiagnosisBoundChanged)
}

func holdsOf(s probes.Spec) []string {
	var all []string
	if !s.Search {
		for _, h := range fixedHolds(s) {
			if label := holdLabel(s, h); !slices.Contains(all, label) {
				all = append(all, label)
			}
		}
	}
	if measures(s) {
		all = append(all, searchHold)
	}
	return all
}

// fixedHolds are those that follow from the config: its own, else the rungs of
// the ladder that the plan makes of it.
func fixedHolds(s probes.Spec) []time.Duration {
	if len(s.Holds) > 0 {
		return s.Holds
	}
	return s.Rungs
}

// measures reports whether a probe may hold for as long as a measurement says:
// made ladders do, whose rungs follow a danger band, and look for an end that
// nobody saw.
func measures(s probes.Spec) bool { return s.Search || len(s.Holds) == 0 }

// holdLabel returns the value of hold_seconds for a hold: in seconds where it
// follows from the config ("59", "0.5"), else "search".
func holdLabel(s probes.Spec, hold time.Duration) string {
	if s.Search || !slices.Contains(fixedHolds(s), hold) {
		return searchHold
	}
	return strconv.FormatFloat(hold.Seconds(), 'f', -1, 64)
}

// families are those in which a target's incident can open: perch's own
// troubles open none.
func families(t probes.Target) []probes.Family {
	all := []probes.Family{
		probes.FamilyReachability, probes.FamilyConnection, probes.FamilyLimits,
		probes.FamilyAuthorization, probes.FamilyContract, probes.FamilyLatency,
	}
	if slices.ContainsFunc(t.Probes, secure) {
		all = append(all, probes.FamilyCertificate)
	}
	return all
}

// runVerdicts are the verdicts of a run; a run is never skipped.
func runVerdicts() []probes.Verdict {
	return []probes.Verdict{probes.VerdictPass, probes.VerdictDegraded, probes.VerdictFail, probes.VerdictIncomplete}
}

// The closed sets of labels that probes does not name.
const (
	phaseDNS      = "dns"
	phaseConnect  = "connect"
	phaseTLS      = "tls"
	phaseWait     = "wait"
	phaseTransfer = "transfer"

	holdSurvived = "survived" // a whole answer came
	holdClosed   = "closed"   // the other side had ended it, or did
	holdDied     = "died"     // neither: silence, or half an answer

	noticeDelivered = "delivered"
	noticeFailed    = "failed"

	boundFrom = "from"
	boundTo   = "to"
)

func holdResults() []string { return []string{holdSurvived, holdClosed, holdDied} }

func noticeResults() []string { return []string{noticeDelivered, noticeFailed} }
