package clients

import (
	"time"

	"perch.example/probes"
)

// apache45 is Apache HttpClient 4.5 with a pooling connection manager
// (measured: 4.5.14).
func apache45() Client {
	const noAnswer = "org.apache.http.NoHttpResponseException"
	const reset = "java.net.SocketException"
	closed := fails(noAnswer, "<host> failed to respond")
	broken := fails(reset, "Connection reset")
	retries, notices := Effect{Does: Retries}, Effect{Does: Notices}
	return Client{
		Name: "Apache HttpClient 4.5", Verb: "throws",
		Idle: IdleLimit{Limit: none(), Hint: true, Source: Documented},
		Looks: Validation{
			Limit: after(2 * time.Second), How: "a stale check: one read of 1 ms", Source: Measured,
		},
		Facts: answered(map[Event]Fact{
			ClosedIdle:      {Safe: retries, Other: closed, Bare: &closed, Looked: &notices, Source: Measured},
			ResetIdle:       {Safe: retries, Other: retries, Bare: &broken, Looked: &notices, Source: Measured},
			ClosesOnRequest: {Safe: retries, Other: closed, Bare: &closed, Source: Measured},
			ResetsOnRequest: {Safe: retries, Other: broken, Bare: &broken, Source: Measured},
			BytesIdle:       same(stray408(), Measured),
			PartialHead:     same(fails("org.apache.http.client.ClientProtocolException", ""), Measured),
			Silence:         same(fails("java.net.SocketTimeoutException", "Read timed out"), Measured),
			NoAddress:       same(fails("java.net.UnknownHostException", "<host>"), Documented),
			Refused: same(fails("org.apache.http.conn.HttpHostConnectException",
				"Connect to <host> failed: Connection refused"), Documented),
			ConnectTimeout: same(fails("org.apache.http.conn.ConnectTimeoutException",
				"Connect to <host> failed: connect timed out"), Documented),
			TLSFailure: same(fails("javax.net.ssl.SSLHandshakeException", ""), Documented),
		}),
		Errors: javaErrors(map[string][]string{
			noAnswer: {"java.io.IOException"},
			"org.apache.http.client.ClientProtocolException":      {"java.io.IOException"},
			"org.apache.http.conn.HttpHostConnectException":       {"java.net.ConnectException"},
			"org.apache.http.conn.ConnectTimeoutException":        {"java.io.InterruptedIOException"},
			"org.apache.http.conn.ConnectionPoolTimeoutException": {"org.apache.http.conn.ConnectTimeoutException"},
		}),
		Settings: Settings{
			MaxIdle:      "HttpClientBuilder.create().setKeepAliveStrategy((response, context) -> {ms})",
			Validate:     "PoolingHttpClientConnectionManager.setValidateAfterInactivity({ms})",
			TCPKeepAlive: "SocketConfig.custom().setSoKeepAlive(true), with the kernel's net.ipv4.tcp_keepalive_time below {s}",
			Timeout:      "RequestConfig.custom().setSocketTimeout({ms})",
			Caveats: []string{
				"HttpClientBuilder.evictIdleConnections only looks once every max idle time, from its own thread, so that a connection can be up to twice as old: use it beside the strategy, not in its place.",
			},
		},
	}
}

// apache52 is Apache HttpClient 5.2 (measured: 5.2.1).
func apache52() Client {
	const noAnswer = "org.apache.hc.core5.http.NoHttpResponseException"
	closed := fails(noAnswer, "<host> failed to respond")
	broken := fails("java.net.SocketException", "Connection reset")
	retries, notices := Effect{Does: Retries}, Effect{Does: Notices}
	const connect = "org.apache.hc.client5.http."
	return Client{
		Name: "Apache HttpClient 5.2", Verb: "throws",
		Idle: IdleLimit{Limit: after(3 * time.Minute), Hint: true, Source: Documented},
		Looks: Validation{
			Limit: after(2 * time.Second), How: "a stale check: one read of 1 ms", Source: Documented,
		},
		Facts: map[Event]Fact{
			ClosedIdle:      {Safe: retries, Other: closed, Bare: &closed, Looked: &notices, Source: Measured},
			ResetIdle:       {Safe: retries, Other: broken, Bare: &broken, Looked: &notices, Source: Measured},
			ClosesOnRequest: {Safe: retries, Other: closed, Bare: &closed, Source: Measured},
			ResetsOnRequest: {Safe: retries, Other: broken, Bare: &broken, Source: Measured},
			BytesIdle:       same(stray408(), Measured),
			PartialHead:     same(fails(connect+"ClientProtocolException", ""), Measured),
			Silence:         same(fails("java.net.SocketTimeoutException", "Read timed out"), Measured),
			NoAddress:       same(fails("java.net.UnknownHostException", "<host>"), Documented),
			Refused:         same(fails(connect+"HttpHostConnectException", "Connect to <host> failed: Connection refused"), Documented),
			ConnectTimeout:  same(fails(connect+"ConnectTimeoutException", "Connect to <host> failed"), Documented),
			TLSFailure:      same(fails("javax.net.ssl.SSLHandshakeException", ""), Documented),
			Unavailable:     retriedAnswer("the answer 503"),
			RateLimited:     retriedAnswer("the answer 429"),
		},
		Errors: javaErrors(map[string][]string{
			noAnswer:                             {"java.io.IOException"},
			connect + "ClientProtocolException":  {"java.io.IOException"},
			connect + "HttpHostConnectException": {"java.net.ConnectException"},
			connect + "ConnectTimeoutException":  {"java.net.SocketTimeoutException"},
		}),
		Settings: Settings{
			MaxIdle:      "HttpClientBuilder.create().setKeepAliveStrategy((response, context) -> TimeValue.ofMilliseconds({ms}))",
			Validate:     "ConnectionConfig.custom().setValidateAfterInactivity(TimeValue.ofMilliseconds({ms}))",
			TCPKeepAlive: "SocketConfig.custom().setSoKeepAlive(true).setTcpKeepIdle({whole})",
			Timeout:      "RequestConfig.custom().setResponseTimeout(Timeout.ofMilliseconds({ms}))",
		},
	}
}

// retriedAnswer is an answer that HttpClient 5 asks for again once, after 1 s
// or what Retry-After says, when the method is idempotent.
func retriedAnswer(text string) Fact {
	returns := Effect{Does: Returns, Text: text}
	return Fact{Safe: Effect{Does: Retries}, Other: returns, Bare: &returns, Source: Documented}
}

// stray408 is what a client does that takes bytes pushed before its request
// for the answer to it.
func stray408() Effect {
	return Effect{Does: Returns, Text: "the 408 that was pushed while idle, as if it were the answer"}
}

// javaErrors adds the classes of the JDK to a client's own.
func javaErrors(own map[string][]string) map[string][]string {
	for name, parents := range map[string][]string{
		"javax.net.ssl.SSLHandshakeException":       {"javax.net.ssl.SSLException"},
		"javax.net.ssl.SSLException":                {"java.io.IOException"},
		"java.net.UnknownHostException":             {"java.io.IOException"},
		"java.net.ConnectException":                 {"java.net.SocketException"},
		"java.net.SocketException":                  {"java.io.IOException"},
		"java.net.SocketTimeoutException":           {"java.io.InterruptedIOException"},
		"java.io.InterruptedIOException":            {"java.io.IOException"},
		"java.net.ProtocolException":                {"java.io.IOException"},
		"java.net.http.HttpTimeoutException":        {"java.io.IOException"},
		"java.net.http.HttpConnectTimeoutException": {"java.net.http.HttpTimeoutException"},
		"java.io.IOException":                       {"java.lang.Exception"},
		"java.lang.Exception":                       {"java.lang.Throwable"},
	} {
		own[name] = parents
	}
	return own
}

// unlimited is the idle limit of a client that has none.
func unlimited(s Source) IdleLimit {
	return IdleLimit{Limit: probes.Limit{Mode: probes.LimitNone}, Source: s}
}
