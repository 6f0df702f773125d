package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// closesEarly is a server that ends what was idle for 200 ms.
func closesEarly(t *testing.T) string {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.IdleTimeout = 200 * time.Millisecond
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

func callsFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "calls.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBurstPredicts: a burst measures, and what it measured is said of the declared shape and of the file.
func TestBurstPredicts(t *testing.T) {
	t.Parallel()
	const text = `
version: 1
name: shop
targets:
  - name: stock
    url: ${URL}
    rate_limit: 1000/s
    share: 100%
    max_connections: 20
    client: {kind: apache-httpclient-4.5, automatic_retries: none}
    probes:
      - {name: burst, kind: burst, path: /, requests: 10, over: 100ms, connections: 5, bursts: 2, gap: 500ms, every: 1h, calls: CALLS}
`
	calls := callsFile(t, "1.0 0.001\n2.0 0.001\n3.0 0.001\n3.1 0.001\n")
	path := configFile(t, closesEarly(t), strings.ReplaceAll(text, "CALLS", calls))
	calmly(t, func() string { // what burst 1 leaves for longer than 200 ms is closed in its middle
		r := perch(t.Context(), nil, "run", "--all", "--config", path)
		if r.code != exitFindings {
			return fmt.Sprintf("exit status %d: %s%s", r.code, r.stdout, r.stderr)
		}
		return lacks("the report", flat(r.stdout),
			"20 calls in 2 bursts through 5 connections (LIFO): 5 of",
			"Predicted from the declared shape: of the application's 200 calls (apache-httpclient-4.5, a pool of 5, LIFO)",
			"Predicted from calls.txt (1 ms a call in the median): of the application's 4 calls (apache-httpclient-4.5, a pool of 5, LIFO) 25% meet a dead connection and 25% fail for it",
			"5 of 10 calls of burst 2 drew a connection that the path had closed",
		)
	})
}

// flat is a report on one line.
func flat(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\u00a0", " ")), " ")
}

// TestIdlePredicts: perch idle says the same without a config, for one client or for all that would meet a dead connection.
func TestIdlePredicts(t *testing.T) {
	t.Parallel()
	url, calls := closesEarly(t), callsFile(t, "1.0 0.001\n9.0 0.001\n") // far longer apart than any close that a busy machine makes late
	for client, said := range map[string]string{
		"okhttp": "Predicted from calls.txt (1 ms a call in the median): of the application's 2 calls (okhttp, a pool of 3, oldest first) 50% meet a dead connection and none fail for it",
		"":       "of the application's 2 calls these meet a dead connection, by client:",
	} {
		args := []string{"idle", url, "--max", "1s", "--connections", "1", "--rate", "20/s", "--proxy", "none", "--calls", calls, "--pool", "3"}
		if client != "" {
			args = append(args, "--client", client)
		}
		r := perch(t.Context(), nil, args...)
		want(t, "the report", flat(r.stdout), said)
	}
}

// TestIdleRefusesCalls: what cannot be read is told before anything is sent, and nothing of what it holds.
func TestIdleRefusesCalls(t *testing.T) {
	t.Parallel()
	secret := callsFile(t, "geheim\ngeheim\n")
	good := callsFile(t, "1.5\n")
	for flags, said := range map[string]string{
		"--calls " + secret:                      "calls.txt:2: no time of a call",
		"--calls /nonexistent":                   "--calls: stat /nonexistent: no such file",
		"--calls /dev/null":                      `--calls: "/dev/null" is not a regular file`,
		"--client okhttp":                        "--client and --pool say through which pool the calls of --calls FILE go",
		"--calls " + good + " --pool -1":         "--pool -1: want the number of the pool's connections",
		"--calls " + good + " --client netscape": `--client "netscape": want one of apache-httpclient-4.5`,
	} {
		r := perch(t.Context(), nil, append([]string{"idle", "http://127.0.0.1:1"}, strings.Fields(flags)...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, said) || strings.Contains(r.stderr, "geheim") {
			t.Errorf("%s: exit status %d, %q, want 2 and %q", flags, r.code, r.stderr, said)
		}
	}
}

// TestCallLogsAreReadOnce: a file is read again when it has changed, and only then.
func TestCallLogsAreReadOnce(t *testing.T) {
	t.Parallel()
	path := callsFile(t, "1.5\n2.5\n")
	var logs callLogs
	first, err := logs.read(path)
	if err != nil || len(first.Calls) != 2 {
		t.Fatalf("%+v, %v", first, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("1.5\n9.5\n"), 0o600); err != nil { // of the same size
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if again, err := logs.read(path); err != nil || again.Calls[1] != first.Calls[1] {
		t.Errorf("read again though it looks the same: %+v, %v", again, err)
	}
	if err := os.Chtimes(path, time.Time{}, info.ModTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if again, err := logs.read(path); err != nil || again.Calls[1].At != 8*time.Second {
		t.Errorf("not read again though it has changed: %+v, %v", again, err)
	}
}
