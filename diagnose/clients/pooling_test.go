package clients

import (
	"testing"

	"perch.example/probes"
)

// TestPoolOrders: what each client's source says of several idle connections.
func TestPoolOrders(t *testing.T) {
	want := map[string]probes.PoolOrder{
		"apache-httpclient-4.5": probes.PoolLIFO, "apache-httpclient-5.2": probes.PoolLIFO, "okhttp": probes.PoolOldest,
		"jdk-httpclient": probes.PoolFIFO, "httpurlconnection": probes.PoolLIFO, "reactor-netty": probes.PoolFIFO,
		"node-http": probes.PoolLIFO, "node-fetch": probes.PoolOldest, "requests": probes.PoolLIFO, "urllib3": probes.PoolLIFO,
		"aiohttp": probes.PoolLIFO, "httpx": probes.PoolLIFO, "libcurl": probes.PoolOldest, "go-net-http": probes.PoolLIFO,
		"dotnet-httpclient": probes.PoolLIFO,
	}
	for _, kind := range Kinds() {
		if got := PoolOrder(kind); got != want[kind] {
			t.Errorf("%s: %q, want %q", kind, got, want[kind])
		}
	}
	if got := PoolOrder("netscape"); got != "" {
		t.Errorf("an unknown client: %q", got)
	}
}

func TestPoolWords(t *testing.T) {
	for order, want := range map[probes.PoolOrder]string{
		probes.PoolLIFO:   "the one that was used last (LIFO); by default",
		probes.PoolFIFO:   "the one that has been idle for longest (FIFO); by default",
		probes.PoolOldest: "the one that was opened first; by default",
	} {
		if got := (Client{Pool: Pooling{Order: order, How: "by default"}}).poolWords(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
