package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// The answers are read field by field: their messages live in packages that bring
// gRPC along.

// answer is what a status of success brings.
type answer struct {
	page     bool   // no OTLP receiver answers so: a page, a script, a picture
	kind     string // its content type; empty: it has none
	failure  string // the error that stands in place of OTLP's answer
	rejected int64  // how many of what was sent are dropped
	message  string // why, or what else the receiver says
}

// answerOf reads an answer by its Content-Type. Who is asked in protocol buffers has to answer in them;
// JSON is read from who does not. What is no such answer says nothing: what was taken and is
// sent again counts twice.
func answerOf(contentType string, content []byte) answer {
	a := answer{kind: mediaType(contentType)}
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	switch {
	case foreign(a.kind) || a.kind == "" && markup(content):
		a.page = true
	case a.kind == "application/json":
		a.rejected, a.message = partialJSON(content)
		if a.rejected == 0 && a.message == "" {
			a.failure = failureJSON(content)
		}
	default:
		a.rejected, a.message = partial(content)
	}
	return a
}

// mediaType is a content type without its parameters, and the first one where a proxy joined two.
// mime.ParseMediaType knows none of "text/html, text/html" and "text/html; a=b; a=c".
func mediaType(contentType string) string {
	kind, _, _ := strings.Cut(contentType, ";")
	kind, _, _ = strings.Cut(kind, ",")
	return strings.ToLower(strings.TrimSpace(kind))
}

// foreign reports whether a content type is one that no OTLP receiver answers with, be the answer
// empty: of a page, a script, a picture. What a web server guesses of a receiver's bytes (text/plain,
// application/octet-stream) is none of them.
func foreign(kind string) bool {
	switch kind {
	case "text/html", "application/xhtml+xml", "text/xml", "application/xml", "text/css", "text/javascript", "application/javascript":
		return true
	}
	return strings.HasPrefix(kind, "image/")
}

// markup reports whether an answer is HTML or XML, and no message by chance: a line's end is the
// tag of a field, too.
func markup(content []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(content), []byte("<")) && !fields(content, func(protowire.Number, uint64, []byte) {})
}

// partialJSON reads a partial success, which has one shape for traces and for metrics: how many were
// rejected, and why. What of it cannot be read does not take the rest along.
func partialJSON(content []byte) (rejected int64, message string) {
	var answer struct {
		PartialSuccess struct{ RejectedSpans, RejectedDataPoints, ErrorMessage json.RawMessage }
	}
	if json.Unmarshal(content, &answer) != nil {
		return 0, ""
	}
	p := answer.PartialSuccess
	return cmp.Or(countJSON(p.RejectedSpans), countJSON(p.RejectedDataPoints)), textJSON(p.ErrorMessage)
}

// textJSON is a text; empty: it is none.
func textJSON(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// countJSON reads an int64, which stands within quotes in JSON, or without: 3, "3", 3.0. Whatever else
// there is counts nothing.
func countJSON(raw json.RawMessage) int64 {
	text := strings.Trim(string(raw), `"`)
	if whole, part, _ := strings.Cut(text, "."); strings.Trim(part, "0") == "" {
		text = whole
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return max(0, n)
}

// failureJSON is the error of an object that has one, as a gateway before the receiver answers, and no
// partial success; empty: there is none.
func failureJSON(content []byte) string {
	var answer struct{ PartialSuccess, Error json.RawMessage }
	if json.Unmarshal(content, &answer) != nil || answer.PartialSuccess != nil {
		return ""
	}
	switch raw := string(answer.Error); raw {
	case "", "null", "false", "0", `""`, "{}", "[]":
		return ""
	default:
		return cmp.Or(textJSON(answer.Error), raw)
	}
}

func partial(content []byte) (rejected int64, message string) {
	var within []byte
	if !fields(content, func(n protowire.Number, _ uint64, raw []byte) {
		if n == 1 {
			within = raw
		}
	}) {
		return 0, ""
	}
	whole := fields(within, func(n protowire.Number, value uint64, raw []byte) {
		if n == 1 {
			rejected = int64(value)
		}
		if n == 2 {
			message = string(raw)
		}
	})
	if !whole || rejected < 0 {
		return 0, ""
	}
	return rejected, message
}

// statusMessage is the text of a google.rpc.Status, which an error's answer should be;
// else the answer itself, where that is text.
func statusMessage(content []byte) string {
	message, is := "", false
	whole := fields(content, func(n protowire.Number, _ uint64, raw []byte) {
		if n == 2 {
			message, is = string(raw), true
		}
	})
	switch {
	case whole && is:
		return message
	case utf8.Valid(content) && !strings.ContainsFunc(string(content), notText):
		return strings.TrimSpace(string(content))
	}
	return ""
}

func notText(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }

// fields hands out a message's fields: a number's value, or the bytes of what has a
// length. It reports whether it was a message to its end.
func fields(content []byte, each func(protowire.Number, uint64, []byte)) bool {
	for len(content) > 0 {
		number, kind, n := protowire.ConsumeTag(content)
		if n < 0 {
			return false
		}
		content = content[n:]
		var value uint64
		var raw []byte
		switch kind {
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(content)
		case protowire.BytesType:
			raw, n = protowire.ConsumeBytes(content)
		default:
			n = protowire.ConsumeFieldValue(number, kind, content)
		}
		if n < 0 {
			return false
		}
		content = content[n:]
		each(number, value, raw)
	}
	return true
}
