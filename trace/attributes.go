package trace

import (
	"strings"
	"time"
	"unicode/utf8"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
)

// longest is how much of a text is sent, in bytes.
const longest = 1000

// attributes are what is known: an empty text, and a number that means unknown, are
// left out by who adds them.
type attributes []*commonpb.KeyValue

// text adds a text that is not empty.
func (a *attributes) text(key, value string) {
	if value != "" {
		a.add(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: clean(value)}})
	}
}

func (a *attributes) number(key string, value int64) {
	a.add(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: value}})
}

// positive adds a number whose 0 is unknown, or nothing to tell.
func (a *attributes) positive(key string, value int64) {
	if value > 0 {
		a.number(key, value)
	}
}

// seconds adds a duration whose 0 is unknown.
func (a *attributes) seconds(key string, d time.Duration) {
	if d > 0 {
		a.add(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: d.Seconds()}})
	}
}

// flag adds what is true.
func (a *attributes) flag(key string, is bool) {
	if is {
		a.add(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: true}})
	}
}

func (a *attributes) add(key string, value *commonpb.AnyValue) {
	*a = append(*a, &commonpb.KeyValue{Key: key, Value: value})
}

// clean bounds a text, and makes it UTF-8: a message that holds anything else
// cannot be encoded, and nothing of it would be sent.
func clean(text string) string {
	if len(text) > longest {
		cut := longest - len("…")
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
