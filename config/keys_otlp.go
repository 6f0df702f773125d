package config

import (
	"net/url"
	"regexp"
	"time"

	"perch.example/probes"
)

func otlp() value {
	return mappingOf(
		field{key: "endpoint", doc: "Where OTLP is taken over HTTP, such as http://otel-collector:4318; perch adds /v1/traces and /v1/metrics. Empty: nowhere.", value: private(webURL(true))},
		field{key: "headers", doc: "Sent with each request, such as a key.", value: listOf(header(), 0, 100)},
		field{key: "traces", doc: "A span for each outcome, and one for each attempt below it.", value: boolean(), builtin: true},
		field{key: "metrics", doc: "delta: what the counters and histograms grew, and the gauges, for stores that cannot scrape.", value: word("none", "delta"), builtin: "none"},
		field{key: "histograms", doc: "exponential: with buckets at most 10% wide; explicit: with the few classic ones.", value: word("exponential", "explicit"), builtin: "exponential"},
		field{key: "timeout", doc: "Of one request; it is tried up to four times.", value: duration(100*time.Millisecond, time.Minute), builtin: "10s"},
		field{key: "ca_file", doc: "PEM file of the authorities to trust in place of the system's.", value: path()},
		field{key: "cert_file", doc: "PEM file of perch's certificate.", value: path()},
		field{key: "key_file", doc: "PEM file of its key.", value: path()},
	).withRules(otlpRules).withSchema(merged(notWithout("headers", "endpoint"), map[string]any{
		"dependentRequired": map[string]any{"cert_file": []string{"key_file"}, "key_file": []string{"cert_file"}},
	})).like("{endpoint: http://otel-collector:4318}")
}

func otlpRules(c *checker, at place, m map[string]any) {
	written, _ := m["endpoint"].(string)
	if u, err := url.Parse(written); err == nil {
		switch {
		case regexp.MustCompile(`/v1/(traces|metrics|logs)/?$`).MatchString(u.Path):
			c.wrong(c.at(at, "endpoint"), "holds a signal's path, which perch adds itself", "leave /v1/... out")
		case u.RawQuery != "" || u.ForceQuery:
			c.wrong(c.at(at, "endpoint"), "holds a query", "leave it out: perch adds a path, and a key belongs into headers")
		case u.Port() == "4317":
			c.warn(c.at(at, "endpoint"), "4317 is the port of OTLP over gRPC, which perch does not speak", "want OTLP over HTTP, mostly port 4318")
		}
	}
	c.doubtHeaders(at, written, m)
	c.onceByName(at, m, "headers")
	tlsRules(c, at, m)
	if c.optional {
		return
	}
	if headers, _ := m["headers"].([]any); len(headers) > 0 && !c.has(at, "endpoint") {
		c.wrong(at, "has headers but no endpoint", "say where it goes: endpoint: http://otel-collector:4318")
	}
	if written != "" && m["traces"] == false && m["metrics"] != "delta" {
		c.wrong(at, "sends nothing: traces are off, and metrics are none", "write metrics: delta, or leave otlp out")
	}
}

// doubtHeaders warns of a secret that goes out unencrypted.
func (c *checker) doubtHeaders(at place, endpoint string, m map[string]any) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" || probes.StaysHere(u) {
		return
	}
	headers, _ := m["headers"].([]any)
	for _, one := range headers {
		if header, _ := one.(map[string]any); header["from"] != nil {
			c.warn(c.at(at, "headers"), "a secret goes out over plain http", "use https, or be sure that the network encrypts")
			return
		}
	}
}
