package config

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// client is the application's HTTP client: nothing that perch does itself.
func client() value {
	const least, most = time.Millisecond, 24 * time.Hour
	return mappingOf(
		field{key: "kind", doc: "The client, by its name in perch's catalog.",
			value: clientName(clients.Kinds(), func(c *checker, at place, got any) { known(c, at, got.(string), c.options.ClientKinds) })},
		field{key: "wrapped_by", doc: "A layer that wraps its errors.",
			value: clientName(clients.Wrappers(), func(c *checker, at place, got any) { known(c, at, got.(string), c.options.ClientWrappers) })},
		field{key: "max_idle", doc: "How long its pool keeps an idle connection.",
			value: durationOr(least, most, map[string]any{"none": probes.Limit{Mode: probes.LimitNone}}, asLimit)},
		field{key: "validate_after", doc: "Idle age from which it looks at a connection before using it.",
			value: durationOr(0, most, map[string]any{
				"never":  probes.Limit{Mode: probes.LimitNone},
				"always": probes.Limit{Mode: probes.LimitAlways},
			}, asLimit)},
		field{key: "tcp_keep_alive", doc: "Its TCP keep-alive packets.",
			value: durationOr(time.Second, most, map[string]any{"none": time.Duration(0)}, asDuration)},
		field{key: "http2_ping", doc: "How often it sends HTTP/2 PING while a connection idles.",
			value: durationOr(time.Second, most, map[string]any{"none": time.Duration(0)}, asDuration)},
		field{key: "automatic_retries", doc: "What it retries by itself; default: as it comes.", value: word("default", "none")},
		field{key: "retry", doc: "The application's own retry layer.", value: mappingOf(
			field{key: "layer", doc: "inside: it sees the client's own errors; around: it sees the wrapped ones.", value: word("inside", "around")},
			field{key: "attempts", doc: "All tries, the first included.", value: count(1, 100)},
			field{key: "methods", doc: "The HTTP methods that it sends again; left out: every one.", value: listOf(sentAgain(), 1, len(httpMethods()))},
			field{key: "errors", doc: "What it retries, as the application writes it: class names, codes, statuses.", value: listOf(retried(), 0, 200)},
		).withRules(methodsOnce)},
	)
}

func asLimit(d time.Duration) any { return probes.Limit{Mode: probes.LimitAfter, After: d} }

// httpMethods are those that an application calls an API with.
func httpMethods() []string {
	return []string{
		http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete, http.MethodPost, http.MethodPatch,
	}
}

// sentAgain is one method. Methods are case-sensitive: get is another one.
func sentAgain() value { return word(httpMethods()...) }

// methodsOnce: a method twice is a slip of the pen for another one.
func methodsOnce(c *checker, at place, m map[string]any) {
	methods, _ := m["methods"].([]any)
	for i, method := range methods {
		if slices.Index(methods, method) < i {
			c.wrong(c.at(at, fmt.Sprintf("methods[%d]", i)), fmt.Sprintf("%v is given twice", method), "keep one")
		}
	}
}

// retried is a class name, a code, or a status: YAML reads 503 as a number.
func retried() value {
	v := filled(text("a class name, a code, or a status such as 503 or 5xx"))
	v.tags = append(v.tags, tagInt)
	v.schema = map[string]any{"type": []string{"string", "integer"}}
	return v
}
