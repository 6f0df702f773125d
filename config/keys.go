package config

import (
	"slices"
	"sync"
	"time"
)

// The table and those of its fields that may stand at several levels: made once,
// for perch serve looks at its config every few seconds, and making them costs more
// than the rest of a small one's check. Nobody may change them.
//
//nolint:gochecknoglobals // they cannot change: constants that have to be computed
var (
	table        = sync.OnceValue(wholeTable)
	targetFields = sync.OnceValue(fieldsOfTarget)
	sharedFields = sync.OnceValue(fieldsOfAll)
)

// wholeTable is the whole config.
func wholeTable() value {
	return mappingOf(
		field{key: "version", doc: "Format of this file.", value: version(), builtin: 1},
		field{key: "name", doc: "Name of this perch: part of the push group and of every metric.", value: name()},
		field{key: "vantage", doc: "Where this perch sits. A pod's host name changes with each run and would be a new series each time.", value: name()},
		field{key: "defaults", doc: "Settings of any target or probe, for all that do not say otherwise.", value: mappingOf(defaultFields()...).withRules(sharedRules)},
		field{key: "targets", doc: "The APIs.", value: listOf(target(), 1, 1000)},
		field{key: "alerts", doc: "When an incident is told.", value: alerts()},
		field{key: "slack", doc: "Where notices go.", value: slack()},
		field{key: "metrics", doc: "Where the numbers go.", value: metrics()},
		field{key: "state", doc: "What survives between runs.", value: mappingOf(
			field{key: "file", doc: "Path of the state file.", value: path()},
			field{key: "configmap", doc: "Name of a ConfigMap in perch's own namespace, made empty beforehand; in place of file.", value: objectName()},
		).withSchema(oneOfTwo("file", "configmap"))},
		field{key: "webhook", doc: "Gets each notice as JSON.", value: webhook()},
		field{key: "alertmanager", doc: "Gets what is firing, in each run.", value: alertmanager()},
		field{key: "otlp", doc: "Where spans and numbers go by OpenTelemetry's protocol.", value: otlp()},
	)
}

func metrics() value {
	return mappingOf(
		field{key: "push", doc: "A Pushgateway, told before and after a run's probes; counters go on from run to run with a state.", value: mappingOf(
			field{key: "url", doc: "The Pushgateway's URL.", value: private(webURL(true)), required: true},
			field{key: "headers", doc: "Sent with each push, such as a password.", value: listOf(header(), 0, 100)},
			field{key: "stateless", doc: "Push although nothing is remembered between runs.", value: boolean()},
		).withRules(func(c *checker, at place, m map[string]any) { c.onceByName(at, m, "headers") })},
		field{key: "textfile", doc: "Path of a file for node_exporter's textfile collector; it ends in .prom.", value: path()},
		field{key: "max_series", doc: "A plan with more time series is refused.", value: count(1, 10_000_000), builtin: 20_000},
		field{key: "listen", doc: "Where perch serve answers /metrics, /healthz and /readyz; port 0 is any that is free.", value: listenAddress(), builtin: ":9877"},
		field{key: "blackbox_names", doc: "Also probe_success, probe_duration_seconds and probe_http_duration_seconds, for dashboards made for blackbox_exporter.", value: boolean()},
	)
}

// source names where a secret is read.
func source() value {
	return private(mappingOf(
		field{key: "env", doc: "Name of an environment variable.", value: envName()},
		field{key: "file", doc: "Path of a file, read anew for each run.", value: path()},
	).withRules(sourceRules).withSchema(map[string]any{"minProperties": 1, "maxProperties": 1}).like("{env: NAME} or {file: PATH}"))
}

func target() value {
	fields := []field{
		{key: "name", doc: "The target's name, once in a config.", value: name(), required: true},
		{key: "url", doc: "Where its paths begin: http or https.", value: webURL(false), required: true},
		{key: "probes", doc: "What is done to it.", value: listOf(probe(), 1, 200), required: true},
		{key: "accepted", doc: "Findings that are known and lived with: they fire only outside of it.", value: listOf(accepted(), 0, 50)},
	}
	return mappingOf(slices.Concat(fields, targetFields(), sharedFields())...).withRules(sharedRules).like("{name: ..., url: https://..., probes: [...]}")
}

// fieldsOfTarget are a target's settings that defaults may hold too.
func fieldsOfTarget() []field {
	return []field{
		{key: "rate_limit", doc: "What the API allows the whole service.", value: rate(), builtin: "20/s"},
		{key: "share", doc: "How much of rate_limit perch may use.", value: percent(), builtin: "5%"},
		{key: "daily_limit", doc: "Requests in a UTC day.", value: count(1, 100_000_000), builtin: 5000},
		{key: "max_connections", doc: "Connections open at once, held ones included.", value: count(1, 10_000), builtin: 16},
		{key: "via", doc: "What ends TCP on the way, where perch cannot see it.", value: word("none", "mesh", "proxy"), builtin: "none"},
		{key: "client", doc: "The application's HTTP client, as it is configured.", value: client()},
		{key: "channel", doc: "Where notices go with slack.bot_token, in place of slack.channel.", value: channel()},
	}
}

func defaultFields() []field { return slices.Concat(targetFields(), sharedFields()) }

// fieldsOfAll may stand in defaults, on a target and on a probe; the nearest
// wins.
func fieldsOfAll() []field {
	const second = time.Second
	return append([]field{
		{key: "owner", doc: "Who is told; shown in notices.", value: text("a name")},
		{key: "severity", doc: "How urgent a notice is.", value: word("page", "ticket", "info")},
		{key: "runbook", doc: "Linked from each notice.", value: webURL(true)},
		{key: "every", doc: "How often a probe is due; always: in each run, and every 5m in perch serve. A run skips what is not due yet, which needs state.", builtin: "5m",
			value: durationOr(second, 168*time.Hour, map[string]any{"always": time.Duration(0)}, asDuration)},
		{key: "method", doc: "The request's method.", value: method(), builtin: "GET"},
		{key: "headers", doc: "Sent with each request. Merged by name.", value: listOf(header(), 0, 100)},
		{key: "query", doc: "Added to each request's query. Merged by name.", value: listOf(parameter(), 0, 100)},
		{key: "tls", doc: "The client's side of TLS.", value: tlsBlock()},
		{key: "timeouts", doc: "Bounds of one attempt's phases.", value: mappingOf(
			field{key: "dns", doc: "Resolving the name.", value: phase(), builtin: "2s"},
			field{key: "connect", doc: "Connecting to one address.", value: phase(), builtin: "2s"},
			field{key: "tls", doc: "The TLS handshake.", value: phase(), builtin: "2s"},
			field{key: "response", doc: "From the request's first byte to the answer's last.", value: phase(), builtin: "5s"},
		)},
		{key: "follow_redirects", doc: "How many redirects are followed, on the same host and port only.", value: count(0, 10), builtin: 0},
		{key: "max_body", doc: "How much of an answer is read, before and after decompression.", value: size(1, 64<<20), builtin: "1MiB"},
		{key: "expect", doc: "CEL expressions that must all hold: status, headers, body, json, latency, proto, tls, certificate, grpc.", value: listOf(expression(), 0, 50)},
		{key: "retry", doc: "Perch's own second try, on a fresh connection.", value: mappingOf(
			field{key: "attempts", doc: "All tries, the first included.", value: count(1, 2), builtin: 1},
			field{key: "backoff", doc: "Before the second.", value: duration(0, time.Minute), builtin: "200ms"},
		)},
		{key: "keep_alive", doc: "Kinds idle and burst: what the path is expected to honour.", value: duration(100*time.Millisecond, 24*time.Hour)},
		{key: "holds", doc: "Kind idle: how long connections are held. Left out: a ladder just below and above keep_alive and each limit of the client, and inside the danger band that the last run measured; perch plan shows it.", value: listOf(duration(10*time.Millisecond, 24*time.Hour), 1, 64)},
	}, reachFields()...)
}

func phase() value { return duration(10*time.Millisecond, 10*time.Minute) }

func asDuration(d time.Duration) any { return d }

func probe() value {
	fields := []field{
		{key: "name", doc: "The probe's name, once in a target.", value: name(), required: true},
		{key: "kind", doc: "What is done.", value: kind(), required: true},
		{key: "path", doc: "Behind the target's url, with its literal query.", value: requestPath()},
	}
	return mappingOf(slices.Concat(fields, reachProbeFields(), sharedFields())...).withRules(probeRules).withSchema(whereKind()).like("{name: ..., kind: http, path: /...}")
}

func header() value {
	return private(mappingOf(
		field{key: "name", doc: "The header's name.", value: headerName(), required: true},
		field{key: "prefix", doc: "Put before the secret.", value: text("text")},
		field{key: "value", doc: "A literal value.", value: text("text")},
		field{key: "from", doc: "Where the value is read, for secrets.", value: source()},
	).withRules(fieldRules).withSchema(literalOrSource()).like("{name: ..., value: ...} or {name: ..., from: {env: NAME}}"))
}

func parameter() value {
	return private(mappingOf(
		field{key: "name", doc: "The parameter's name.", value: filled(text("a parameter's name")), required: true},
		field{key: "prefix", doc: "Put before the secret.", value: text("text")},
		field{key: "value", doc: "A literal value.", value: text("text")},
		field{key: "from", doc: "Where the value is read, for secrets.", value: source()},
	).withRules(fieldRules).withSchema(literalOrSource()).like("{name: ..., value: ...} or {name: ..., from: {env: NAME}}"))
}

func tlsBlock() value {
	return mappingOf(
		field{key: "ca_file", doc: "PEM file of the authorities to trust in place of the system's.", value: path()},
		field{key: "cert_file", doc: "PEM file of the client's certificate.", value: path()},
		field{key: "key_file", doc: "PEM file of its key.", value: path()},
		field{key: "server_name", doc: "Name to ask for and verify, in place of the URL's host.", value: hostName()},
		field{key: "min_version", doc: "Lowest TLS version, in quotes: YAML reads 1.3 as a number.", value: word("1.2", "1.3"), builtin: "1.2"},
	).withRules(tlsRules)
}
