package clients

// Environment says whether a client takes its proxy from HTTPS_PROXY, HTTP_PROXY
// and NO_PROXY by itself.
type Environment struct {
	Reads bool
	All   bool   // ALL_PROXY as well
	How   string // where it does not: what makes it; where it does: what keeps it from it
}

// ReadsEnvironment says that of a kind; false: the catalog does not know it. Its
// facts are the vendors' documentation (D).
func ReadsEnvironment(kind string) (Environment, bool) {
	const java = "Java has system properties in its place, such as https.proxyHost"
	switch kind {
	case "apache-httpclient-4.5", "apache-httpclient-5.2":
		return Environment{How: java + ", and this client reads those only with useSystemProperties()"}, true
	case "okhttp", "jdk-httpclient", "httpurlconnection":
		return Environment{How: java}, true
	case "reactor-netty":
		return Environment{How: java + ", and this client reads those only with proxyWithSystemProperties()"}, true
	case "node-http", "node-fetch":
		return Environment{How: "it takes a proxy from an agent that the application gives it, or with NODE_USE_ENV_PROXY=1 in Node 24 and later"}, true
	case "urllib3":
		return Environment{How: "it takes a proxy as a ProxyManager"}, true
	case "aiohttp":
		return Environment{How: "it does with trust_env=True"}, true
	case "go-net-http":
		return Environment{Reads: true, How: "a Transport of its own with no Proxy does not"}, true
	case "requests", "httpx":
		return Environment{Reads: true, All: true, How: "with trust_env=False it does not"}, true
	case "libcurl":
		return Environment{Reads: true, All: true, How: `with CURLOPT_PROXY "" it does not`}, true
	case "dotnet-httpclient":
		return Environment{Reads: true, All: true, How: "with UseProxy = false it does not"}, true
	default:
		return Environment{}, false
	}
}
