package trace

import (
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"perch.example/probes"
)

// attemptEvents are the ends of an attempt's phases, and the close that was seen
// while its connection was idle.
func (m *maker) attemptEvents(i int) []*tracepb.Span_Event {
	a := m.o.Attempts[i]
	var all []*tracepb.Span_Event
	if a.Connection != probes.ConnectionReused {
		all = opening(a, m.from[i])
	}
	if c := m.callClose(i); c != nil {
		all = append(all, closing(*c))
	}
	if a.Started.IsZero() {
		return all
	}
	p := a.Phases
	if p.Wait > 0 {
		all = append(all, phase("wait", a.Started.Add(p.Wait), p.Wait))
	}
	if p.Transfer > 0 {
		all = append(all, phase("transfer", a.Started.Add(p.Wait+p.Transfer), p.Transfer))
	}
	return all
}

// opening are the phases of opening a connection, one after the other.
func opening(a probes.Attempt, at time.Time) []*tracepb.Span_Event {
	var all []*tracepb.Span_Event
	for _, p := range []struct {
		name string
		took time.Duration
	}{{"dns", a.Phases.DNS}, {"connect", a.Phases.Connect}, {"tls", a.Phases.TLS}} {
		if p.took > 0 {
			at = at.Add(p.took)
			all = append(all, phase(p.name, at, p.took))
		}
	}
	return all
}

func phase(name string, at time.Time, took time.Duration) *tracepb.Span_Event {
	var a attributes
	a.seconds("perch.phase_seconds", took)
	return &tracepb.Span_Event{Name: name, TimeUnixNano: nanos(at), Attributes: a}
}

func closing(c probes.Close) *tracepb.Span_Event {
	var a attributes
	a.seconds("perch.idle_seconds", c.Age)
	a.text("perch.closed_how", string(c.How))
	a.seconds("perch.resolution_seconds", c.Resolution)
	return &tracepb.Span_Event{Name: "close", TimeUnixNano: nanos(c.At), Attributes: a}
}

// callClose is the close that a burst's call found on its connection; nil: none.
func (m *maker) callClose(i int) *probes.Close {
	if call := m.call(i); call != nil {
		return call.Close
	}
	return nil
}

// call is the burst's call that the attempt was made for; nil: it is no burst's.
func (m *maker) call(i int) *probes.BurstCall {
	if m.o.Burst == nil {
		return nil
	}
	for k := range m.o.Burst.Calls {
		if m.o.Burst.Calls[k].Attempt == i {
			return &m.o.Burst.Calls[k]
		}
	}
	return nil
}

// topEvents tell of the time between the attempts: the hold, and the close that was
// seen in it.
func (m *maker) topEvents() []*tracepb.Span_Event {
	var all []*tracepb.Span_Event
	for i, a := range m.o.Attempts {
		if a.Connection != probes.ConnectionReused || a.IdleTime <= 0 || m.o.Kind != probes.KindIdle {
			continue
		}
		since := m.from[i].Add(-a.IdleTime)
		if m.o.Unused {
			p := a.Phases
			all = append(all, opening(a, a.Started.Add(-a.ConnectionAge-p.DNS-p.Connect-p.TLS))...)
		}
		var attrs attributes
		attrs.seconds("perch.hold_seconds", m.o.Hold)
		all = append(all, &tracepb.Span_Event{Name: "hold", TimeUnixNano: nanos(since), Attributes: attrs})
		break
	}
	if m.o.Close != nil {
		all = append(all, closing(*m.o.Close))
	}
	return all
}
