package clients

import (
	"net/http"
	"slices"
	"time"

	"perch.example/probes"
)

// auditReasons are the reasons that an HTTP/1.1 client can meet, what ends idle
// connections first. Not among them: HTTP/2, what is perch's own, and whole
// answers that say nothing of the network.
func auditReasons() []probes.Reason {
	return []probes.Reason{
		probes.ReasonIdleFIN, probes.ReasonIdleCloseNotify, probes.ReasonCrossedClose, probes.ReasonEOF,
		probes.ReasonIdleRST, probes.ReasonReset, probes.ReasonPartialHead, probes.ReasonPartialBody, probes.ReasonBadResponse,
		probes.ReasonNoResponse, probes.ReasonBlackhole,
		probes.ReasonDNS, probes.ReasonRefused, probes.ReasonConnectTimeout, probes.ReasonConnectFailed, probes.ReasonProxy,
		probes.ReasonTLS, probes.ReasonCertificate,
		probes.ReasonIdleBytes, probes.ReasonRateLimited, probes.ReasonUnavailable, probes.ReasonProxyUpstreamReset,
	}
}

// Audit says what the declared client and its retry policy make of each reason,
// for each of the methods, and what the list misses. It judges at the worst
// idle age, at which the client does not look at a connection before it uses
// it, and over HTTP/2 where decl says so. What is missed is reckoned for the idempotent ones of the methods: to
// send another one again may execute it twice.
func Audit(decl probes.Client, methods []string) probes.Audit {
	client, known := Lookup(decl.Kind)
	a := probes.Audit{Client: decl, Name: client.Name}
	if !known {
		a.Name = decl.Kind
		return a
	}
	if w := lookupWrapper(decl.WrappedBy); w != nil {
		a.Wrapper = w.name
	}
	for _, method := range methods {
		a.Rows = append(a.Rows, auditRows(decl, method)...)
	}
	a.Missing, a.Answers = missing(decl, methods)
	a.Useless = useless(decl)
	a.Doubts = layerDoubts(decl)
	a.Notes = auditNotes(decl, a)
	return a
}

func auditRows(decl probes.Client, method string) []probes.AuditRow {
	var rows []probes.AuditRow
	for _, reason := range reasonsOver(decl.HTTP2) {
		rows = append(rows, auditRow(decl, reason, method))
	}
	return rows
}

func auditRow(decl probes.Client, reason probes.Reason, method string) probes.AuditRow {
	m := meet(decl, reason, method, 0)
	own := m
	own.wrapper = nil // what the wrapper makes of it is told apart
	row := probes.AuditRow{
		Reason: reason, Method: method, Transient: transient(reason),
		Answer: m.effect.Does == Returns, Experiences: own.text(), Wrapped: m.wrapped(), Entry: m.entry(),
		NoticedFrom: noticedFrom(decl, reason, method),
	}
	row.Result, row.By = m.audited(row.Transient)
	row.Counts = row.Result == probes.AuditMissed && row.Transient && !row.Answer && idempotent(method)
	return row
}

// transient reports whether a standard retry policy should cover it: it is a
// gap if it is not, or looks to the client like one that is, or nothing was
// sent since no connection came about.
func transient(reason probes.Reason) bool {
	event := eventOf(reason)
	if reason == probes.ReasonConnectFailed || ofFrames(reason) {
		return true
	}
	return slices.ContainsFunc(gapReasons(), func(gap probes.Reason) bool {
		return gap == reason || event != "" && eventOf(gap) == event
	})
}

// audited is what becomes of it, and who sends again.
func (m meeting) audited(transient bool) (probes.AuditResult, string) {
	switch m.result {
	case Noticed:
		return probes.AuditNoticed, ""
	case Unknown:
		return probes.AuditUnknown, ""
	case Retried, Failed:
	}
	switch m.cover() {
	case probes.CoverCovered:
		return probes.AuditRetried, m.by()
	case probes.CoverUnsafe:
		if m.event == RateLimited {
			return probes.AuditRetried, m.by() // the API refused it: nothing was executed
		}
		return probes.AuditUnsafe, m.by()
	case probes.CoverUncovered:
	case probes.CoverUnknown:
		return probes.AuditUnknown, ""
	}
	if transient && (idempotent(m.method) || m.reason.Resend() == probes.ResendSafe) {
		return probes.AuditMissed, ""
	}
	return probes.AuditLeft, ""
}

// by names who sends again: the client, or the first entry that says so.
func (m meeting) by() string {
	if m.result == Retried {
		return m.client.Name
	}
	seen := m.seen()
	for _, entry := range m.decl.Retry.Errors {
		if slices.ContainsFunc(seen, func(name string) bool { return Means(entry, name) }) {
			return entry
		}
	}
	return ""
}

// wrapped is the class that the wrapper makes of what comes out.
func (m meeting) wrapped() string {
	switch {
	case m.wrapper == nil || m.result != Failed:
		return ""
	case m.effect.Does == Returns:
		return m.wrapper.status(m.event.status())
	default:
		return m.wrapper.around(m.event)
	}
}

// entry is the name that a list should hold for it: the exact error. One answer
// is no error of its own: 408 has no class in any wrapper, whose next one would
// cover every 4xx.
func (m meeting) entry() string {
	if m.result != Failed {
		return ""
	}
	seen := m.seen()
	switch {
	case len(seen) == 0:
		return ""
	case m.event == BytesIdle:
		return seenStatus(seen)
	default:
		return seen[0]
	}
}

// entries are the names that a list should hold for it and does not. 502, 503
// and 504 are one reason and three answers: what they have in common would also
// cover a 500, which mostly comes again.
func (m meeting) entries() []string {
	if m.event != Unavailable || m.effect.Does != Returns {
		return []string{m.entry()}
	}
	var out []string
	for _, status := range []int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout} {
		if names := m.namesOf(status); !m.listed(names) {
			out = append(out, names[0])
		}
	}
	return out
}

// listed reports whether the application's list holds one of these names.
func (m meeting) listed(names []string) bool {
	return m.decl.Retry != nil && slices.ContainsFunc(names, func(name string) bool { return listed(m.decl.Retry.Errors, name) })
}

// seenStatus is the status among the names by which an answer is known.
func seenStatus(seen []string) string {
	for _, name := range seen {
		if isStatus(name) {
			return name
		}
	}
	return ""
}

// noticedFrom is the idle age from which looking lets the client notice what it
// does not notice before. How long it keeps connections is another matter.
func noticedFrom(decl probes.Client, reason probes.Reason, method string) time.Duration {
	decl.MaxIdle = none()
	m := meet(decl, reason, method, 0)
	limit := m.client.ValidateAfter(decl)
	if limit.Mode != probes.LimitAfter || limit.After <= 0 || m.result == Noticed {
		return 0
	}
	if meet(decl, reason, method, limit.After).result != Noticed {
		return 0
	}
	return limit.After
}

// AuditMethods are the methods that an audit is about: one that may be sent
// twice, and one that may not.
func AuditMethods() []string { return []string{http.MethodGet, http.MethodPost} }
