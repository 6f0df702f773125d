package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestIdleRefusesInItsOwnWords: what a flag cannot be is told of the flag, and
// not of the config that is made of it.
func TestIdleRefusesInItsOwnWords(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]string{
		"--max 999ms":      "--max 999ms: want 1s to 24h",
		"--max 24h0m1s":    "--max 24h0m1s: want 1s to 24h",
		"--max 2540400h":   "--max 2540400h0m0s: want 1s to 24h",
		"--max -1s":        "--max -1s: want 1s to 24h",
		"--connections 21": "--connections 21: want 1 to 20",
		"--protocol h3":    `--protocol: got "h3"; want http/1.1, h2, h2c or auto`,
		"--protocol h2":    "--protocol: h2 is spoken over TLS",
		"--proxy ftp://x":  `--proxy: got "ftp://x"; want none, environment, or a URL`,
	} {
		r := perch(t.Context(), nil, append([]string{"idle", "http://127.0.0.1:1"}, strings.Fields(flags)...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, want) || strings.Contains(r.stderr, "targets[") {
			t.Errorf("%s: exit status %d, %q, want 2 and %q", flags, r.code, r.stderr, want)
		}
	}
}

// TestIdleSpeaksWhatItIsTold: HTTP/2 has a timeout of its own, and the report says
// which of the two was measured.
func TestIdleSpeaksWhatItIsTold(t *testing.T) {
	t.Parallel()
	var both http.Protocols
	both.SetHTTP1(true)
	both.SetUnencryptedHTTP2(true)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.Protocols = &both
	server.Start()
	t.Cleanup(server.Close)
	for protocol, want := range map[string]string{"http/1.1": " · HTTP/1.1\n", "h2c": " · HTTP/2\n", "auto": " · HTTP/1.1\n"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			r := perch(t.Context(), nil, "idle", "--max", "1s", "--connections", "1", "--rate", "20/s", "--protocol", protocol, "--proxy", "none", server.URL)
			if r.code != exitOK || !strings.Contains(r.stdout, want) {
				t.Errorf("exit status %d: %s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
}
