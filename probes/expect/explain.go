package expect

import (
	"fmt"
	"regexp"
	"strings"

	"cel.dev/cel-go/cel"
)

// explain turns CEL's first complaint into what is wrong, where, and what would
// be right. Later ones mostly follow from it.
func explain(text string, issues *cel.Issues) *Error {
	first := issues.Errors()[0]
	for _, e := range issues.Errors() {
		if e.Location.Line() < first.Location.Line() || e.Location.Line() == first.Location.Line() && e.Location.Column() < first.Location.Column() {
			first = e
		}
	}
	problem, fix := reword(text, first.Message)
	return &Error{Expression: text, Problem: column(first.Location.Line(), first.Location.Column()) + problem, Fix: fix}
}

// column is counted from 1; the line is said only in expressions of several.
func column(line, col int) string {
	switch {
	case col < 0:
		return ""
	case line > 1:
		return fmt.Sprintf("line %d, column %d: ", line, col+1)
	}
	return fmt.Sprintf("column %d: ", col+1)
}

// reword says it in the words of a config. Unknown complaints stay as they are.
func reword(text, message string) (problem, fix string) {
	if m := regexp.MustCompile(`^undeclared reference to '([^']*)'`).FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("unknown name %q", m[1]), meant(m[1])
	}
	if m := regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '(.*)'`).FindStringSubmatch(message); m != nil {
		return mismatch(text, m[1], m[2])
	}
	if rest, ok := strings.CutPrefix(message, "Syntax error: "); ok {
		return "is no CEL: " + clip(rest), syntaxFix(text)
	}
	if strings.Contains(message, "invalid duration") {
		return "no such duration", `want a unit: duration("300ms")`
	}
	if strings.Contains(message, "invalid matches argument") || strings.Contains(message, "invalid regex") {
		return "the pattern is no regular expression (RE2)", `want one such as body.matches("ok|done")`
	}
	return clip(message), ""
}

// mismatch explains operands that do not go together.
func mismatch(text, function, operands string) (problem, fix string) {
	name := strings.Trim(function, "_@")
	args := strings.Split(strings.Trim(operands, "()"), ", ")
	for i, a := range args {
		args[i] = typeName(a)
	}
	problem = fmt.Sprintf("%s does not take %s", name, strings.Join(args, " and "))
	version := regexp.MustCompile(`\btls\b\s*([=!<>]=?)\s*(1\.[0-9])`)
	switch {
	case strings.Contains(operands, "string") && version.MatchString(text):
		m := version.FindStringSubmatch(text)
		return problem, "the version stands in quotes: tls " + m[1] + ` "` + m[2] + `"`
	case strings.Contains(operands, "double") && strings.Contains(operands, "string"):
		return problem, "what is text stands in quotes, what is a number does not"
	case strings.Contains(operands, "duration"):
		return problem, `latency compares with durations: latency < duration("300ms")`
	case strings.Contains(operands, "int") && strings.Contains(operands, "string"):
		return problem, "numbers have no quotes: status == 200"
	case strings.Contains(operands, "double"):
		return problem, "write whole numbers without a point: status == 200"
	case strings.Contains(operands, "bool"):
		return problem, "join comparisons with && and ||"
	}
	return problem, "compare values of one kind"
}

func typeName(t string) string {
	switch {
	case t == "int" || t == "uint" || t == "double":
		return "a number"
	case t == "string":
		return "text"
	case t == "duration" || strings.HasSuffix(t, "Duration"):
		return "a duration"
	case t == "bool":
		return "true or false"
	case strings.HasPrefix(t, "map"):
		return "a map"
	case strings.HasPrefix(t, "list"):
		return "a list"
	}
	return t
}

// syntaxFix guesses the slip from other languages.
func syntaxFix(text string) string {
	switch {
	case regexp.MustCompile(`[^=!<>]=[^=]`).MatchString(text):
		return "compare with =="
	case regexp.MustCompile(`(?i)\band\b`).MatchString(text):
		return "join with &&"
	case regexp.MustCompile(`(?i)\bor\b`).MatchString(text):
		return "join with ||"
	case regexp.MustCompile(`(?i)\bnot\b`).MatchString(text):
		return "negate with !"
	}
	return "want an expression such as status == 200"
}

// meant names the variable or function that was probably meant.
func meant(name string) string {
	synonyms := map[string]string{
		"len": "size", "length": "size", "count": "size", "code": "status", "status_code": "status", "statuscode": "status", "header": "headers",
		"duration_ms": "latency", "elapsed": "latency", "time": "latency", "response_time": "latency", "protocol": "proto", "text": "body", "response": "body",
		"data": "json", "exists": "has", "defined": "has", "regex": "matches", "match": "matches", "includes": "contains",
	}
	lower := strings.ToLower(name)
	if s, ok := synonyms[lower]; ok {
		return fmt.Sprintf("did you mean %q?", s)
	}
	for _, candidate := range append(variables(), "size", "has", "matches", "contains", "startsWith", "endsWith", "duration", "timestamp", "int", "string", "double") {
		if strings.ToLower(candidate) == lower || len(candidate) > 3 && oneEdit(lower, strings.ToLower(candidate)) {
			return fmt.Sprintf("did you mean %q?", candidate)
		}
	}
	return "known: " + strings.Join(variables(), ", ")
}

// oneEdit reports whether one letter added, dropped, changed, or swapped with
// its neighbour makes a into b.
func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i == len(a) {
		return true
	}
	swapped := i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	return swapped || a[i+1:] == b[i+1:]
}

func clip(s string) string {
	const most = 160
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
