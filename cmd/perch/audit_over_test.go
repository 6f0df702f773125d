package main

import (
	"strings"
	"testing"
)

// TestAuditOverOtherProtocols: what a client does over HTTP/1.1 is not said of its
// HTTP/2, and what HTTP clients do is not said of gRPC.
func TestAuditOverOtherProtocols(t *testing.T) {
	t.Parallel()
	const goClient, apache = "go-net-http", "apache-httpclient-4.5"
	for _, tt := range []struct {
		name, client, probe string
		code                int
		says                []string
		not                 string
	}{
		{"http/1.1", goClient, "kind: http", exitOK, []string{"COVERED"}, "idle_goaway"},
		{"h2", goClient, "kind: http, protocol: h2", exitFindings, []string{"MISSED", "over HTTP/2", "goaway_processed", "idle_goaway"}, "idle_bytes"},
		{"auto", goClient, "kind: http, protocol: auto", exitFindings, []string{"the retry lists of a miss", "Go net/http (go-net-http) over HTTP/2", "idle_bytes"}, "a and a"},
		{"grpc", goClient, "kind: grpc", exitOK, []string{"NOTHING TO AUDIT", "NOT JUDGED: a over gRPC"}, "COVERED"},
		{"a client without HTTP/2", apache, "kind: idle, protocol: h2, keep_alive: 10s", exitOK, []string{"NOT JUDGED: a over HTTP/2: Apache HttpClient 4.5 speaks HTTP/1.1 only"}, "COVERED"},
		{"a handshake alone", goClient, "kind: tls", exitOK, []string{"COVERED"}, "HTTP/2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := configFile(t, "", `version: 1
targets:
  - name: a
    url: https://api.example
    client: {kind: `+tt.client+`, retry: {layer: inside, attempts: 2, errors: ["*net.DNSError", "*net.OpError", "*url.Error", timeout, java.io.IOException]}}
    probes: [{name: p, `+tt.probe+`}]
`)
			r := perch(t.Context(), nil, "audit", "--config", path)
			text := strings.Join(strings.Fields(r.stdout), " ")
			t.Log(r.stdout, r.stderr)
			if r.code != tt.code || strings.Contains(text, tt.not) {
				t.Errorf("exit status %d, want %d, and no %q", r.code, tt.code, tt.not)
			}
			want(t, "the audit", text, tt.says...)
		})
	}
}
