package clients

import (
	"time"
)

// requests is Python's requests with a Session (measured: 2.28).
func requests() Client {
	const pkg = "requests.exceptions."
	notices := Effect{Does: Notices}
	return Client{
		Name: "Python requests", Verb: "raises",
		Idle:  unlimited(Documented),
		Looks: readable(),
		Facts: answered(map[Event]Fact{
			ClosedIdle: same(notices, Measured),
			ResetIdle:  same(notices, Measured),
			ClosesOnRequest: same(fails(pkg+"ConnectionError",
				"('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))"), Measured),
			ResetsOnRequest: same(fails(pkg+"ConnectionError",
				"('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))"), Measured),
			BytesIdle:      same(notices, Measured),
			PartialHead:    same(cutHead(), Measured),
			Silence:        same(fails(pkg+"ReadTimeout", "only if the application passed a timeout; else it waits for ever"), Measured),
			NoAddress:      same(fails(pkg+"ConnectionError", "Failed to resolve '<host>'"), Documented),
			Refused:        same(fails(pkg+"ConnectionError", "[Errno 111] Connection refused"), Documented),
			ConnectTimeout: same(fails(pkg+"ConnectTimeout", ""), Documented),
			TLSFailure:     same(fails(pkg+"SSLError", ""), Documented),
		}),
		Errors: map[string][]string{
			pkg + "ConnectionError":  {pkg + "RequestException"},
			pkg + "ReadTimeout":      {pkg + "Timeout"},
			pkg + "Timeout":          {pkg + "RequestException"},
			pkg + "ConnectTimeout":   {pkg + "ConnectionError", pkg + "Timeout"},
			pkg + "SSLError":         {pkg + "ConnectionError"},
			pkg + "RequestException": {"IOError", "OSError"},
			"OSError":                {"Exception"},
		},
		Settings: Settings{
			Timeout: "session.get(url, timeout={s})",
			Caveats: []string{"requests has no idle limit; it drops what is readable when it takes a connection from the pool, so only a close that crosses the request remains."},
		},
	}
}

// urllib3Pool is urllib3's PoolManager (measured: 1.26).
func urllib3Pool() Client {
	const pkg = "urllib3.exceptions."
	retries, notices := Effect{Does: Retries}, Effect{Does: Notices}
	closed := fails(pkg+"ProtocolError",
		"('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))")
	broken := fails(pkg+"ProtocolError",
		"('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))")
	late := fails(pkg+"ReadTimeoutError", "Read timed out.")
	return Client{
		Name: "urllib3 PoolManager", Verb: "raises",
		Idle:  unlimited(Documented),
		Looks: readable(),
		Facts: answered(map[Event]Fact{
			ClosedIdle:      same(notices, Measured),
			ResetIdle:       same(notices, Measured),
			ClosesOnRequest: {Safe: retries, Other: closed, Bare: &closed, Source: Measured},
			ResetsOnRequest: {Safe: retries, Other: broken, Bare: &broken, Source: Measured},
			BytesIdle:       same(notices, Measured),
			PartialHead:     same(cutHead(), Measured),
			Silence:         {Safe: retries, Other: late, Bare: &late, Source: Measured},
			NoAddress:       same(fails(pkg+"MaxRetryError", "Failed to resolve '<host>'"), Documented),
			Refused:         same(fails(pkg+"MaxRetryError", "[Errno 111] Connection refused"), Documented),
			ConnectTimeout:  same(fails(pkg+"MaxRetryError", "timed out"), Documented),
			TLSFailure:      same(fails(pkg+"MaxRetryError", ""), Documented),
		}),
		Errors: map[string][]string{
			pkg + "ProtocolError":    {pkg + "HTTPError"},
			pkg + "ReadTimeoutError": {pkg + "TimeoutError"},
			pkg + "TimeoutError":     {pkg + "HTTPError"},
			pkg + "MaxRetryError":    {pkg + "RequestError"},
			pkg + "RequestError":     {pkg + "HTTPError"},
			pkg + "HTTPError":        {"Exception"},
		},
		Settings: Settings{Timeout: "PoolManager(timeout=Timeout(read={s}))"},
	}
}

// aiohttp is aiohttp's ClientSession (measured: 3.8).
func aiohttp() Client {
	notices := Effect{Does: Notices}
	gone := fails("aiohttp.ServerDisconnectedError", "Server disconnected")
	return Client{
		Name: "aiohttp", Verb: "raises",
		Idle: IdleLimit{Limit: after(15 * time.Second), Source: Documented},
		Looks: Validation{
			Limit: always(), Fixed: true, How: "the transport's state", Source: Documented,
		},
		Facts: answered(map[Event]Fact{
			ClosedIdle:      same(notices, Measured),
			ResetIdle:       same(notices, Measured),
			ClosesOnRequest: same(gone, Measured),
			ResetsOnRequest: same(fails("aiohttp.ClientOSError", "[Errno 104] Connection reset by peer"), Measured),
			BytesIdle:       same(notices, Measured),
			PartialHead:     same(gone, Measured),
			Silence:         same(fails("asyncio.TimeoutError", ""), Measured),
			NoAddress:       same(fails("aiohttp.ClientConnectorError", "Cannot connect to host <host>"), Documented),
			Refused:         same(fails("aiohttp.ClientConnectorError", "Cannot connect to host <host>"), Documented),
			ConnectTimeout:  same(fails("aiohttp.ServerTimeoutError", "Connection timeout to host <host>"), Documented),
			TLSFailure:      same(fails("aiohttp.ClientConnectorSSLError", ""), Documented),
		}),
		Errors: map[string][]string{
			"aiohttp.ServerDisconnectedError": {"aiohttp.ServerConnectionError"},
			"aiohttp.ServerTimeoutError":      {"aiohttp.ServerConnectionError", "asyncio.TimeoutError"},
			"aiohttp.ServerConnectionError":   {"aiohttp.ClientConnectionError"},
			"aiohttp.ClientConnectorSSLError": {"aiohttp.ClientConnectorError"},
			"aiohttp.ClientConnectorError":    {"aiohttp.ClientOSError"},
			"aiohttp.ClientOSError":           {"aiohttp.ClientConnectionError", "OSError"},
			"aiohttp.ClientConnectionError":   {"aiohttp.ClientError"},
			"aiohttp.ClientError":             {"Exception"},
			"asyncio.TimeoutError":            {"Exception"},
			"OSError":                         {"Exception"},
		},
		Settings: Settings{
			MaxIdle: "aiohttp.TCPConnector(keepalive_timeout={s})",
			Timeout: "aiohttp.ClientTimeout(total={s})",
		},
	}
}

// httpx is httpx (measured: 0.23).
func httpx() Client {
	notices := Effect{Does: Notices}
	gone := fails("httpx.RemoteProtocolError", "Server disconnected without sending a response.")
	return Client{
		Name: "httpx", Verb: "raises",
		Idle:  IdleLimit{Limit: after(5 * time.Second), Source: Documented},
		Looks: readable(),
		Facts: answered(map[Event]Fact{
			ClosedIdle:      same(notices, Measured),
			ResetIdle:       same(notices, Measured),
			ClosesOnRequest: same(gone, Measured),
			ResetsOnRequest: same(fails("httpx.ReadError", "[Errno 104] Connection reset by peer"), Measured),
			BytesIdle:       same(notices, Measured),
			PartialHead:     same(gone, Measured),
			Silence:         same(fails("httpx.ReadTimeout", "The read operation timed out"), Measured),
			NoAddress:       same(fails("httpx.ConnectError", "[Errno -2] Name or service not known"), Documented),
			Refused:         same(fails("httpx.ConnectError", "[Errno 111] Connection refused"), Documented),
			ConnectTimeout:  same(fails("httpx.ConnectTimeout", "timed out"), Documented),
			TLSFailure:      same(fails("httpx.ConnectError", ""), Documented),
		}),
		Errors: map[string][]string{
			"httpx.RemoteProtocolError": {"httpx.ProtocolError"},
			"httpx.ProtocolError":       {"httpx.TransportError"},
			"httpx.ReadError":           {"httpx.NetworkError"},
			"httpx.ConnectError":        {"httpx.NetworkError"},
			"httpx.NetworkError":        {"httpx.TransportError"},
			"httpx.ReadTimeout":         {"httpx.TimeoutException"},
			"httpx.ConnectTimeout":      {"httpx.TimeoutException"},
			"httpx.TimeoutException":    {"httpx.TransportError"},
			"httpx.TransportError":      {"httpx.RequestError"},
			"httpx.RequestError":        {"httpx.HTTPError"},
			"httpx.HTTPError":           {"Exception"},
		},
		Settings: Settings{
			MaxIdle: "httpx.Limits(keepalive_expiry={s})",
			Timeout: "httpx.Timeout({s})",
		},
	}
}

// readable is Python's way of looking: a socket that can be read is dropped.
func readable() Validation {
	return Validation{Limit: always(), Fixed: true, How: "a readable socket is dropped", Source: Documented}
}

// cutHead is what the standard library's parser makes of half a head.
func cutHead() Effect {
	return Effect{Does: Returns, Text: "200 with no error, though the head was cut off"}
}
