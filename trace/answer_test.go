package trace

import (
	"net/http"
	"strings"
	"testing"

	"perch.example/trace/tracetest"
)

// TestAnswerOf: which answers with a status of success are none of an OTLP receiver, and what the others say.
func TestAnswerOf(t *testing.T) {
	const html, json, protobuf = "text/html", "application/json", "application/x-protobuf"
	page := func(kind string) answer { return answer{page: true, kind: kind} }
	for _, tt := range []struct {
		name, kind, content string
		want                answer
	}{
		{"nothing at all", "", "", answer{}},
		{"words", "text/plain; charset=utf-8", "ok", answer{kind: "text/plain"}},
		{"HTML", html, "<html>", page(html)},
		{"HTML, and empty", html, "", page(html)},
		{"HTML without a type", "", "<!DOCTYPE html><title>Sign in</title>", page("")},
		{"HTML without a type, after spaces", "", "\n\n  <html></html>", page("")},
		{"HTML without a type, after a mark", "", "\xef\xbb\xbf<html>", page("")},
		{"a message that looks like it", "", "\n<" + strings.Repeat("\x12\x02no", 15), answer{message: "no"}},
		{"what a server guessed of a message", "text/plain", "<", answer{kind: "text/plain"}},
		{"HTML, twice", "text/html, text/html", "<html>", page(html)},
		{"HTML, a parameter twice", "text/html; a=b; a=c", "<html>", page(html)},
		{"HTML, in capitals", " Text/HTML;", "<html>", page(html)},
		{"a picture", "image/gif", "GIF89a", page("image/gif")},
		{"a partial success", protobuf, "\x0a\x0b\x08\x01\x12\x07too old", answer{kind: protobuf, rejected: 1, message: "too old"}},
		{"JSON in place of a message", protobuf, `{"error":"unauthorized"}`, answer{kind: protobuf}},
		{"JSON", json, `{}`, answer{kind: json}},
		{"JSON, a partial success", json + "; charset=utf-8", `{"partialSuccess":{"rejectedSpans":"2","errorMessage":"quota"}}`, answer{kind: json, rejected: 2, message: "quota"}},
		{"JSON, after a mark", json, "\xef\xbb\xbf" + `{"partialSuccess":{"rejectedDataPoints":2}}`, answer{kind: json, rejected: 2}},
		{"JSON, a fraction", json, `{"partialSuccess":{"rejectedSpans":3.0}}`, answer{kind: json, rejected: 3}},
		{"JSON, half a span", json, `{"partialSuccess":{"rejectedSpans":0.5,"errorMessage":"quota"}}`, answer{kind: json, message: "quota"}},
		{"JSON, an empty count", json, `{"partialSuccess":{"rejectedSpans":"","errorMessage":"quota"}}`, answer{kind: json, message: "quota"}},
		{"JSON, a count that is none", json, `{"partialSuccess":{"rejectedSpans":{"n":3},"errorMessage":"quota"}}`, answer{kind: json, message: "quota"}},
		{"JSON, a count below none", json, `{"partialSuccess":{"rejectedSpans":-3,"errorMessage":"quota"}}`, answer{kind: json, message: "quota"}},
		{"JSON, a message that is none", json, `{"partialSuccess":{"rejectedSpans":3,"errorMessage":{"a":1}}}`, answer{kind: json, rejected: 3}},
		{"JSON, an error", json, `{"error":"unauthorized"}`, answer{kind: json, failure: "unauthorized"}},
		{"JSON, an error within", json, ` {"error": {"code": 16}} `, answer{kind: json, failure: `{"code": 16}`}},
		{"JSON, an error with signs", json, `{"error":"\u003cno\u003e \"x\""}`, answer{kind: json, failure: `<no> "x"`}},
		{"JSON, no error", json, `{"error":null,"status":"ok"}`, answer{kind: json}},
		{"JSON, an empty error", json, `{"error":""}`, answer{kind: json}},
		{"JSON, an error beside what OTLP says", json, `{"error":"x","partialSuccess":{}}`, answer{kind: json}},
		{"JSON, a list", json, `[{"error":"x"}]`, answer{kind: json}},
		{"JSON that ends early", json, `{"error":"x"`, answer{kind: json}},
	} {
		if got := answerOf(tt.kind, []byte(tt.content)); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestSuccessThatIsNone: a status of success from who is no receiver is a problem that is said, and keeps
// what was to be sent; no header's secret is in it.
func TestSuccessThatIsNone(t *testing.T) {
	for _, tt := range []struct{ name, kind, content, want string }{
		{"a page", "text/html;a=b;a=c", "<html>", `/v1/traces: status 200 with "text/html", and no OTLP receiver answers so`},
		{"an empty page", "text/html", "", `status 200 with "text/html", and no OTLP receiver answers so`},
		{"an error", "application/json", `{"error":"hunter2-of-shop is unauthorized"}`, `status 200 with an error in place of OTLP's answer: "[secret] is unauthorized"`},
	} {
		v := &tracetest.Receiver{Answer: func(int, *http.Request) tracetest.Answer {
			return tracetest.Answer{Header: map[string]string{"Content-Type": tt.kind}, Body: []byte(tt.content), Elsewhere: true}
		}}
		x := exporterTo(t, v, Options{Header: http.Header{"Authorization": {"Bearer hunter2-of-shop"}}, Source: source(t)})
		left, err := x.Spans(t.Context(), oneSpan(t))
		if err == nil || len(left) != 2 || !strings.Contains(err.Error(), tt.want) || len(v.Requests()) != 1 {
			t.Errorf("%s: %v, %d left after %d requests; want %s", tt.name, err, len(left), len(v.Requests()), tt.want)
		}
	}
}
