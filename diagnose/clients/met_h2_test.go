package clients

import (
	"testing"
	"time"

	"perch.example/probes"
)

// TestMetOverHTTP2: httpx uses what said GOAWAY, Go does not, and of clients that
// were not measured over HTTP/2 nothing is said.
func TestMetOverHTTP2(t *testing.T) {
	path := Path{Timeout: time.Minute, End: probes.ReasonIdleGoaway, HTTP2: true}
	got := map[string]probes.ClientOutcome{}
	for _, o := range Met(path, "lab") {
		got[o.Kind] = o
	}
	if o := got["go-net-http"]; o.Result != probes.ClientNotices || o.Band != nil {
		t.Errorf("Go: %+v", o)
	}
	path.Timeout = 4 * time.Second // httpx drops what was idle for 5 s
	if o := met(probes.Client{Kind: "httpx", HTTP2: true}, path, "lab"); o.Result != probes.ClientFails || o.Band == nil || o.Post == "" {
		t.Errorf("httpx: %+v", o)
	}
	for _, kind := range []string{"requests", "apache-httpclient-4.5", "okhttp"} {
		if o, ok := got[kind]; ok {
			t.Errorf("%s: %+v, want nothing: it was not measured", kind, o)
		}
		if band := BandOn(probes.Client{Kind: kind}, path); band != nil {
			t.Errorf("%s: a danger band %+v, want none: it was not measured", kind, band)
		}
	}
}
