package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	calllog "perch.example/diagnose/calls"
	"perch.example/diagnose/clients"
)

// TestSourceOf: what of a file is not as one may think is said where it is named.
func TestSourceOf(t *testing.T) {
	t.Parallel()
	two := make([]clients.Call, 2)
	for _, tt := range []struct {
		log  calllog.Log
		want string
	}{
		{calllog.Log{Calls: two, Lines: 2, Took: -1}, "calls.txt"},
		{calllog.Log{Calls: two, Lines: 2, Took: 4 * time.Millisecond}, "calls.txt (4 ms a call in the median)"},
		{calllog.Log{Calls: two, Lines: 50_000, Skipped: 3, Bad: 7, Took: 4 * time.Second}, "calls.txt (3 of its 50000 lines say no call, the first is line 7; 4 s a call in the median)"},
		{calllog.Log{Calls: two, Lines: 2, NoUnit: 2, Spread: true, Took: -1}, "calls.txt (times in whole seconds, whose calls are spread evenly over them; how long 2 calls took is said without a unit that is sure, and not used)"},
		{calllog.Log{Calls: two, Lines: 2, Failed: 1, Took: time.Second}, "calls.txt (how long 1 call took that failed is not used; 1 s a call in the median)"},
		{calllog.Log{Calls: two, Lines: 2, Failed: 2, Took: -1}, "calls.txt (how long 2 calls took that failed is not used)"},
		{calllog.Log{Calls: two, Lines: 9, Dropped: 7, Took: -1}, "calls.txt (of 9 calls those of its last 2 lines with one)"},
	} {
		if got := sourceOf("/a/calls.txt", tt.log); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func oneIdleWith(calls string) string {
	return strings.Replace(oneProbe, "kind: http, path: /", "kind: idle, path: /, keep_alive: 5s, calls: '"+calls+"'", 1)
}

// TestPlanReadsCalls: a file that a run could not read is an error of the plan, which is shown all the
// same, and what another one holds is a note.
func TestPlanReadsCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct{ calls, said string }{
		{filepath.Join(dir, "nope"), "/nope: no such file or directory"},
		{dir, "is not a regular file"},
		{"/dev/null", `"/dev/null" is not a regular file`},
		{write("binary", "\x7fELF\x00\ngeheim\x01\x02\n\x03\n"), "binary:2: no time of a call"},
		{write("mostly", "1.5\ngeheim\ngeheim\n"), "mostly:2: no time of a call"},
	} {
		r := perch(t.Context(), nil, "plan", "--config", configFile(t, "http://127.0.0.1:1", oneIdleWith(tt.calls)))
		if r.code != exitUsage || !strings.Contains(r.stderr, tt.said) || !strings.Contains(r.stderr, "perch.yaml:8: api/get: calls: ") || strings.Contains(r.stderr, "geheim") || !strings.Contains(r.stdout, "wall time") {
			t.Errorf("%s: exit status %d, %q, want 2 and %q\n%s", tt.calls, r.code, r.stderr, tt.said, r.stdout)
		}
	}
	good := write("good.txt", "1.5 0.25\n2.5 0.25\njunk\n")
	r := perch(t.Context(), nil, "plan", "--config", configFile(t, "http://127.0.0.1:1", oneIdleWith(good)))
	if r.code != exitOK {
		t.Fatalf("exit status %d, %s", r.code, r.stderr)
	}
	want(t, "the plan", r.stdout, "calls: 2 calls from 1970-01-01T00:00:01Z on, in good.txt (1 of its 3 lines say no call, the first is line 3; 250 ms a call in the median)")
}
