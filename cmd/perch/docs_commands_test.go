package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docPages are the pages that people read, by their path from the repository's
// root.
func docPages(t *testing.T) []string {
	t.Helper()
	pages := []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "examples/README.md", "k8s/README.md"}
	err := filepath.WalkDir("../../docs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") {
			pages = append(pages, filepath.ToSlash(strings.TrimPrefix(path, "../../")))
		}
		return err
	})
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	return pages
}

// command is a command line of perch that a page shows.
type command struct {
	args   []string
	inline bool // named in a sentence: arguments may be left out
}

// commandsIn finds them: in blocks of shell, on lines that begin with a prompt, in
// sentences, and as the arguments of a container.
func commandsIn(page string) (found []command) {
	for _, m := range regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```").FindAllStringSubmatch(page, -1) {
		text := strings.ReplaceAll(m[2], "\\\n", " ")
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if m[1] != "sh" && m[1] != "" { // an answer stands in it, too
				var prompt bool
				if line, prompt = strings.CutPrefix(line, "$ "); !prompt {
					continue
				}
			}
			found = append(found, ofLine(line)...)
		}
		for _, list := range regexp.MustCompile(`(?s)"value":\s*\[("[^\]]*")\]`).FindAllStringSubmatch(text, -1) {
			found = append(found, command{args: regexp.MustCompile(`[^",\s][^"]*`).FindAllString(list[1], -1)})
		}
		var added []string // to what a CronJob's container is given
		for _, arg := range regexp.MustCompile(`args/-", "value": "([^"]*)"`).FindAllStringSubmatch(text, -1) {
			added = append(added, arg[1])
		}
		if added != nil {
			found = append(found, command{args: append([]string{"run"}, added...)})
		}
	}
	prose := regexp.MustCompile("(?ms)^ *```.*?^ *```").ReplaceAllString(page, "")
	for _, m := range regexp.MustCompile("`perch ([a-z][^`]*)`").FindAllStringSubmatch(prose, -1) {
		found = append(found, alternatives(strings.Fields(m[1]))...)
	}
	return found
}

// ofLine finds perch's own commands on a line of shell: behind variables, pipes and
// `kubectl debug ... --`.
func ofLine(line string) (found []command) {
	if before, _, comment := strings.Cut(line, " # "); comment {
		line = before
	}
	for _, part := range regexp.MustCompile(`\|\|?|&&?|;|\(|\)`).Split(line, -1) {
		part, _, _ = strings.Cut(part, " > ")
		m := regexp.MustCompile(`^(?:[A-Z_]+=\S+ )*(?:\./|go run \./cmd/)?perch ([a-z].*)|-- /perch ([a-z].*)`).FindStringSubmatch(strings.TrimSpace(part))
		if m == nil || strings.Contains(part, " · ") {
			continue
		}
		found = append(found, command{args: words(m[1] + m[2])})
	}
	return found
}

// words splits as a shell does, as far as the pages go.
func words(line string) (all []string) {
	for _, w := range regexp.MustCompile(`(?:[^\s"']|"[^"]*"|'[^']*')+`).FindAllString(line, -1) {
		all = append(all, strings.NewReplacer(`"`, "", "'", "").Replace(w))
	}
	return all
}

// alternatives are what a table means by `silence add\|list`.
func alternatives(fields []string) (found []command) {
	i := slices.IndexFunc(fields, func(f string) bool { return strings.Contains(f, "|") })
	if i < 0 {
		return []command{{args: fields, inline: true}}
	}
	for _, one := range strings.Split(strings.ReplaceAll(fields[i], `\|`, "|"), "|") {
		own := slices.Clone(fields)
		own[i] = one
		found = append(found, command{args: own, inline: true})
	}
	return found
}

// misread says why a command line is none of perch's; empty: it is.
func misread(c command) string {
	cmd, rest, err := newRoot(system{stdout: os.Stdout, stderr: os.Stderr, env: func(string) (string, bool) { return "", false }, readFile: os.ReadFile}).Find(c.args)
	if err != nil {
		return err.Error()
	}
	cmd.InitDefaultHelpFlag()
	switch err := cmd.ParseFlags(rest); {
	case err != nil && c.inline && strings.Contains(err.Error(), "needs an argument"):
		return "" // a flag that is spoken of
	case err != nil:
		return err.Error()
	case !cmd.HasParent() && !slices.Contains([]string{"help", "completion"}, c.args[0]):
		return "there is no such command"
	case cmd.HasSubCommands() && len(cmd.Flags().Args()) > 0:
		return "there is no " + strings.Join(c.args[:2], " ")
	case c.inline:
		return ""
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return err.Error()
	}
	return ""
}

// TestCommandsOfThePages: each command line of perch that a page shows is one that
// perch takes.
func TestCommandsOfThePages(t *testing.T) {
	t.Parallel()
	count := 0
	for _, page := range docPages(t) {
		for _, c := range commandsIn(read(t, "../../"+page)) {
			count++
			if why := misread(c); why != "" {
				t.Errorf("%s shows `perch %s`: %s", page, strings.Join(c.args, " "), why)
			}
		}
	}
	if count < 150 {
		t.Errorf("%d command lines found", count)
	}
}

// TestShellOfThePages: what is to be pasted into a shell is read by one.
func TestShellOfThePages(t *testing.T) {
	t.Parallel()
	count := 0
	for _, page := range docPages(t) {
		for _, m := range regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```").FindAllStringSubmatch(read(t, "../../"+page), -1) {
			count++
			cmd := exec.CommandContext(t.Context(), "sh", "-n")
			cmd.Stdin = strings.NewReader(m[1])
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s\n%s", page, err, out, m[1])
			}
		}
	}
	if count < 40 {
		t.Errorf("%d blocks found", count)
	}
}

// TestWrongCommandsAreFound, or the test above would prove nothing.
func TestWrongCommandsAreFound(t *testing.T) {
	t.Parallel()
	page := "Say `perch plan --chekc`, `perch silence mute`.\n\n```sh\nA=1 perch nosuch x | perch run --only a \\\n  stray > f   # perch never\nkubectl debug x -- /perch idle\n```\n" +
		"```text\n$ perch run --nosuch\nperch nosuch: an answer\n```\n```yaml\n'[{\"value\":\n  [\"alert\", \"tset\"]}]'\n```\n" +
		"```sh\nkubectl patch -p '[{\"path\": \"/spec/args/-\", \"value\": \"--all\"}, {\"path\": \"/spec/args/-\", \"value\": \"--olny=a\"}]'\n```\n"
	found := commandsIn(page)
	if len(found) != 8 {
		t.Fatalf("%d commands, want 8: %v", len(found), found)
	}
	for _, c := range found {
		if misread(c) == "" {
			t.Errorf("perch %s is taken", strings.Join(c.args, " "))
		}
	}
}
