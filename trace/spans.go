package trace

import (
	"bytes"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"perch.example/probes"
)

const (
	// mostAttempts bounds the spans of one outcome; those that failed come first.
	mostAttempts = 1000
	// sampled is what the traceparent says (-01), and that the parent is known to be
	// no other process's.
	sampled = 0x101
)

// Spans are a run's, in the order of its outcomes. They are not changed any more.
type Spans []*tracepb.Span

// Spans returns a span for each of the run's outcomes, and below it one for each
// attempt. What sent nothing and tried nothing has no span.
func (s Source) Spans(run probes.Run) Spans {
	var all Spans
	specs := s.specs()
	for _, o := range run.Outcomes {
		if len(o.Attempts) == 0 {
			continue
		}
		m := maker{run: run, o: o, spec: specs[o.ID()], trace: traceID(run, o)}
		all = append(all, m.spans()...)
	}
	return all
}

// maker makes the spans of one outcome.
type maker struct {
	run   probes.Run
	o     probes.Outcome
	spec  probes.Spec // empty: the config no longer has it
	trace []byte
	from  []time.Time // of each attempt
	shown []int       // the attempts that have a span, by index
	top   *tracepb.Span
}

func (m *maker) spans() Spans {
	m.from = starts(m.o)
	m.shown = shown(m.o.Attempts)
	m.top = &tracepb.Span{
		TraceId: m.trace, SpanId: outcomeSpan(m.trace), Kind: tracepb.Span_SPAN_KIND_INTERNAL, Flags: sampled,
		Name: string(m.o.Kind) + " " + clean(m.o.ID()),
	}
	all := Spans{m.top}
	for _, i := range m.shown {
		all = append(all, m.hops(i)...)
		all = append(all, m.attempt(i))
	}
	m.finishTop(all[1:])
	return all
}

// finishTop says of the span above the attempts what follows from all of them.
func (m *maker) finishTop(below Spans) {
	m.top.Attributes = m.topAttributes()
	m.top.Events = m.topEvents()
	if m.o.Verdict == probes.VerdictFail {
		m.top.Status = failed(m.o.Message)
	}
	begin := m.o.Started
	if begin.IsZero() {
		begin = m.from[0]
	}
	end := begin
	if c := m.o.Close; c != nil && c.At.After(end) {
		end = c.At
	}
	m.top.StartTimeUnixNano, m.top.EndTimeUnixNano = nanos(begin), nanos(end)
	for _, s := range below {
		m.top.StartTimeUnixNano = min(m.top.StartTimeUnixNano, s.StartTimeUnixNano)
		m.top.EndTimeUnixNano = max(m.top.EndTimeUnixNano, s.EndTimeUnixNano)
	}
}

// child is a span below the outcome's. One of another trace, which a step can begin
// for a request of its own, hangs below nothing and is linked with it.
func (m *maker) child(trace, span []byte) *tracepb.Span {
	s := &tracepb.Span{TraceId: trace, SpanId: span, Kind: tracepb.Span_SPAN_KIND_CLIENT, Flags: sampled}
	if bytes.Equal(trace, m.trace) {
		s.ParentSpanId = m.top.SpanId
	} else {
		s.Links = append(s.Links, link(m.trace, m.top.SpanId, "outcome"))
	}
	return s
}

func link(trace, span []byte, what string) *tracepb.Span_Link {
	var a attributes
	a.text("perch.link", what)
	return &tracepb.Span_Link{TraceId: trace, SpanId: span, Attributes: a, Flags: sampled}
}

func failed(why string) *tracepb.Status {
	return &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: clean(why)}
}

// shown are the attempts that get a span: all of them, or, of more than there is
// room for, those that failed and then the first.
func shown(all []probes.Attempt) []int {
	room := mostAttempts
	pick := make([]bool, len(all))
	for _, failing := range []bool{true, false} {
		for i, a := range all {
			if room > 0 && a.OK() != failing {
				pick[i] = true
				room--
			}
		}
	}
	var indexes []int
	for i := range all {
		if pick[i] {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// starts says when each attempt began. Where that is not known it is when the one
// before it ended.
func starts(o probes.Outcome) []time.Time {
	all := make([]time.Time, len(o.Attempts))
	last := o.Started
	for i, a := range o.Attempts {
		all[i] = last
		switch {
		case a.Connection == probes.ConnectionReused && !a.Started.IsZero():
			all[i] = a.Started // it was open already
		case len(a.Hops) > 0:
			all[i] = endOfHops(a)
		case !a.Began.IsZero():
			all[i] = a.Began
		case !a.Started.IsZero():
			all[i] = a.Started
		}
		last = ends(a, all[i])
	}
	return all
}

func endOfHops(a probes.Attempt) time.Time {
	last := a.Hops[len(a.Hops)-1]
	if end := last.Started.Add(last.Elapsed); end.Before(a.Started) {
		return end
	}
	return a.Started
}

// ends is when an attempt ended that began then.
func ends(a probes.Attempt, began time.Time) time.Time {
	if a.Started.IsZero() {
		return began.Add(a.Elapsed) // of the opening
	}
	return a.Started.Add(a.Elapsed)
}

// lasts says from when to when a span is. One that would end before it began, as after
// a clock's step, is a moment.
func lasts(s *tracepb.Span, from, to time.Time) {
	s.StartTimeUnixNano = nanos(from)
	s.EndTimeUnixNano = max(s.StartTimeUnixNano, nanos(to))
}

// nanos is a time as OTLP writes it; 0: unknown.
func nanos(t time.Time) uint64 {
	if n := t.UnixNano(); !t.IsZero() && n > 0 {
		return uint64(n)
	}
	return 0
}
