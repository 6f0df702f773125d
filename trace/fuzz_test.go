package trace

import (
	"testing"
	"time"

	"perch.example/probes"
)

// FuzzSpans: whatever an attempt holds becomes spans that can be encoded, that end
// after they began, and whose ids are whole.
func FuzzSpans(f *testing.F) {
	f.Add(traceA, spanA, "GET", "refused", int64(0), int64(5), int64(-3), uint8(0))
	f.Add("", "", "\xff", "\xc3\x28", int64(-1), int64(1)<<62, int64(1)<<62, uint8(7))
	f.Add("00000000000000000000000000000000", "zz", "", "ok", int64(1)<<40, int64(0), int64(0), uint8(255))
	f.Fuzz(func(t *testing.T, trace, span, method, text string, began, took, idle int64, flags uint8) {
		a := probes.Attempt{
			TraceID: trace, SpanID: span, Method: method, Reason: probes.Reason(text), Detail: text, Proto: text, Elapsed: time.Duration(took), IdleTime: time.Duration(idle),
			Phases: probes.Phases{DNS: time.Duration(took), Wait: time.Duration(idle)}, Status: int(idle), Served: int(flags % 3),
		}
		if flags&1 != 0 {
			a.Started = at(time.Duration(began))
		}
		if flags&2 != 0 {
			a.Began = at(-time.Duration(began))
		}
		if flags&4 != 0 {
			a.Hops = []probes.Hop{{SpanID: span, Started: at(time.Duration(idle)), Elapsed: time.Duration(took)}, {}}
		}
		b := a
		b.Connection = []probes.Connection{probes.ConnectionReused, probes.ConnectionControl, probes.ConnectionFresh, "?"}[flags>>6]
		o := call(a, b)
		o.Attempts[1].TraceID, o.Message, o.Kind = trace, text, probes.KindIdle
		all := source(t).Spans(run(o))
		if len(all) < 3 {
			t.Fatalf("%d spans", len(all))
		}
		for _, s := range all {
			if len(s.TraceId) != 16 || len(s.SpanId) != 8 || s.EndTimeUnixNano < s.StartTimeUnixNano {
				t.Errorf("%v", s)
			}
		}
		_ = message(t, exporter(t, Options{Endpoint: "http://a"}).traces(all))
	})
}
