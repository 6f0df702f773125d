package trace

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// The answers are read field by field: their messages live in packages that bring
// gRPC along.

// foreign reports whether a content type is one that no OTLP receiver answers with: of a
// page, a script, a picture. What a web server guesses of a receiver's bytes (text/plain,
// application/octet-stream) is none of them: what was taken and is sent again counts twice.
func foreign(kind string) bool {
	switch kind {
	case "text/html", "application/xhtml+xml", "text/xml", "application/xml", "text/css", "text/javascript", "application/javascript":
		return true
	}
	return strings.HasPrefix(kind, "image/")
}

// rejections reads an answer's partial success, which has one shape for traces and for
// metrics: how many were rejected, and why. What is no such answer says nothing. Who is
// asked in protocol buffers has to answer in them; JSON is read from who does not.
func rejections(kind string, content []byte) (rejected int64, message string) {
	if kind == "application/json" {
		return partialJSON(content)
	}
	return partial(content)
}

func partialJSON(content []byte) (rejected int64, message string) {
	var answer struct {
		PartialSuccess struct {
			RejectedSpans, RejectedDataPoints json.Number // also within quotes, as an int64 stands in JSON
			ErrorMessage                      string
		}
	}
	if json.Unmarshal(content, &answer) != nil {
		return 0, ""
	}
	p := answer.PartialSuccess
	n, err := cmp.Or(p.RejectedSpans, p.RejectedDataPoints, "0").Int64()
	if err != nil || n < 0 {
		return 0, ""
	}
	return n, p.ErrorMessage
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
