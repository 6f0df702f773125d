// Package trace turns outcomes into OpenTelemetry's spans, and perch's counters into
// what they grew, and sends both by OTLP over HTTP.
//
// A step is a span, and each of its attempts a client's span below it, under the very
// ids that went out in the attempt's traceparent: the server's spans hang below those.
//
// The messages are OpenTelemetry's own; its SDK and its exporters are not used. They
// bring gRPC along, which takes more room than all that perch says by OTLP, and a
// queue with a clock of its own: a run of perch has ended before it is sent.
package trace
