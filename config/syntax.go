package config

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// syntax turns the YAML reader's error into a mistake with its line.
func (c *checker) syntax(at place, data []byte, err error) {
	what := strings.TrimPrefix(err.Error(), "yaml: ")
	if anchor := regexp.MustCompile(`^unknown anchor '([^']*)'`).FindStringSubmatch(what); anchor != nil {
		// The reader knows no line, and quotes what may be a password.
		before, _, _ := bytes.Cut(data, []byte("*"+anchor[1]))
		at.line = 1 + bytes.Count(before, []byte("\n"))
		c.wrong(at, "an alias (*...) has no anchor", "put text that begins with * in quotes")
		return
	}
	at.line, what = syntaxLine(what)
	if line := commentInFlow(what, data, at.line); line > 0 {
		at.line = line
		c.wrong(at, "is no YAML: "+what, "put a value that begins with # in quotes: YAML takes it for a comment, and the rest of the line with it")
		return
	}
	c.wrong(at, "is no YAML: "+what, syntaxFix(what, lineOf(data, at.line)))
}

// commentInFlow returns the line in which a value that begins with # swallows
// the end of a {...}; 0: none does. The reader may notice it a line later only,
// where the next begins.
func commentInFlow(what string, data []byte, line int) int {
	if !strings.HasPrefix(what, "did not find expected ") {
		return 0
	}
	swallows := regexp.MustCompile(`[{\[].*:\s+#[^\s#]`)
	for _, l := range []int{line, line - 1} {
		if swallows.MatchString(lineOf(data, l)) {
			return l
		}
	}
	return 0
}

// syntaxLine returns the 1-based line of the YAML reader's message, and the
// message without it. Its scanner counts lines from 1 and its parser from 0, a
// line 0 is left out by both, and only the wording tells one from the other:
// what was not found as "expected" is the parser's.
func syntaxLine(what string) (int, string) {
	line := 0
	if m := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(what); m != nil {
		line, _ = strconv.Atoi(m[1])
		what = strings.TrimPrefix(what, m[0])
	}
	if line == 0 || strings.HasPrefix(what, "did not find expected ") {
		line++
	}
	return line, what
}

// syntaxFix is the usual cause of what the YAML reader says.
func syntaxFix(what, line string) string {
	switch {
	case strings.HasPrefix(what, "did not find expected ','"), strings.HasPrefix(what, "did not find expected node content"):
		return "inside {...} and [...], values that hold ?, : or , stand in quotes, and each bracket is closed; what is wrong begins in this line"
	case strings.HasPrefix(what, "mapping values are not allowed"):
		return `put a value that holds ": " in quotes, and look at the indentation`
	case strings.HasPrefix(what, "found character that cannot start any token") && strings.HasPrefix(strings.TrimLeft(line, " "), "\t"):
		return "indent with spaces, not tabs"
	case strings.HasPrefix(what, "found character that cannot start any token"):
		return "put a value that begins with @, % or ` in quotes"
	}
	return ""
}

// lineOf returns a line of a file, counted from 1.
func lineOf(data []byte, line int) string {
	lines := bytes.SplitN(data, []byte("\n"), line+1)
	if line < 1 || line > len(lines) {
		return ""
	}
	return string(lines[line-1])
}
