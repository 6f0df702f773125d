package diagnose

import (
	"slices"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// clientView is the declared client looking at one rung. A nil view is a
// client that was not declared; its methods say so.
type clientView struct {
	decl probes.Client
	name string
	band *probes.Band
	// bandKnown: no band means that there is none.
	bandKnown bool
	idle      time.Duration // idle age of the reuse; 0: a fresh connection
	text      string        // what it experiences
	result    clients.Result
	cover     probes.RetryCover
	entry     string // what its retry list would have to hold
}

// overH2 is what an attempt's Proto says of HTTP/2.
const overH2 = "HTTP/2.0"

func newClientView(j *judgement) *clientView {
	decl := j.l.in.Spec.Client
	if decl == nil {
		return nil
	}
	known := *decl
	known.HTTP2 = j.overH2()
	decl = &known
	v := &clientView{decl: known, name: decl.Kind, result: clients.Noticed}
	if c, ok := clients.Lookup(decl.Kind); ok {
		v.name = c.Name
	}
	switch {
	case j.l.in.Spec.GRPC != nil: // the catalog's clients are HTTP's
		v.name = "the gRPC channel"
	case held(j.rung.obs.Kind):
		v.bandKnown = clients.BandKnown(*decl, j.l.path())
		v.band = clients.BandOn(*decl, j.l.path())
	}
	if j.at == nil || answered(j.at) {
		return v
	}
	if j.reused() {
		v.idle = j.rung.reuseAge()
	}
	if j.grpcStatus() {
		v.text, v.result, v.cover = "gets the gRPC status "+j.at.GRPC.Name, clients.Failed, probes.CoverUnknown
		if j.at.GRPC.Code == 0 { // a health check that does not serve is an answer like any other
			v.text, v.result = "", clients.Unknown
		}
		return v
	}
	if !j.knows(decl.Kind) {
		v.result, v.cover = clients.Unknown, probes.CoverUnknown
		return v
	}
	text, result, cover := clients.Experience(*decl, j.at.Reason, j.method(), v.idle)
	v.text = j.named(text)
	v.result, v.cover = result, cover
	v.entry = clients.RetryEntry(*decl, j.at.Reason, j.method(), v.idle)
	return v
}

// overH2 reports whether the application speaks HTTP/2 here: as the deciding attempt
// did; where that had no connection, as the probe's other attempts did, or has to by its
// config.
func (j *judgement) overH2() bool {
	if j.at != nil && j.at.Proto != "" {
		return j.at.Proto == overH2
	}
	spec := j.l.in.Spec
	switch spec.Speaks() {
	case probes.ProtocolH2, probes.ProtocolH2C:
		return true
	case probes.ProtocolAuto:
		return slices.ContainsFunc(j.l.in.Observations, func(o probes.Observation) bool {
			return slices.ContainsFunc(o.Attempts, func(a probes.Attempt) bool { return a.Proto == overH2 })
		})
	default:
		return false
	}
}

// path is what the ladder says of how idle connections end. The earliest end
// counts: servers that look at a tick end later by chance.
func (l *ladder) path() clients.Path {
	if l.ending == nil {
		p := l.pathOf()
		l.ending = &p
	}
	return *l.ending
}

func (l *ladder) pathOf() clients.Path {
	p := clients.Path{Timeout: l.idle.Died, Advertised: l.idle.Advertised, Silent: l.idle.How == probes.HowSilent, Packets: packetsOf(l.in.Spec)}
	if len(l.ends) > 0 {
		p.Timeout = l.earliest(l.ends[0])
		p.Spread = l.ends[len(l.ends)-1] - p.Timeout
	}
	for _, r := range l.rungs {
		if r.reuse != nil {
			p.Margin = max(p.Margin, r.reuse.RoundTrip())
			p.HTTP2 = p.HTTP2 || r.reuse.Proto == overH2
		}
	}
	for _, r := range l.rungs {
		if c := r.obs.Close; c != nil && c.Age == p.Timeout {
			p.Margin += c.Resolution
			break
		}
	}
	p.End = usualEnd(l.idle.How)
	died := l.shortestDied()
	if len(l.ends) > 0 || died == nil || died.obs.Close != nil {
		return p
	}
	p.Unseen = true
	if l.idle.Survived < p.Timeout {
		p.Survived = l.idle.Survived
	}
	if slices.Contains(unseenEnds(), died.reuse.Reason) {
		p.End = died.reuse.Reason
	}
	return p
}

// unseenEnds are what a request meets whose connection nobody saw end while it
// was idle: no client sees more.
func unseenEnds() []probes.Reason {
	return []probes.Reason{
		probes.ReasonCrossedClose, probes.ReasonEOF, probes.ReasonReset, probes.ReasonBlackhole, probes.ReasonNoResponse,
	}
}

// usualEnd is what a reuse shows after a close of that kind.
func usualEnd(how probes.HowClosed) probes.Reason {
	switch how {
	case probes.HowRST:
		return probes.ReasonIdleRST
	case probes.HowBytes:
		return probes.ReasonIdleBytes
	case probes.HowCloseNotify:
		return probes.ReasonIdleCloseNotify
	case probes.HowGoaway:
		return probes.ReasonIdleGoaway
	case probes.HowSilent:
		return probes.ReasonBlackhole
	default:
		return probes.ReasonIdleFIN
	}
}

// earliest is the least idle age of a close of that timeout: one that was seen
// counts without a control as well.
func (l *ladder) earliest(timeout time.Duration) time.Duration {
	first := timeout
	for _, i := range l.closed {
		r := l.rungs[i]
		c := r.obs.Close
		if r.instant() || l.notIdle(i) || l.outlived(i) || l.massClosed(i) {
			continue
		}
		if c.Age < first && timeout-c.Age <= l.tol(timeout) {
			first = c.Age
		}
	}
	return first
}

// verdict is what the client makes of the rung where that is worse than the
// table's verdict; else empty. Only closes that follow idle age count, inside
// of the client's danger band.
func (v *clientView) verdict(j *judgement) probes.Verdict {
	if v == nil || !j.reused() || j.facts.Cause != CauseUnsaid || !slices.Contains(ended(), j.facts.Reason) || !clients.Holds(v.band, v.idle) {
		return ""
	}
	if d := j.rule.Diagnosis; d != probes.DiagnosisEarlyClose && d != probes.DiagnosisStaleConnection {
		return ""
	}
	hidden := v.result == clients.Retried || v.cover == probes.CoverCovered || v.cover == probes.CoverUnsafe
	switch {
	case v.result == clients.Noticed || v.result == clients.Unknown:
		return ""
	case hidden && j.rule.Verdict == probes.VerdictPass:
		return probes.VerdictDegraded
	case hidden:
		return ""
	}
	return probes.VerdictFail
}

// application says whether the application's policy covers the failure.
func (v *clientView) application(j *judgement) probes.RetryCover {
	switch {
	case j.at == nil || !repeatable(j.at.Reason):
		return ""
	case v == nil:
		return probes.CoverUnknown
	}
	return v.cover
}

// hides reports whether the client itself would have sent the request again.
func (v *clientView) hides() bool { return v != nil && v.result == clients.Retried }

// beside says what the application's retry layer sees where its list holds
// only what stands on the other side of the wrapper.
func (v *clientView) beside(j *judgement) string {
	if v == nil || j.at == nil || !repeatable(j.at.Reason) || j.grpcStatus() {
		return ""
	}
	return clients.Beside(v.decl, j.at.Reason, j.method(), v.idle)
}

func (v *clientView) outcome() *probes.ClientOutcome {
	if v == nil {
		return nil
	}
	o := &probes.ClientOutcome{Kind: v.decl.Kind, Experiences: v.text, Band: v.band, Settings: v.decl.Settings()}
	if v.text != "" {
		o.Result = v.result.Outcome()
	}
	return o
}

// gaps are the declared policy's. The catalog's clients are HTTP's, not gRPC's.
func (j *judgement) gaps() []probes.RetryGap {
	if j.client == nil || j.l.in.Spec.GRPC != nil {
		return nil
	}
	return clients.Gaps(j.client.decl)
}

// repeatable reports whether sending again after a reason can help at all.
func repeatable(r probes.Reason) bool {
	return r.Resend() != "" && r.Resend() != probes.ResendNo
}

// host is the host of the probe's URL, as errors name it.
func (j *judgement) host() string {
	if j.l.in.Spec.URL == nil {
		return "the host"
	}
	return j.l.in.Spec.URL.Host
}
