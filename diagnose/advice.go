package diagnose

import (
	"fmt"
	"slices"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// advice says what a reader should do, by diagnosis, with the numbers that it
// follows from: the steps in their order, each with its alternative, what is
// for another team after them, what to beware of last.
func (j *judgement) advice() []string {
	steps := j.byDiagnosis()
	steps = slices.Insert(steps, min(1, len(steps)), j.pinnedAdvice()...)
	if slow := j.slowDown(); slow != "" {
		steps = slices.Insert(steps, 0, next(slow))
	}
	return numbered(steps)
}

// slowDown is for whoever was told to wait, whatever else is wrong.
func (j *judgement) slowDown() string {
	if j.rule.Diagnosis == probes.DiagnosisRateLimited {
		return "" // says it itself
	}
	for _, a := range j.rung.obs.Attempts {
		if a.RetryAfter > 0 {
			return fmt.Sprintf("send less, and wait the %s that the API asks for (Retry-After) before the next try, the application too: %s.",
				human(a.RetryAfter), j.share())
		}
	}
	return ""
}

func (j *judgement) byDiagnosis() []step {
	if steps := j.causeAdvice(); steps != nil {
		return steps
	}
	switch j.rule.Diagnosis {
	case probes.DiagnosisEarlyClose, probes.DiagnosisStaleConnection:
		if j.rung.obs.Unused {
			return j.unusedAdvice()
		}
		return j.poolAdvice()
	case probes.DiagnosisSilentDrop:
		return j.silentAdvice()
	case probes.DiagnosisUndeclaredClose:
		return []step{
			next("limit how often or how long a connection is reused. Lowering the idle limit does not help, since idleness is not the cause."),
			next("For the API's owner: " + j.shouldHaveSaid() + "."),
		}
	case probes.DiagnosisStalled:
		return []step{
			next(fmt.Sprintf("set a response timeout%s: the idle connection took the request and stayed silent for %s.",
				j.setting(func(s clients.Settings) string { return s.Timeout }, 0), human(j.at.Elapsed))),
			next("repeat only what is idempotent: the request was taken and may still be running."),
		}
	case probes.DiagnosisProxyStale:
		return []step{next("lower the proxy's own idle timeout towards the API below the API's: the dead connection is the proxy's, not the application's." + j.meshHint())}
	case probes.DiagnosisMassClose:
		return []step{next("nothing: several connections were closed at one moment at different ages, as a reload, a deploy or a drain does.")}
	case probes.DiagnosisBoundChanged:
		return j.changeAdvice()
	case probes.DiagnosisNoKeepAlive:
		return []step{next(j.noKeepAliveAdvice())}
	default:
		return j.otherAdvice()
	}
}

// shouldHaveSaid is how a server announces that a connection ends.
func (j *judgement) shouldHaveSaid() string {
	if j.at.Proto == overH2 {
		return "a GOAWAY should have come before, which says what of the requests was served"
	}
	return "the answer before should have said Connection: close"
}

// otherAdvice is about what has nothing to do with idle connections.
func (j *judgement) otherAdvice() []step {
	switch j.rule.Diagnosis {
	case probes.DiagnosisServiceDown, probes.DiagnosisUnreachable, probes.DiagnosisUnstable:
		return j.reachabilityAdvice()
	case probes.DiagnosisCertificate:
		return j.certificateAdvice()
	case probes.DiagnosisRateLimited:
		return []step{next("lower what the application sends, or perch's part (share, every): " + j.share() + ".")}
	case probes.DiagnosisUnauthorized:
		if j.tokenless() {
			return []step{next("ask whoever runs the token endpoint: an application that gets its tokens there gets none either. Where its answer names invalid_client, renew the client's id and secret.")}
		}
		return []step{next("renew the credentials that perch sends, and see whether the application's have expired too. A 403 may also come from a WAF in front of the API: its owner can tell.")}
	case probes.DiagnosisContract:
		return []step{next("compare the answer with the probe's expectations: the API answers, but not what was agreed.")}
	case probes.DiagnosisSlow:
		return []step{next("the time is the API's or the path's, not the pool's: the connection was made and answered. Compare the phases.")}
	case probes.DiagnosisOwnPod:
		return []step{next(j.ownPodAdvice())}
	default:
		return nil
	}
}

func (j *judgement) noKeepAliveAdvice() string {
	p := j.at.Phases
	cost := p.DNS + p.Connect + p.TLS
	if cost <= 0 {
		return "The API ends each connection with its answer: every call pays for a new one."
	}
	return fmt.Sprintf("The API ends each connection with its answer: every call pays %s for a new one (name %s, connect %s, TLS %s).",
		human(cost), human(p.DNS), human(p.Connect), human(p.TLS))
}

// reachabilityAdvice is about a fresh connection that failed as well. Where the
// API was not asked, its owner is not who can help first.
func (j *judgement) reachabilityAdvice() []step {
	const notPool = "it is not the connection pool: a fresh connection failed as well. "
	var advice []step
	if advice = j.protocolAdvice(); advice != nil {
		return advice
	}
	if advice = j.schemeAdvice(); advice != nil {
		return advice
	}
	switch {
	case j.reused() && j.facts.Kind == probes.KindHTTP:
		return []step{next("ask the API's owner: one request of many on a connection came to this, and a fresh connection worked. It is not the connection.")}
	case j.reused() && j.beside() != nil:
		return []step{next("ask the API's owner: one request came to this on a connection that was alive, and " + j.besideText() + ". It is neither the connection nor the pool.")}
	case j.at.Calmed() != "":
		return []step{next("send less: the peer says ENHANCE_YOUR_CALM, which is that it takes what it gets for too much (RFC 9113, 7). It is not the connection pool.")}
	}
	switch j.at.Reason {
	case probes.ReasonDNS:
		advice = []step{
			next("check the host's name in the URL, and whether the pod's own resolver knows it (" + j.hostName() + "; in a cluster: its DNS and search domains). Nothing was asked of the API."),
			next("For whoever runs the name's zone: see whether the record is there."),
		}
	case probes.ReasonProxy:
		advice = []step{next(j.notConnected())}
	case probes.ReasonConnectFailed:
		advice = []step{next("check the pod's own network (routes, network policies, a firewall that rejects): the connect met an error, and nothing was asked of the API.")}
	default:
		advice = []step{next(notPool + "Stop looking there, and ask the API's owner or whoever runs the path.")}
	}
	if j.rule.Diagnosis == probes.DiagnosisUnstable && j.client != nil {
		advice = append(advice, j.retryAdvice()...) // a second try works
	}
	return advice
}

// hostName is the name that has to be resolved, without its port.
func (j *judgement) hostName() string {
	if u := j.l.in.Spec.URL; u != nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return "the host"
}

// ownPodAdvice is about perch's own pod: what it had too little of.
func (j *judgement) ownPodAdvice() string {
	const nothing = " This run says nothing of the API, but the application's pod may have the same limit."
	switch {
	case !j.facts.Exhausted:
		return "Give perch's pod more CPU, or look at what starves its node: this run says nothing of the API."
	case j.at.Own.Exhausted == probes.ResourcePorts:
		return "Free local ports in perch's pod: fewer connections to one address (max_connections), or a wider net.ipv4.ip_local_port_range." + nothing
	}
	return "Let perch's pod open more files (the container's nofile limit), or hold fewer connections at once (max_connections)." + nothing
}
