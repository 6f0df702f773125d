package trace

import (
	"strconv"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"perch.example/probes"
)

// attempt is the span of one request: the one whose id it carried.
func (m *maker) attempt(i int) *tracepb.Span {
	a := m.o.Attempts[i]
	s := m.child(m.traceOf(i), attemptSpan(m.traceOf(i), a))
	s.Name = m.requestName(a)
	lasts(s, m.from[i], ends(a, m.from[i]))
	s.Attributes = m.attemptAttributes(i)
	s.Events = m.attemptEvents(i)
	if j, what := m.before(i); j >= 0 {
		s.Links = append(s.Links, link(m.traceOf(j), attemptSpan(m.traceOf(j), m.o.Attempts[j]), what))
	}
	if !a.OK() {
		s.Status = failed(why(a))
	}
	return s
}

// why is what an attempt showed. Of an answer it is the reason alone: the detail may
// repeat what stood in it.
func why(a probes.Attempt) string {
	switch {
	case a.Status != 0:
		return string(a.Reason) + " (status " + strconv.Itoa(a.Status) + ")"
	case a.Detail == "" || a.NoToken || a.GRPC != nil:
		return string(a.Reason)
	}
	return string(a.Reason) + ": " + a.Detail
}

// traceOf is the trace of an attempt; the outcome's, where it has none.
func (m *maker) traceOf(i int) []byte {
	if id := decoded(m.o.Attempts[i].TraceID, 16); id != nil {
		return id
	}
	return m.trace
}

// before is the attempt that this one follows from, and what it is to it: the
// warm-up of the reused connection, the reuse that the control is for, the try that
// this one repeats. -1: none.
func (m *maker) before(i int) (int, string) {
	a := m.o.Attempts[i]
	for j := i - 1; j >= 0; j-- {
		b := m.o.Attempts[j]
		switch {
		case a.Connection == probes.ConnectionReused && a.Local.IsValid() && a.Local == b.Local && a.Served > 0:
			return j, "same connection"
		case a.Connection == probes.ConnectionControl && b.Connection == probes.ConnectionReused:
			return j, "controls"
		case resends(a, b):
			return j, "resends"
		}
	}
	return -1, ""
}

// resends reports whether a is the same request as b, sent once more.
func resends(a, b probes.Attempt) bool {
	fresh := a.Connection == probes.ConnectionFresh && b.Connection == probes.ConnectionFresh
	return fresh && !b.OK() && a.Address == b.Address
}

// resendCount is how often the request was sent before, since it failed.
func (m *maker) resendCount(i int) int64 {
	a, n := m.o.Attempts[i], int64(0)
	for j := i - 1; j >= 0; j-- {
		b := m.o.Attempts[j]
		if a.Connection == probes.ConnectionControl && b.Connection == probes.ConnectionReused {
			return 1
		}
		if !resends(a, b) {
			break
		}
		n++
	}
	return n
}

// requestName is the method and, of gRPC, what is called: few different ones.
func (m *maker) requestName(a probes.Attempt) string {
	if m.spec.GRPC != nil {
		return clean(rpcMethod(*m.spec.GRPC))
	}
	if a.Method == "" {
		return "HTTP"
	}
	return clean(a.Method)
}

// hops are the requests that were redirected before the attempt's own.
func (m *maker) hops(i int) Spans {
	var all Spans
	for _, h := range m.o.Attempts[i].Hops {
		id := decoded(h.SpanID, 8)
		if id == nil {
			continue
		}
		s := m.child(m.traceOf(i), id)
		s.Name = m.requestName(m.o.Attempts[i])
		lasts(s, h.Started, h.Started.Add(h.Elapsed))
		var a attributes
		a.text("http.request.method", m.o.Attempts[i].Method)
		a.positive("http.response.status_code", int64(h.Status))
		a.text("perch.target", m.o.Target)
		a.text("perch.probe", m.o.Probe)
		a.flag("perch.redirected", true)
		s.Attributes = a
		all = append(all, s)
	}
	return all
}
