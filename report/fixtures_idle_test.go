package report

import (
	"time"

	"perch.example/probes"
)

const (
	resends = "writes to the dead connection, then silently sends again on a new one"
	notices = "notices that it is dead and opens a new connection"
)

// metClients are some common clients on a path that closes after a second, each
// kind of harm once.
func metClients() []probes.ClientOutcome {
	band := &probes.Band{From: time.Second, To: 2 * time.Second}
	const retried, fails = probes.ClientRetries, probes.ClientFails
	all := []probes.ClientOutcome{
		{
			Kind: "apache-httpclient-4.5", Band: band, Experiences: resends, Result: retried, PostResult: fails,
			Post: "throws org.apache.http.NoHttpResponseException: api-partner-example failed to respond",
			Safe: "HttpClientBuilder.create().setKeepAliveStrategy((response, context) -> 900)",
		},
		{
			Kind: "apache-httpclient-5.2", Band: band, Experiences: resends, Result: retried, PostResult: fails,
			Post: "throws org.apache.hc.core5.http.NoHttpResponseException: api-partner-example failed to respond",
			Safe: "HttpClientBuilder.create().setKeepAliveStrategy((response, context) -> TimeValue.ofMilliseconds(900))",
		},
		{Kind: "libcurl", Band: &probes.Band{From: time.Second, Open: true}, Experiences: resends, Result: retried, PostResult: retried},
		{Kind: "jdk-httpclient", Experiences: "does not use it: it drops what was idle for 0.5 s", Result: probes.ClientNotices, PostResult: probes.ClientNotices},
	}
	for _, kind := range []string{"okhttp", "node-http", "requests", "httpx", "go-net-http"} {
		all = append(all, probes.ClientOutcome{Kind: kind, Experiences: notices, Result: probes.ClientNotices, PostResult: probes.ClientNotices})
	}
	return all
}

// silentSearch is `perch idle` on a path that forgets connections without a
// word: looking sees nothing, so that most clients have a band.
func silentSearch() probes.Run {
	run := search()
	band := func(to time.Duration) *probes.Band {
		return &probes.Band{From: 61 * time.Second, To: to, Open: to == 0}
	}
	const fails = probes.ClientFails
	run.Clients = []probes.ClientOutcome{
		{
			Kind: "apache-httpclient-4.5", Band: band(0), Experiences: "throws java.net.SocketTimeoutException: Read timed out", Result: fails, PostResult: fails,
			Safe: "HttpClientBuilder.create().setKeepAliveStrategy((response, context) -> 54000)",
		},
		{
			Kind: "urllib3", Band: band(0), Experiences: resends, Result: probes.ClientRetries, PostResult: fails,
			Post: "raises urllib3.exceptions.ReadTimeoutError: Read timed out.",
			Safe: "PoolManager(socket_options=HTTPConnection.default_socket_options + [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 54)])",
		},
		{
			Kind: "go-net-http", Band: band(90 * time.Second), Result: fails, PostResult: fails, Safe: "&http.Transport{IdleConnTimeout: 54 * time.Second}",
			Experiences: "returns the error context.DeadlineExceeded: context deadline exceeded (only if the application set a timeout; else it waits for ever)",
		},
		{Kind: "curl", Band: band(0)},
		{Kind: "node-fetch", Experiences: "does not use it: it drops what was idle for 4 s", Result: probes.ClientNotices},
	}
	return run
}
