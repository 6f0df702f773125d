package clients

// Speaks says which clients speak HTTP/2, and where they choose it by themselves.
type Speaks struct {
	HTTP2   bool   // it can
	Chooses bool   // over TLS it does so by itself, where the server does
	How     string // what it takes where it does not choose it; empty: it chooses it, or it cannot
}

// SpeaksHTTP2 returns what is known of a kind of client; false: nothing is.
func SpeaksHTTP2(kind string) (Speaks, bool) {
	switch kind {
	case "okhttp", "jdk-httpclient", "libcurl", "go-net-http":
		return Speaks{HTTP2: true, Chooses: true}, true
	case "reactor-netty":
		return Speaks{HTTP2: true, How: "HttpClient.protocol(HttpProtocol.H2)"}, true
	case "node-fetch":
		return Speaks{HTTP2: true, How: "new Agent({allowH2: true})"}, true
	case "httpx":
		return Speaks{HTTP2: true, How: "Client(http2=True)"}, true
	case "dotnet-httpclient":
		return Speaks{HTTP2: true, How: "DefaultRequestVersion = HttpVersion.Version20"}, true
	case "apache-httpclient-4.5", "apache-httpclient-5.2", "httpurlconnection", "node-http", "requests", "urllib3", "aiohttp":
		return Speaks{}, true
	default:
		return Speaks{}, false
	}
}
