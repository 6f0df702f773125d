package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perch.example/lab"
)

// wholeDocument checks that a text is one whole document of its format.
func wholeDocument(t *testing.T, format, text string) {
	t.Helper()
	switch format {
	case "json":
		if !json.Valid([]byte(text)) {
			t.Errorf("no JSON: %s", text)
		}
	case "junit":
		d := xml.NewDecoder(strings.NewReader(text))
		var err error
		for err == nil {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%v: %s", err, text)
		}
		want(t, "the JUnit report", text, "<testsuites ", "<testsuite ", "<testcase ")
	case "html":
		want(t, "the page", text, "<!doctype html>", "Content-Security-Policy", "</html>\n")
	}
}

// TestEveryCommandHasEveryOutput: the same exit status, and one whole document where it
// is asked for.
func TestEveryCommandHasEveryOutput(t *testing.T) {
	t.Parallel()
	down := configFile(t, "http://127.0.0.1:1", oneProbe)
	s := startLab(t, "healthy", lab.Options{})
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"run", []string{"run", "--config", down}, exitFindings, "unreachable"},
		{"idle", []string{"idle", "--max", "1s", "--connections", "1", "--rate", "20/s", "--proxy", "none", s.URL()}, exitOK, "idle"},
		{"demo", []string{"demo"}, exitOK, "NoHttpResponseException"},
	} {
		for _, format := range []string{"text", "json", "junit", "html"} {
			t.Run(c.name+" "+format, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "report")
				env, args := map[string]string{"PERCH_OUTPUT": format}, c.args
				if format == "html" { // the flag as well as its name in the environment
					env, args = nil, append([]string{c.args[0], "--output=html", "--output-file=" + file}, c.args[1:]...)
				}
				r := perch(t.Context(), env, args...)
				if r.code != c.code {
					t.Errorf("exit status %d, want %d: %s", r.code, c.code, r.stderr)
				}
				text := r.stdout
				if format == "html" {
					data, err := os.ReadFile(file)
					if text = string(data); err != nil || r.stdout != "" {
						t.Errorf("%v; stdout: %q", err, r.stdout)
					}
				}
				wholeDocument(t, format, text)
				want(t, "the report", text, c.says)
			})
		}
	}
}

// TestJUnitFollowsFailOn: what ends the run with status 1 is a failure there, and a
// fail is one all the same where nothing does.
func TestJUnitFollowsFailOn(t *testing.T) {
	t.Parallel()
	down := configFile(t, "http://127.0.0.1:1", oneProbe+"alerts: {settle: none}\n")
	for failOn, code := range map[string]int{"fail": exitFindings, "degraded": exitFindings, "never": exitOK} {
		r := perch(t.Context(), nil, "run", "--config", down, "--output", "junit", "--fail-on", failOn)
		if r.code != code {
			t.Errorf("%s: exit status %d, want %d", failOn, r.code, code)
		}
		want(t, failOn, r.stdout, ` failures="1" `, `<failure message=`, `type="unreachable"`)
	}
}

// TestTheMessageThatWouldBeSentIsOnThePage, and nothing stands before the page.
func TestTheMessageThatWouldBeSentIsOnThePage(t *testing.T) {
	t.Parallel()
	r := perch(t.Context(), nil, "demo", "--output", "html")
	want(t, "the page", r.stdout, "The message that would be sent", "WOULD FIRE (at the second failed run) stock-api", "What to change")
	if strings.Contains(r.stdout, "perch demo: a server on loopback") {
		t.Error("something stands before the page")
	}
}
