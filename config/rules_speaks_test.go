package config

import (
	"strings"
	"testing"
)

// A probe that measures over another HTTP than the client speaks is allowed, and
// doubted.
func TestDoubtSpoken(t *testing.T) {
	const ping, none = "http2_ping is of HTTP/2", "speaks no HTTP/2"
	for _, tt := range []struct{ client, protocol, url, want string }{
		{"go-net-http, http2_ping: 20s", "http/1.1", "https", ping},
		{"go-net-http, http2_ping: 20s", "auto", "http", ping},
		{"go-net-http, http2_ping: 20s", "auto", "https", ""},
		{"go-net-http, http2_ping: 20s", "h2", "https", ""},
		{"requests", "h2", "https", none},
		{"requests", "h2c", "http", none},
		{"requests", "http/1.1", "https", ""},
		{"okhttp", "h2", "https", ""},
		{"abacus", "h2", "https", ""},
	} {
		config := "version: 1\nname: team\ntargets:\n  - name: api\n    url: " + tt.url + "://api.example/\n    rate_limit: 1/s\n    protocol: " + tt.protocol +
			"\n    client: {kind: " + tt.client + "}\n    probes:\n      - {name: idle, kind: idle, keep_alive: 60s}\n"
		c, err := Parse(Options{}, File{"perch.yaml", []byte(config)})
		if err != nil {
			t.Errorf("%+v: %v", tt, err)
			continue
		}
		if got := strings.Join(c.Warnings, "\n"); (tt.want == "") == (strings.Contains(got, ping) || strings.Contains(got, none)) || !strings.Contains(got, tt.want) {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}
