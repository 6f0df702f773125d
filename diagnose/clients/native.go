package clients

import "time"

// goNetHTTP is Go's http.Transport.
func goNetHTTP() Client {
	retries, notices := Effect{Does: Retries}, Effect{Does: Notices}
	closed := fails("io.EOF", "EOF")
	broken := fails("syscall.ECONNRESET", "read: connection reset by peer")
	return Client{
		Name: "Go net/http", Verb: "returns the error",
		Idle: IdleLimit{Limit: after(90 * time.Second), Source: Documented},
		Looks: Validation{
			Limit: always(), Fixed: true, How: "a read in the background", Source: Documented,
		},
		Facts: answered(map[Event]Fact{
			ClosedIdle:      same(notices, Measured),
			ResetIdle:       same(notices, Measured),
			ClosesOnRequest: {Safe: retries, Other: closed, Bare: &closed, Source: Measured},
			ResetsOnRequest: {Safe: retries, Other: broken, Bare: &broken, Source: Measured},
			BytesIdle:       same(notices, Measured),
			PartialHead:     same(fails("textproto.ProtocolError", "malformed MIME header"), Measured),
			Silence:         same(fails("context.DeadlineExceeded", "only if the application set a timeout; else it waits for ever"), Measured),
			NoAddress:       same(fails("*net.DNSError", "lookup <host>: no such host"), Documented),
			Refused:         same(fails("syscall.ECONNREFUSED", "connect: connection refused"), Documented),
			ConnectTimeout:  same(fails("os.ErrDeadlineExceeded", "dial tcp <host>: i/o timeout"), Documented),
			TLSFailure:      same(fails("*tls.CertificateVerificationError", ""), Documented),
		}),
		// Go wraps: errors.Is and errors.As see each of them inside *url.Error.
		Errors: map[string][]string{
			"io.EOF":                            {"*url.Error"},
			"syscall.ECONNRESET":                {"*net.OpError", "*url.Error"},
			"textproto.ProtocolError":           {"*url.Error"},
			"context.DeadlineExceeded":          {"*url.Error", "net.Error"},
			"*net.DNSError":                     {"*net.OpError", "*url.Error", "net.Error"},
			"syscall.ECONNREFUSED":              {"*net.OpError", "*url.Error"},
			"os.ErrDeadlineExceeded":            {"*net.OpError", "*url.Error", "net.Error"},
			"*tls.CertificateVerificationError": {"*url.Error"},
		},
		Settings: Settings{
			MaxIdle:      "http.Transport{IdleConnTimeout: {go}}",
			TCPKeepAlive: "net.Dialer{KeepAlive: {go}}",
			Timeout:      "http.Client{Timeout: {go}}",
		},
	}
}

// libcurl is libcurl with its connection cache (measured: 7.88).
func libcurl() Client {
	retries, notices := Effect{Does: Retries}, Effect{Does: Notices}
	return Client{
		Name: "libcurl", Verb: "returns",
		Idle: IdleLimit{Limit: after(118 * time.Second), Source: Documented},
		Looks: Validation{
			Limit: always(), Fixed: true, How: "the socket's state at checkout", Source: Measured,
		},
		Facts: answered(map[Event]Fact{
			ClosedIdle:      same(notices, Measured),
			ResetIdle:       same(notices, Measured),
			ClosesOnRequest: same(retries, Measured),
			ResetsOnRequest: same(retries, Measured),
			BytesIdle:       same(stray408(), Measured),
			PartialHead:     same(Effect{Does: Returns, Text: "200 with no error, though the head was cut off"}, Measured),
			Silence:         same(fails("CURLE_OPERATION_TIMEDOUT", "only if a timeout was set; else it waits for ever"), Measured),
			NoAddress:       same(fails("CURLE_COULDNT_RESOLVE_HOST", "Could not resolve host: <host>"), Documented),
			Refused:         same(fails("CURLE_COULDNT_CONNECT", "Failed to connect to <host>"), Documented),
			ConnectTimeout:  same(fails("CURLE_OPERATION_TIMEDOUT", "Connection timed out"), Documented),
			TLSFailure:      same(fails("CURLE_SSL_CONNECT_ERROR", ""), Documented),
		}),
		Errors: map[string][]string{},
		Settings: Settings{
			MaxIdle:      "curl_easy_setopt(h, CURLOPT_MAXAGE_CONN, {whole}L)",
			TCPKeepAlive: "curl_easy_setopt(h, CURLOPT_TCP_KEEPIDLE, {whole}L) with CURLOPT_TCP_KEEPALIVE",
			Timeout:      "curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, {ms}L)",
		},
	}
}
