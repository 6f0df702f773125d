package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
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
	down := configFile(t, "http://127.0.0.1:1", oneProbe+"alerts: {settle: none}\n")
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"run", []string{"run", "--config", down}, exitFindings, "unreachable"},
		{"idle", []string{"idle", "--max", "1s", "--connections", "1", "--rate", "20/s", "--proxy", "none", "http://127.0.0.1:1"}, exitFindings, "idle"},
	} { // the demo's, and those of an idle that holds, are TestSeveralReportsOfOneRun's
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
	calmly(t, func() string {
		r := perch(t.Context(), nil, "demo", "--output", "html")
		if r.code != exitOK || strings.Contains(r.stdout, "perch demo: a server on loopback") {
			return fmt.Sprintf("exit status %d, or something stands before the page:\n%s%s", r.code, r.stdout, r.stderr)
		}
		return lacks("the page", r.stdout, "The message that would be sent", "WOULD FIRE (at the second failed run) stock-api", "What to change")
	})
}

// TestSeveralReportsOfOneRun: one run, a document each, of the same run.
func TestSeveralReportsOfOneRun(t *testing.T) {
	t.Parallel()
	down := configFile(t, "http://127.0.0.1:1", oneProbe+"alerts: {settle: none}\n")
	s := startLab(t, "healthy", lab.Options{})
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"run", "--config", down}, exitFindings},
		{[]string{"idle", "--max", "1s", "--connections", "1", "--rate", "20/s", "--proxy", "none", s.URL()}, exitOK},
		{[]string{"demo"}, exitOK},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := append(c.args, "--output", "text", "--output-file", filepath.Join(dir, "text"))
			for _, format := range []string{"html", "junit", "json"} {
				args = append(args, "--output", format+"="+filepath.Join(dir, format))
			}
			r := perch(t.Context(), nil, args...)
			if told := r.stdout != ""; r.code != c.code || told != (c.args[0] == "demo") {
				t.Errorf("exit status %d, want %d: %s\nstdout: %s", r.code, c.code, r.stderr, r.stdout)
			}
			id := ""
			for _, format := range []string{"json", "html", "junit", "text"} {
				data, err := os.ReadFile(filepath.Join(dir, format))
				if err != nil {
					t.Fatal(err)
				}
				wholeDocument(t, format, string(data))
				if format == "json" {
					var run struct {
						ID string `json:"run_id"`
					}
					if err := json.Unmarshal(data, &run); err != nil || run.ID == "" {
						t.Fatalf("%v: %s", err, data)
					}
					id = run.ID
				} else if format != "text" {
					want(t, format, string(data), id)
				}
			}
		})
	}
}

// TestAReportThatCannotBeWritten is perch's own failure, after the others were written.
func TestAReportThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	down := configFile(t, "http://127.0.0.1:1", oneProbe+"alerts: {settle: none}\n")
	last := filepath.Join(t.TempDir(), "last.xml")
	r := perch(t.Context(), nil, "run", "--config", down, "--output", "html=/nonexistent/a.html", "--output", "json=/nonexistent/b.json", "--output", "text", "--output", "junit="+last)
	if r.code != exitOwn {
		t.Errorf("exit status %d, want 4", r.code)
	}
	want(t, "stderr", r.stderr, "/nonexistent/a.html", "/nonexistent/b.json")
	want(t, "stdout", r.stdout, "unreachable")
	data, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	wholeDocument(t, "junit", string(data))
}

// TestOutputIsCompleted: the formats, and files behind a =.
func TestOutputIsCompleted(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"run", "idle", "demo"} {
		r := perch(t.Context(), nil, "__complete", command, "--output", "")
		want(t, command, r.stdout, "text\njson\njunit\nhtml\n:4\n")
		if r := perch(t.Context(), nil, "__complete", command, "--output", "html="); r.stdout != ":0\n" {
			t.Errorf("%s, behind a =: %q", command, r.stdout)
		}
		want(t, command, perch(t.Context(), nil, command, "--help").stdout, "--output FORMAT[=FILE]", "text, json, junit or html (default text)", "repeatable")
	}
}

func FuzzOutputs(f *testing.F) {
	for _, s := range []string{"text", "html=a", "html=", "=a", "text,html=a", "html=a.html,junit=b", "junit=a=b", "html=a,,b"} {
		f.Add(s, "html=a", "b")
	}
	f.Fuzz(func(t *testing.T, one, two, file string) {
		all, err := outputsOf([]string{one, two}, file)
		if err != nil {
			return
		}
		if len(all) != 2 || all[0].file == all[1].file {
			t.Errorf("%q %q %q: %+v", one, two, file, all)
		}
	})
}
