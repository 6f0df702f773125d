package clients

import "time"

// nodeHTTP is node:http with an Agent that keeps connections (measured: Node
// 20).
func nodeHTTP() Client {
	notices := Effect{Does: Notices}
	return Client{
		Name: "Node http.Agent", Verb: "fails with",
		Idle: IdleLimit{Limit: none(), Hint: true, Margin: time.Second, Source: Documented},
		Looks: Validation{
			Limit: always(), Fixed: true, How: "the socket's events", Source: Documented,
		},
		Facts: answered(map[Event]Fact{
			ClosedIdle:      same(notices, Measured),
			ResetIdle:       same(notices, Measured),
			ClosesOnRequest: same(fails("ECONNRESET", "socket hang up"), Measured),
			ResetsOnRequest: same(fails("ECONNRESET", "read ECONNRESET"), Measured),
			BytesIdle:       same(notices, Measured),
			PartialHead:     same(fails("ECONNRESET", "socket hang up"), Measured),
			Silence:         same(fails("ETIMEDOUT", "only if the application set a timeout and destroys the request on it; else it waits for ever"), Measured),
			NoAddress:       same(fails("ENOTFOUND", "getaddrinfo ENOTFOUND <host>"), Documented),
			Refused:         same(fails("ECONNREFUSED", "connect ECONNREFUSED <host>"), Documented),
			ConnectTimeout:  same(fails("ETIMEDOUT", "connect ETIMEDOUT <host>"), Documented),
		}),
		Errors: map[string][]string{
			"ECONNRESET": {"Error"}, "ETIMEDOUT": {"Error"}, "ENOTFOUND": {"Error"}, "ECONNREFUSED": {"Error"},
		},
		Settings: Settings{
			MaxIdle:      "new http.Agent({keepAlive: true, timeout: {ms}})",
			TCPKeepAlive: "new http.Agent({keepAlive: true, keepAliveMsecs: {ms}})",
			Timeout:      "http.request({timeout: {ms}}), and request.destroy() in its 'timeout' event",
		},
	}
}

// undici is Node's fetch (measured: Node 20).
func undici() Client {
	notices := Effect{Does: Notices}
	closed := fails("UND_ERR_SOCKET", "fetch failed (other side closed)")
	return Client{
		Name: "Node fetch (undici)", Verb: "fails with",
		Idle: IdleLimit{Limit: after(4 * time.Second), Hint: true, Margin: 2 * time.Second, Source: Documented},
		Looks: Validation{
			Limit: always(), Fixed: true, How: "the socket's events", Source: Documented,
		},
		Facts: answered(map[Event]Fact{
			ClosedIdle:      same(notices, Measured),
			ResetIdle:       same(notices, Measured),
			ClosesOnRequest: same(closed, Measured),
			ResetsOnRequest: same(fails("ECONNRESET", "fetch failed (read ECONNRESET)"), Measured),
			BytesIdle:       same(notices, Measured),
			PartialHead:     same(closed, Measured),
			Silence:         same(fails("UND_ERR_HEADERS_TIMEOUT", "fetch failed (Headers Timeout Error)"), Measured),
			NoAddress:       same(fails("ENOTFOUND", "fetch failed (getaddrinfo ENOTFOUND <host>)"), Documented),
			Refused:         same(fails("ECONNREFUSED", "fetch failed (connect ECONNREFUSED <host>)"), Documented),
			ConnectTimeout:  same(fails("UND_ERR_CONNECT_TIMEOUT", "fetch failed (Connect Timeout Error)"), Documented),
		}),
		Errors: map[string][]string{
			"UND_ERR_SOCKET": {"SocketError", "TypeError"}, "ECONNRESET": {"TypeError"},
			"UND_ERR_HEADERS_TIMEOUT": {"HeadersTimeoutError", "TypeError"},
			"UND_ERR_CONNECT_TIMEOUT": {"ConnectTimeoutError", "TypeError"},
			"ENOTFOUND":               {"TypeError"}, "ECONNREFUSED": {"TypeError"}, "TypeError": {"Error"},
		},
		Settings: Settings{
			MaxIdle: "setGlobalDispatcher(new Agent({keepAliveTimeout: {ms}, keepAliveMaxTimeout: {ms}}))",
			Timeout: "fetch(url, {signal: AbortSignal.timeout({ms})})",
		},
	}
}
