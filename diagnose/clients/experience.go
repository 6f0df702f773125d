package clients

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"perch.example/probes"
)

// Result is what an event comes to for the application.
type Result string

// The results.
const (
	Noticed Result = "noticed" // a new connection was used: nothing to see
	Retried Result = "retried" // hidden by the client's own second try
	Failed  Result = "error"   // it reaches the application
	Unknown Result = "unknown" // the catalog does not say
)

// Experience says what the application's client makes of a reason on a
// connection that was idle for that long (0: fresh, or no idle age at which
// the client looks): in words, as a result, and whether a retry covers it
// (empty: nothing to retry).
func Experience(decl probes.Client, reason probes.Reason, method string, idle time.Duration) (string, Result, probes.RetryCover) {
	m := meet(decl, reason, method, idle)
	return m.text(), m.result, m.cover()
}

// Cell returns what Experience puts into words: what the client does, and where
// that is known from. Its Does is empty where the catalog does not say.
func Cell(decl probes.Client, reason probes.Reason, method string, idle time.Duration) (Effect, Source) {
	m := meet(decl, reason, method, idle)
	return m.effect, m.source
}

// RetryEntry returns the name that the application's retry list would have to
// hold for its layer to see this reason; empty when no error comes out.
func RetryEntry(decl probes.Client, reason probes.Reason, method string, idle time.Duration) string {
	m := meet(decl, reason, method, idle)
	if m.result != Failed {
		return ""
	}
	if seen := m.seen(); len(seen) > 0 {
		return seen[0]
	}
	return ""
}

// meeting is one reason meeting one declared client.
type meeting struct {
	decl    probes.Client
	client  Client
	wrapper *wrapper
	reason  probes.Reason
	event   Event
	method  string
	effect  Effect
	source  Source
	dropped time.Duration // the client's own idle limit, when that ended it first
	result  Result
}

func meet(decl probes.Client, reason probes.Reason, method string, idle time.Duration) meeting {
	m := meeting{decl: decl, reason: reason, event: eventOf(reason), method: method, result: Unknown}
	client, ok := Lookup(decl.Kind)
	if !ok || m.event == "" {
		return m
	}
	m.client = client
	m.wrapper = lookupWrapper(decl.WrappedBy)
	if limit := client.MaxIdle(decl, 0); idle > 0 && limit.Mode == probes.LimitAfter && idle >= client.Idle.latest(limit).After {
		m.dropped, m.result = limit.After, Noticed
		return m
	}
	fact, ok := client.fact(m.event, decl.HTTP2)
	if !ok {
		return m
	}
	m.effect, m.source = fact.effect(client.looksAt(decl, idle), client.repeats(method), decl.AutomaticRetries != probes.SwitchNone), fact.Source
	switch m.effect.Does {
	case Notices:
		m.result = Noticed
	case Retries:
		m.result = Retried
	case Fails, Returns:
		m.result = Failed
	}
	return m
}

// effect picks the cell. An unset one falls back to what comes out when the
// client does not help.
func (f Fact) effect(looked, repeats, automatic bool) Effect {
	switch {
	case looked && f.Looked != nil:
		return *f.Looked
	case !automatic && !repeats && f.BareOther != nil:
		return *f.BareOther
	case !automatic && f.Bare != nil:
		return *f.Bare
	case repeats && (automatic || f.Safe.Does != Retries):
		return f.Safe
	default:
		return f.Other
	}
}

// text is what the application sees, in the client's own words.
func (m meeting) text() string {
	switch {
	case m.result == Unknown:
		return ""
	case m.dropped > 0:
		return fmt.Sprintf("does not use it: it drops what was idle for %s s", seconds(m.dropped))
	case m.effect.Does == Notices:
		return "notices that it is dead and opens a new connection"
	case m.effect.Does == Retries:
		return m.again()
	case m.effect.Does == Returns:
		return m.returned()
	}
	text := m.client.Verb + " " + m.effect.Error
	if m.effect.Text != "" {
		text += ": " + m.effect.Text
	}
	if m.effect.Note != "" {
		text += " (" + m.effect.Note + ")"
	}
	if m.wrapper != nil {
		text += fmt.Sprintf(", which %s wraps in %s", m.wrapper.name, m.wrapper.around(m.event))
	}
	return text
}

// again words the client's own second try as what it is a second try of: not
// only what was lost on a dead connection is sent again.
func (m meeting) again() string {
	switch m.event {
	case ClosedIdle, ResetIdle, BytesIdle, ClosesOnRequest, ResetsOnRequest:
		return "writes to the dead connection, then silently sends again on a new one"
	case PartialHead, PartialBody:
		return "drops the answer that is cut off, then silently sends again on a new connection"
	case NotHTTP:
		return "drops what is no HTTP answer, then silently sends again on a new connection"
	case Silence:
		return "waits for its whole timeout, then silently sends again on a new connection"
	case Unavailable, RateLimited, Unauthorized:
		return fmt.Sprintf("asks again by itself after the answer %d", m.event.status())
	case GoawayIdle:
		return "writes to the connection that said GOAWAY, then silently sends again on a new one"
	case GoawayUnprocessed, GoawayProcessed:
		return "silently sends again on a new connection after the GOAWAY"
	case StreamRefused, StreamReset:
		return "silently sends again after the RST_STREAM"
	case NoAddress, Refused, ConnectTimeout, Unreachable, ProxyFailure, TLSFailure, BadCertificate:
		return "silently tries to connect again"
	}
	return "silently sends again"
}

// returned words an answer, or what looks like one.
func (m meeting) returned() string {
	if m.wrapper != nil {
		if name := m.wrapper.status(m.event.status()); name != "" {
			return fmt.Sprintf("returns %s, for which %s throws %s", m.effect.Text, m.wrapper.name, name)
		}
	}
	return "returns " + m.effect.Text
}

// cover says whether the failure is retried, and whether that is safe.
func (m meeting) cover() probes.RetryCover {
	switch m.result {
	case Noticed:
		return ""
	case Retried:
		return m.safely()
	case Failed:
	case Unknown:
		return probes.CoverUnknown
	}
	policy := m.decl.Retry
	if policy == nil {
		return probes.CoverUnknown
	}
	if policy.Attempts == 1 || !policy.Repeats(m.method) {
		return probes.CoverUncovered
	}
	for _, name := range m.seen() {
		if listed(policy.Errors, name) {
			return m.safely()
		}
	}
	return probes.CoverUncovered
}

// safely is covered, unless the method may be executed twice.
func (m meeting) safely() probes.RetryCover {
	if m.reason.Resend() == probes.ResendSafe || idempotent(m.method) {
		return probes.CoverCovered
	}
	return probes.CoverUnsafe
}

// seen returns the names by which the retry layer can know the failure, the
// most exact one first.
func (m meeting) seen() []string {
	if m.effect.Does == Returns {
		return m.namesOf(m.event.status())
	}
	if m.seesWrapped() {
		return kindsOf(m.wrapper.errors(), m.wrapper.around(m.event))
	}
	names := kindsOf(m.client.Errors, m.effect.Error)
	for _, name := range slices.Clone(names) {
		names = append(names, m.client.Aliases[name]...)
	}
	return names
}

// seesWrapped reports whether the retry layer stands around a wrapper.
func (m meeting) seesWrapped() bool {
	return m.wrapper != nil && m.decl.Retry != nil && m.decl.Retry.Layer == probes.LayerAround
}

// namesOf returns the names by which the retry layer can know an answer, the
// most exact one first; none for the status 0, which is no answer.
func (m meeting) namesOf(status int) []string {
	if status == 0 {
		return nil
	}
	names := []string{fmt.Sprint(status), statusClass(status)}
	if !m.seesWrapped() {
		return names
	}
	if class := m.wrapper.status(status); class != "" {
		return append(kindsOf(m.wrapper.errors(), class), names...)
	}
	return names
}

// kindsOf returns name and everything that it also is, nearest first.
func kindsOf(parents map[string][]string, name string) []string {
	names := []string{name}
	for i := 0; i < len(names); i++ {
		for _, parent := range parents[names[i]] {
			if !slices.Contains(names, parent) {
				names = append(names, parent)
			}
		}
	}
	return names
}

// listed reports whether an entry of the list means name.
func listed(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool { return Means(entry, name) })
}

// repeats reports whether the client itself sends the method again, where it
// sends anything again.
func (c Client) repeats(method string) bool {
	if len(c.Retries.Methods) == 0 {
		return safe(method)
	}
	return slices.Contains(c.Retries.Methods, cmp.Or(method, http.MethodGet))
}

// safe reports whether clients treat the method as one without effects.
func safe(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, "":
		return true
	}
	return false
}

// idempotent reports whether executing the method twice is the same as once.
func idempotent(method string) bool {
	return safe(method) || method == http.MethodPut || method == http.MethodDelete
}
