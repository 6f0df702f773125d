package main

import (
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

const readme = "../../README.md"

// TestReadmeIsTrue: its config loads and can be planned, and it names every
// command.
func TestReadmeIsTrue(t *testing.T) {
	t.Parallel()
	text := read(t, readme)
	_, rest, _ := strings.Cut(text, "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("no config in the README")
	}
	path := configFile(t, "", example)
	if r := perch(t.Context(), nil, "plan", "--check", path); r.code != exitOK || r.stderr != "" {
		t.Errorf("the README's config: exit status %d\n%s", r.code, r.stderr)
	}
	// Without --check it warns that neither its token nor its folder is here.
	if r := perch(t.Context(), nil, "plan", "--config", path); r.code != exitOK || strings.Count(r.stderr, "\n") != strings.Count(r.stderr, "plan: here a run ") {
		t.Errorf("the plan of the README's config: exit status %d\n%s", r.code, r.stderr)
	} else if strings.Contains(r.stdout, "note: ") {
		t.Errorf("the README's config is not played as it stands:\n%s", r.stdout)
	}
	for _, cmd := range newRoot(system{}).Commands() {
		if !strings.Contains(text, "`perch "+cmd.Name()) && !strings.Contains(text, "`"+cmd.Name()+"`") {
			t.Errorf("the README does not name `perch %s`", cmd.Name())
		}
	}
}

// readmeShows says where the README's picture is another one than the demo printed, word
// by word, as far as it is quoted; measured values may differ.
func readmeShows(t *testing.T, printed string) (problem string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return "" // the picture shows what perch says with the kernel's evidence, which other systems do not give
	}
	text := read(t, readme)
	_, rest, _ := strings.Cut(text, "```text\n$ go run ./cmd/perch demo\n")
	quote, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("no picture of the demo in the README")
	}
	got := picture(steady(regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(printed, incidentLab)))
	problem = firstDifference(quote, got)
	switch {
	case problem == "":
		return ""
	case updating() && !strings.Contains(printed, "Own delay"):
		writeFile(t, readme, strings.Replace(text, quote, got, 1))
		return ""
	}
	return "the README shows another demo than perch plays; if perch is right, run the test with -update.\n" + problem
}

// picture is what the README shows of the demo: the ladder, what the application
// gets, the explanations, and the first thing to change.
func picture(demo string) string {
	_, report, _ := strings.Cut(demo, "\nperch dev ")
	kept := []string{"perch dev "}
	shown, left := true, false
	for line := range strings.Lines(report) {
		switch {
		case regexp.MustCompile(`^ +1b\. | +2\. `).MatchString(line):
			return strings.Join(append(kept, "  ...\n"), "")
		case regexp.MustCompile(`^  [A-Z]`).MatchString(line): // a part of the finding begins
			shown = regexp.MustCompile(`^  (Application|Hypotheses|Change this:)  `).MatchString(line)
		}
		if shown && left {
			kept = append(kept, "  ...\n")
		}
		if shown {
			kept = append(kept, line)
		}
		left = !shown
	}
	return strings.Join(kept, "")
}

// TestExamplesCanBePlanned plans every example, as a newcomer would.
func TestExamplesCanBePlanned(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	planned := 0
	for _, e := range entries {
		if e.Name() == "README.md" {
			continue
		}
		planned++
		if r := perch(t.Context(), nil, "plan", "--check", "../../examples/"+e.Name()); r.code != exitOK {
			t.Errorf("%s: exit status %d\n%s", e.Name(), r.code, r.stderr)
		}
	}
	if planned < 4 {
		t.Errorf("only %d examples", planned)
	}
}
