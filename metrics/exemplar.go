package metrics

import (
	"time"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"perch.example/probes"
)

// maxExemplar is how many characters the labels of an exemplar may have
// together, names included, as OpenMetrics says.
const maxExemplar = 128

// exemplar is an attempt that a counter or a bucket counted last, by the ids that
// it sent in its traceparent. The zero value is none. It is this process's
// alone: no state keeps it, and no text file nor push can say it.
type exemplar struct {
	value       float64
	at          int64 // Unix time in milliseconds
	trace, span string
}

// exemplarOf is the exemplar of an attempt; finished is when its run ended, for
// an attempt that sent nothing.
func exemplarOf(a probes.Attempt, finished time.Time) exemplar {
	e := exemplar{trace: a.TraceID, span: a.SpanID, at: finished.UnixMilli()}
	if !a.Started.IsZero() {
		e.at = a.Started.Add(a.Elapsed).UnixMilli()
	}
	if len("trace_id")+len(e.trace)+len("span_id")+len(e.span) > maxExemplar || !utf8.ValidString(e.trace) || !utf8.ValidString(e.span) {
		return exemplar{}
	}
	return e
}

// of is the exemplar with the value that was counted.
func (e exemplar) of(value float64) exemplar {
	e.value = value
	return e
}

// expose returns the exemplar as Prometheus reads it; nil: there is none.
func (e exemplar) expose() *dto.Exemplar {
	if e.trace == "" {
		return nil
	}
	out := &dto.Exemplar{Value: &e.value, Timestamp: timestamppb.New(time.UnixMilli(e.at)), Label: []*dto.LabelPair{pair("trace_id", e.trace)}}
	if e.span != "" {
		out.Label = append(out.Label, pair("span_id", e.span))
	}
	return out
}
