package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"perch.example/internal/waiting"
	"perch.example/lab"
)

// -update rewrites the quotes of docs/incident.md and of the README. Read what it
// wrote before you commit, and the sentences around it.
func TestMain(m *testing.M) {
	flag.Bool("update", false, "write what docs/incident.md and the README quote anew")
	waiting.Beside(atOnce)
	os.Exit(m.Run())
}

// atOnce is how many tests run beside each other. With more of them the holds
// of some ended late enough on a busy machine to be another finding.
const atOnce = 6

func updating() bool { return flag.Lookup("update").Value.String() == "true" }

const (
	incidentDoc = "../../docs/incident.md"
	incidentLab = "127.0.0.1:18080" // where the document's reader has the lab; five digits, as most free ports have
)

// replay is one quote of the document: a command line as its reader types it,
// and what perch prints.
type replay struct {
	whole  string // the block, with its marker
	marker string
	code   int
	until  string // the quote ends before the line that begins with it; empty: quoted to the end
	args   string // behind `go run ./cmd/perch`
	quote  string
}

func replays(t *testing.T, text string) []replay {
	t.Helper()
	block := regexp.MustCompile("(?s)(<!-- replay: exit ([0-4])(?:, until \"([^\"]+)\")? -->)\n```text\n\\$ go run \\./cmd/perch ([^\n]+)\n(.*?)```\n")
	var all []replay
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		code, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, replay{whole: m[0], marker: m[1], code: code, until: m[3], args: m[4], quote: m[5]})
	}
	if n := strings.Count(text, "<!-- replay:"); n != len(all) || n < 5 {
		t.Fatalf("%d markers and %d quotes, want as many, and at least 5", n, len(all))
	}
	return all
}

// TestIncidentIsReplayed runs every command of docs/incident.md as its reader
// would, and compares what perch prints with what the document quotes, word by
// word; measured values may differ.
func TestIncidentIsReplayed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the document quotes what perch says with the kernel's evidence, which other systems do not give")
	}
	text := read(t, incidentDoc)
	doc, err := filepath.Abs(incidentDoc) // mirror goes elsewhere
	if err != nil {
		t.Fatal(err)
	}
	all := replays(t, text)
	addr := strings.TrimPrefix(startLab(t, "incident", lab.Options{}).URL(), "http://")
	mirror(t, addr)
	fresh := make([]string, len(all))
	t.Run("commands", func(t *testing.T) {
		for i, r := range all {
			t.Run(r.args, func(t *testing.T) {
				t.Parallel()
				fresh[i] = r.play(t, addr)
			})
		}
	})
	if !updating() || t.Failed() {
		return
	}
	for i, r := range all {
		text = strings.Replace(text, r.whole, r.marker+"\n```text\n$ go run ./cmd/perch "+r.args+"\n"+fresh[i]+"```\n", 1)
	}
	writeFile(t, doc, text)
}

// mirror makes a folder with the configs that the document names, at the lab's
// address, and goes there.
func mirror(t *testing.T, addr string) {
	t.Helper()
	configs, err := filepath.Glob("../../docs/incident/*.yaml")
	if err != nil || len(configs) < 2 {
		t.Fatalf("the document's configs: %v, %v", configs, err)
	}
	dir := t.TempDir()
	for _, c := range append(configs, "../../examples/incident.yaml") {
		name := strings.TrimPrefix(c, "../../")
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name), strings.ReplaceAll(read(t, c), incidentLab, addr))
	}
	t.Chdir(dir)
}

// play runs the command and returns what the document should quote.
func (r replay) play(t *testing.T, addr string) (got string) {
	t.Helper()
	calmly(t, func() string {
		ran := perch(t.Context(), nil, strings.Fields(strings.ReplaceAll(r.args, incidentLab, addr))...)
		if ran.code != r.code {
			return fmt.Sprintf("`perch %s`: exit status %d, want %d\n%s%s", r.args, ran.code, r.code, ran.stdout, ran.stderr)
		}
		got = r.cut(steady(strings.ReplaceAll(ran.stdout, addr, incidentLab)))
		problem := firstDifference(r.quote, got)
		switch {
		case problem == "":
			got = r.quote // the same words: measured values that differ are no reason to write it anew
			return ""
		case updating() && !strings.Contains(got, "Own delay"):
			return ""
		}
		return fmt.Sprintf("`perch %s` does not do what docs/incident.md quotes; if it should, run the test with -update and read the sentences around it.\n%s", r.args, problem)
	})
	return got
}

// cut ends the quote where its marker says.
func (r replay) cut(text string) string {
	if r.until == "" {
		return text
	}
	before, _, found := strings.Cut(text, "\n"+r.until)
	if !found {
		return text
	}
	return strings.TrimRight(before, "\n") + "\n...\n"
}

// steady replaces what is another one in each run and means nothing to a reader.
func steady(text string) string {
	for _, s := range []struct{ pattern, by string }{
		{`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`, "2026-03-02 09:30:00 UTC"},
		{`\d{4}-\d\d-\d\d \d\d:\d\d UTC`, "2026-03-02 09:30 UTC"},
		{`run \d{8}t\d{6}z-[0-9a-f]+`, "run 20260302t093000z-7c9e66"},
		{`seed \d+`, "seed 42"},
		{`\b[0-9a-f]{32}\b`, "4bf92f3577b34da6a3ce929d0e0e4736"},
	} {
		text = regexp.MustCompile(s.pattern).ReplaceAllString(text, s.by)
	}
	return text
}

// firstDifference compares word by word, without what is measured: numbers,
// bars, line ends, and what is said only where a measurement allows it.
func firstDifference(quote, got string) string {
	a, b := stableWords(quote), stableWords(got)
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			from := max(0, i-8)
			return "quoted: ... " + strings.Join(a[min(from, len(a)):min(i+8, len(a))], " ") +
				"\ngot:    ... " + strings.Join(b[min(from, len(b)):min(i+8, len(b))], " ")
		}
	}
	return ""
}

func stableWords(text string) []string {
	text = strings.Join(strings.Fields(text), " ")
	for _, s := range []struct{ pattern, by string }{
		{`[━✗╌▒]+`, ""},
		{`, faster than a round trip \([^)]*\), so this was no answer to our request`, ""},
		{`,? each known to within [0-9.]+ m?s`, ""},
		{` Own delay .*?'our own pod is too busy'`, ""},
		{`; seen on \d+ connections, at most [0-9.]+ m?s apart`, ""},
		{` \(earliest: [0-9.]+ m?s\)`, ""},
		{`, taken as [0-9.]+ m?s`, ""},
		{`, less [0-9.]+ m?s by which the closes differ`, ""},
		{`, rounded down`, ""},
		{`, throttled for [0-9.]+ m?s`, ""},
		{`; (perch's own: )?\d+ of \d+ file descriptors(, \d+ of \d+ local ports)?( in use)?`, ""},
		{`\d+(\.\d+)?`, "N"},
		{`N (ms|s|min)\b`, "T"},
		{`\bT to T\b`, "T"},
		{`\ball closed at\b`, "closed at"},
	} {
		text = regexp.MustCompile(s.pattern).ReplaceAllString(text, s.by)
	}
	return strings.Fields(text)
}

// TestIncidentShowsItsFix: the changes that the document shows are those between
// its two configs, no more and no less.
func TestIncidentShowsItsFix(t *testing.T) {
	t.Parallel()
	_, shown, _ := strings.Cut(read(t, incidentDoc), "<!-- changes -->\n```diff\n")
	shown, _, found := strings.Cut(shown, "```")
	if !found {
		t.Fatal("the document shows no changes")
	}
	before, after := settings(t, "before.yaml"), settings(t, "after.yaml")
	for _, c := range []struct {
		sign        string
		in, missing []string
	}{{"-", before, after}, {"+", after, before}} {
		var want, got []string
		for _, line := range c.in {
			if !slices.Contains(c.missing, line) {
				want = append(want, c.sign+line)
			}
		}
		for line := range strings.Lines(shown) {
			if strings.HasPrefix(line, c.sign) {
				got = append(got, strings.TrimSuffix(line, "\n"))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("shown as changed:\n%s\nchanged:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// settings are a config's lines without the comment at its head.
func settings(t *testing.T, name string) []string {
	t.Helper()
	_, text, found := strings.Cut(read(t, "../../docs/incident/"+name), "\nversion: 1\n")
	if !found {
		t.Fatalf("%s: no version", name)
	}
	return strings.Split(strings.TrimRight(text, "\n"), "\n")
}

// TestReplayComparesWords: a word that differs is found, a measured value that
// differs is not.
func TestReplayComparesWords(t *testing.T) {
	t.Parallel()
	const quote = "FAIL  api  the path closes idle connections after 1.001 s (FIN)\n  1.5 s ━━✗╌ FIN by peer\n"
	for _, c := range []struct {
		name, got string
		same      bool
	}{
		{"the same", quote, true},
		{"another measurement, wrapped elsewhere", "FAIL api the path closes idle connections\n after 998 ms (FIN) 1.5 s ━━━✗╌╌ FIN by peer", true},
		{"another word", strings.Replace(quote, "FIN by", "RST by", 1), false},
		{"less", "FAIL  api  the path closes idle connections after 1.001 s (FIN)\n", false},
		{"more", quote + "and more\n", false},
		{"nothing", "", false},
	} {
		if got := firstDifference(quote, c.got); (got == "") != c.same {
			t.Errorf("%s: difference %q, want one: %t", c.name, got, !c.same)
		}
	}
}
