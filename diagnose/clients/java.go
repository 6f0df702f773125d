package clients

import "time"

// okHTTP is OkHttp (measured: 3.13.1, which noticed every close at 1.5 s idle;
// the documentation of later versions speaks of a check after 10 s only).
func okHTTP() Client {
	retries, notices := Effect{Does: Retries}, Effect{Does: Notices}
	closed := fails("java.io.IOException", "unexpected end of stream on <host>")
	broken := fails("java.net.SocketException", "Connection reset")
	return Client{
		Name: "OkHttp 3", Verb: "throws",
		Idle: IdleLimit{Limit: after(5 * time.Minute), Source: Documented},
		Looks: Validation{
			Limit: always(), Fixed: true, How: "the socket's state at checkout", Source: Measured,
		},
		Facts: answered(map[Event]Fact{
			ClosedIdle:      same(notices, Measured),
			ResetIdle:       same(notices, Measured),
			ClosesOnRequest: {Safe: retries, Other: retries, Bare: &closed, Source: Measured},
			ResetsOnRequest: {Safe: retries, Other: retries, Bare: &broken, Source: Measured},
			BytesIdle:       same(notices, Measured),
			PartialHead:     {Safe: retries, Other: retries, Bare: &closed, Source: Measured},
			Silence:         same(fails("java.net.SocketTimeoutException", "timeout"), Measured),
			NoAddress:       same(fails("java.net.UnknownHostException", "<host>"), Documented),
			Refused:         same(fails("java.net.ConnectException", "Failed to connect to <host>"), Documented),
			ConnectTimeout:  same(fails("java.net.SocketTimeoutException", "connect timed out"), Documented),
			TLSFailure:      same(fails("javax.net.ssl.SSLHandshakeException", ""), Documented),
		}),
		Errors: javaErrors(map[string][]string{}),
		Settings: Settings{
			MaxIdle: "new ConnectionPool(5, {ms}, TimeUnit.MILLISECONDS)",
			Timeout: "OkHttpClient.Builder().readTimeout({ms}, TimeUnit.MILLISECONDS)",
		},
	}
}

// jdkHTTPClient is java.net.http.HttpClient (measured: JDK 17).
func jdkHTTPClient() Client {
	retries, notices := Effect{Does: Retries}, Effect{Does: Notices}
	noBytes := fails("java.io.IOException", "HTTP/1.1 header parser received no bytes")
	return Client{
		Name: "JDK HttpClient", Verb: "throws",
		Idle: IdleLimit{Limit: after(30 * time.Second), Source: Documented},
		Looks: Validation{
			Limit: always(), Fixed: true, How: "a read in the background", Source: Documented,
		},
		Facts: answered(map[Event]Fact{
			ClosedIdle:      same(notices, Measured),
			ResetIdle:       same(notices, Measured),
			ClosesOnRequest: {Safe: retries, Other: noBytes, Bare: &noBytes, Source: Measured},
			ResetsOnRequest: {Safe: retries, Other: noBytes, Bare: &noBytes, Source: Measured},
			BytesIdle:       same(notices, Measured),
			PartialHead:     same(fails("java.io.IOException", ""), Measured),
			Silence:         same(fails("java.net.http.HttpTimeoutException", "request timed out"), Measured),
			NoAddress:       same(fails("java.net.ConnectException", ""), Documented),
			Refused:         same(fails("java.net.ConnectException", "Connection refused"), Documented),
			ConnectTimeout:  same(fails("java.net.http.HttpConnectTimeoutException", "HTTP connect timed out"), Documented),
			TLSFailure:      same(fails("javax.net.ssl.SSLHandshakeException", ""), Documented),
		}),
		Errors: javaErrors(map[string][]string{}),
		Settings: Settings{
			MaxIdle: "-Djdk.httpclient.keepalive.timeout={whole}",
			Timeout: "HttpRequest.newBuilder().timeout(Duration.ofMillis({ms}))",
		},
	}
}

// urlConnection is java.net.HttpURLConnection (measured: JDK 17).
func urlConnection() Client {
	retries, notices := Effect{Does: Retries}, Effect{Does: Notices}
	closed := fails("java.net.SocketException", "Unexpected end of file from server")
	broken := fails("java.net.SocketException", "Connection reset")
	return Client{
		Name: "HttpURLConnection", Verb: "throws",
		Idle: IdleLimit{Limit: after(5 * time.Second), Hint: true, Source: Documented},
		Looks: Validation{
			Limit: always(), Fixed: true, How: "a read of 1 ms at checkout", Source: Measured,
		},
		Facts: answered(map[Event]Fact{
			ClosedIdle:      same(notices, Measured),
			ResetIdle:       same(notices, Measured),
			ClosesOnRequest: {Safe: retries, Other: retries, Bare: &closed, Source: Measured},
			ResetsOnRequest: {Safe: retries, Other: retries, Bare: &broken, Source: Measured},
			BytesIdle:       {Safe: stray408(), Other: notices, Source: Measured},
			PartialHead:     same(Effect{Does: Returns, Text: "200 with no error, though the head was cut off"}, Measured),
			Silence:         same(fails("java.net.SocketTimeoutException", "Read timed out"), Measured),
			NoAddress:       same(fails("java.net.UnknownHostException", "<host>"), Documented),
			Refused:         same(fails("java.net.ConnectException", "Connection refused"), Documented),
			ConnectTimeout:  same(fails("java.net.SocketTimeoutException", "connect timed out"), Documented),
			TLSFailure:      same(fails("javax.net.ssl.SSLHandshakeException", ""), Documented),
		}),
		Errors: javaErrors(map[string][]string{}),
		Settings: Settings{
			Timeout: "HttpURLConnection.setReadTimeout({ms})",
		},
	}
}
