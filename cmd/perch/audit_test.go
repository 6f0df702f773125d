package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"perch.example/diagnose/clients"
)

const (
	noAnswer = "org.apache.http.NoHttpResponseException"
	reset    = "java.net.SocketException"
)

// auditReport is what a script reads of the JSON.
type auditReport struct {
	Verdict string
	Audits  []struct {
		Targets, Missing, Notes, Doubts []string
		Useless                         []string
		Answers                         []string `json:"missing_answers"`
		Verdict                         string
		Rows                            []auditRow
	}
	Undeclared, Doubts []string
}

type auditRow struct{ Reason, Method, Result, Entry string }

func auditJSON(t *testing.T, path string, args ...string) (auditReport, ran) {
	t.Helper()
	r := perch(t.Context(), nil, append([]string{"audit", "--config", path, "--output", "json"}, args...)...)
	var doc auditReport
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
	return doc, r
}

// inList adds entries to the first retry list of a config, as a person would
// who pastes them.
func inList(config string, entries ...string) string {
	const last = "          - org.springframework.web.client.ResourceAccessException\n"
	if strings.Contains(config, "            - org.") {
		panic("the list is indented in another way")
	}
	pasted := last
	for _, e := range entries {
		pasted += fmt.Sprintf("          - %q\n", e)
	}
	return strings.Replace(config, last, pasted, 1)
}

// TestAuditOfTheIncident is the acceptance of `perch audit`: what the incident's
// policy misses, why the other layer would do, and that adding what is listed
// mends it.
func TestAuditOfTheIncident(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"../../examples/incident.yaml", "demo.yaml"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			r := perch(t.Context(), nil, "audit", "--config", file)
			if r.code != exitFindings || r.stderr != "" {
				t.Errorf("exit status %d, want 1\n%s", r.code, r.stderr)
			}
			want(t, "the audit", strings.Join(strings.Fields(r.stdout), " "),
				"MISSED: all", "- "+noAnswer, "- "+reset,
				"With `layer: around` the same list covers all", "RestTemplate wraps every I/O error in org.springframework.web.client.ResourceAccessException, which the list holds.",
				"ResourceAccessException covers nothing with `layer: inside`")
			if first := strings.Split(r.stdout, "\n")[1]; !strings.HasPrefix(first, "MISSED: ") {
				t.Errorf("the verdict is not the first line but %q", first)
			}
			config := read(t, file)
			doc, _ := auditJSON(t, file)
			if len(doc.Audits) != 1 || !slices.Contains(doc.Audits[0].Missing, noAnswer) || !slices.Contains(doc.Audits[0].Missing, reset) {
				t.Fatalf("missing: %+v", doc.Audits)
			}
			missing := doc.Audits[0].Missing
			for i, e := range missing {
				less := slices.Concat(missing[:i], missing[i+1:])
				if r := perch(t.Context(), nil, "audit", "--config", configFile(t, "", inList(config, less...))); r.code != exitFindings {
					t.Errorf("without %s: exit status %d, want 1\n%s", e, r.code, r.stdout)
				}
			}
			path := configFile(t, "", inList(config, missing...))
			if r := perch(t.Context(), nil, "audit", "--config", path); r.code != exitOK || !strings.Contains(r.stdout, "\nCOVERED: ") {
				t.Errorf("with all that it lists: exit status %d, want 0\n%s%s", r.code, r.stdout, r.stderr)
			}
			if r := perch(t.Context(), nil, "audit", "--config", path, "--fail-on", "degraded"); r.code != exitFindings {
				t.Errorf("answers are missed, --fail-on degraded: exit status %d, want 1", r.code)
			}
			path = configFile(t, "", inList(config, slices.Concat(missing, doc.Audits[0].Answers)...))
			if r := perch(t.Context(), nil, "audit", "--config", path, "--fail-on", "degraded"); r.code != exitOK {
				t.Errorf("with the answers, too: exit status %d, want 0\n%s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
}

// TestAuditForGETOnly: with all that is listed a POST is UNSAFE, and with
// `methods` it is not sent again; the list is the same.
func TestAuditForGETOnly(t *testing.T) {
	t.Parallel()
	config := read(t, "../../examples/incident.yaml")
	doc, _ := auditJSON(t, configFile(t, "", config))
	whole := inList(config, slices.Concat(doc.Audits[0].Missing, doc.Audits[0].Answers)...)
	for _, tt := range []struct {
		methods, says, not string
		unsafe             bool
	}{
		{"", "UNSAFE: a POST", " only, for", true},
		{"methods: [GET, HEAD]\n        ", "3 attempts of GET and HEAD only, for", "UNSAFE", false},
		{"methods: [GET, POST]\n        ", "UNSAFE: a POST", "Without client.retry.methods", true},
	} {
		path := configFile(t, "", strings.Replace(whole, "errors:\n", tt.methods+"errors:\n", 1))
		r := perch(t.Context(), nil, "audit", "--config", path, "--fail-on", "degraded")
		text := strings.Join(strings.Fields(r.stdout), " ")
		if r.code != exitOK || strings.Contains(text, tt.not) {
			t.Errorf("%q: exit status %d, want 0, and no %q:\n%s%s", tt.methods, r.code, tt.not, r.stdout, r.stderr)
		}
		want(t, "the audit", text, tt.says)
		doc, _ := auditJSON(t, path)
		unsafe := slices.ContainsFunc(doc.Audits[0].Rows, func(row auditRow) bool { return row.Result == "unsafe" })
		if unsafe != tt.unsafe {
			t.Errorf("%q: unsafe rows: %t, want %t", tt.methods, unsafe, tt.unsafe)
		}
	}
}

// TestAuditListMendsTheConfig: what it says to add and to remove leaves no
// finding and no doubt, and a status is never named by its hundred.
func TestAuditListMendsTheConfig(t *testing.T) {
	t.Parallel()
	config := read(t, "../../examples/incident.yaml")
	doc, _ := auditJSON(t, configFile(t, "", config))
	a := doc.Audits[0]
	if want := []string{"429", "502", "503", "504", "408"}; !slices.Equal(a.Answers, want) {
		t.Errorf("answers to add: %q, want %q", a.Answers, want)
	}
	mended := inList(config, slices.Concat(a.Missing, a.Answers)...)
	for _, entry := range a.Useless {
		mended = strings.Replace(mended, "          - "+entry+"\n", "", 1)
	}
	doc, r := auditJSON(t, configFile(t, "", mended))
	if left := doc.Audits[0]; r.code != exitOK || len(a.Useless) != 2 || len(left.Doubts)+len(left.Useless)+len(left.Missing)+len(left.Answers) > 0 {
		t.Errorf("exit status %d, %d useless before; left: %+v", r.code, len(a.Useless), left)
	}
}

// TestAuditAroundTheWrapper: the same list covers all there; a 429 is another
// class, and no network failure.
func TestAuditAroundTheWrapper(t *testing.T) {
	t.Parallel()
	around := strings.Replace(read(t, "../../examples/incident.yaml"), "layer: inside", "layer: around", 1)
	doc, r := auditJSON(t, configFile(t, "", around))
	if r.code != exitOK || doc.Verdict != "covered" || len(doc.Audits[0].Missing) > 0 {
		t.Errorf("exit status %d, %s, missing %q; want 0, covered, none", r.code, doc.Verdict, doc.Audits[0].Missing)
	}
	if want := "org.springframework.web.client.HttpClientErrorException$TooManyRequests"; !slices.Contains(doc.Audits[0].Answers, want) {
		t.Errorf("answers to add: %q, want %s among them", doc.Audits[0].Answers, want)
	}
}

// TestAuditPointsAtMisspeltExceptions with file and line, and to what was meant.
func TestAuditPointsAtMisspeltExceptions(t *testing.T) {
	t.Parallel()
	config := inList(read(t, "../../examples/incident.yaml"), "org.apache.http.NoHttpResponseExcepton")
	path := configFile(t, "", config)
	line := 1 + strings.Count(config[:strings.Index(config, "NoHttpResponseExcepton")], "\n")
	r := perch(t.Context(), nil, "audit", "--config", path)
	if r.code != exitFindings {
		t.Errorf("exit status %d, want 1: it covers nothing", r.code)
	}
	want(t, "the audit", strings.Join(strings.Fields(r.stdout), " "),
		fmt.Sprintf("DOUBT: %s:%d: ", path, line), `"org.apache.http.NoHttpResponseExcepton"`, `did you mean "`+noAnswer+`"?`, "- "+noAnswer)
	doc, _ := auditJSON(t, path)
	if len(doc.Doubts) != 1 || !strings.Contains(doc.Doubts[0], fmt.Sprintf(":%d:", line)) {
		t.Errorf("doubts %q", doc.Doubts)
	}
}

// TestAuditDoubtsOnlyWhatItAudits: a name that is misspelt in another target's
// list is not this one's, nor is it logged.
func TestAuditDoubtsOnlyWhatItAudits(t *testing.T) {
	t.Parallel()
	path := configFile(t, "", `
version: 1
name: several
targets:
  - {name: a, url: "https://a.example", client: {kind: okhttp, retry: {layer: inside, attempts: 2, errors: [java.io.IOExcepton]}}, probes: [{name: p, kind: http}]}
  - {name: b, url: "https://b.example", client: {kind: okhttp, retry: {layer: inside, attempts: 2, errors: [java.io.IOException]}}, probes: [{name: p, kind: http}]}
`)
	for only, doubts := range map[string]int{"a": 1, "b": 0, "*": 1} {
		doc, r := auditJSON(t, path, "--only", only)
		if len(doc.Doubts) != doubts || r.stderr != "" {
			t.Errorf("--only %s: doubts %q, logged %q, want %d and nothing", only, doc.Doubts, r.stderr, doubts)
		}
	}
}

// TestAuditNeedsTheConfigOnly: no secret is read and no state, no vantage is
// asked for, and what is pasted from its output is YAML.
func TestAuditNeedsTheConfigOnly(t *testing.T) {
	t.Parallel()
	config := `
version: 1
name: several
defaults:
  client: &c {kind: go-net-http, retry: {layer: inside, attempts: 2, errors: []}}
targets:
  - {name: a, url: "https://a.example", headers: [{name: Authorization, from: {env: NO_SUCH_TOKEN}}], probes: [{name: p, kind: http}]}
  - {name: b, url: "https://b.example", probes: [{name: p, kind: http}]}
  - {name: c, url: "https://c.example", client: {kind: okhttp}, probes: [{name: p, kind: http}]}
state: {file: /nonexistent/state}
slack: {webhook: {from: {env: NO_SUCH_HOOK}}}
`
	path := configFile(t, "", config)
	doc, r := auditJSON(t, path)
	if r.code != exitFindings || r.stderr != "" || len(doc.Audits) != 2 {
		t.Fatalf("exit status %d, %d audits, want 1 and 2\n%s", r.code, len(doc.Audits), r.stderr)
	}
	if a := doc.Audits[0]; !slices.Equal(a.Targets, []string{"a", "b"}) || a.Verdict != "missed" {
		t.Errorf("the first is %s's: %s", a.Targets, a.Verdict)
	}
	if a := doc.Audits[1]; !slices.Equal(a.Targets, []string{"c"}) {
		t.Errorf("the second is %s's", a.Targets)
	}
	text := perch(t.Context(), nil, "audit", "--config", path, "--only", "a").stdout
	if strings.Contains(text, "okhttp") {
		t.Errorf("--only a shows c's client:\n%s", text)
	}
	_, block, _ := strings.Cut(text, "(indent as in your file):\n")
	block, _, _ = strings.Cut(block, "\n\n")
	var pasted []string
	if err := yaml.Unmarshal([]byte(block), &pasted); err != nil || len(pasted) == 0 {
		t.Fatalf("%v: %q", err, block)
	}
	quoted, err := json.Marshal(pasted)
	if err != nil {
		t.Fatal(err)
	}
	mended := configFile(t, "", strings.Replace(config, "errors: []", "errors: "+string(quoted), 1))
	if r := perch(t.Context(), nil, "audit", "--config", mended, "--only", "a/p", "--only", "b"); r.code != exitOK {
		t.Errorf("with what it lists: exit status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

func TestAuditExitStatus(t *testing.T) {
	t.Parallel()
	incident := "../../examples/incident.yaml"
	undeclared := configFile(t, "http://127.0.0.1:1", oneProbe)
	noPolicy := configFile(t, "http://127.0.0.1:1", strings.Replace(oneProbe, "    probes:", "    client: {kind: okhttp}\n    probes:", 1))
	once := configFile(t, "", strings.Replace(read(t, incident), "attempts: 3", "attempts: 1", 1))
	broken := configFile(t, "http://127.0.0.1:1", strings.Replace(oneProbe, "kind: http", "knid: http", 1))
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--config", incident, "--fail-on", "never"}, exitOK, "MISSED"},
		{[]string{"--config", undeclared}, exitOK, "NOTHING TO AUDIT: no target declares a client"},
		{[]string{"--config", noPolicy}, exitOK, "NOT DECLARED: api declares no retry policy"},
		{[]string{"--config", noPolicy, "--fail-on", "degraded"}, exitOK, "NOT DECLARED"},
		{[]string{"--config", once}, exitFindings, "`attempts: 1` is the first try alone"},
		{[]string{"--config", "../../examples/folder"}, exitOK, ""},
		{[]string{"--config", broken}, exitUsage, "perch.yaml:8"},
		{[]string{"--config", "/nonexistent.yaml"}, exitUsage, "/nonexistent.yaml"},
		{[]string{"--config", incident, "--only", "stoc"}, exitUsage, "known targets are: stock-api"},
		{[]string{"--config", incident, "--only", "stock-api/nope"}, exitUsage, "none of its probes"},
		{[]string{"--config", incident, "--only", "stock-api/calendar*"}, exitFindings, "MISSED"},
		{[]string{"--config", incident, "--only", "["}, exitUsage, "known targets are: stock-api"},
		{[]string{"--config", incident, "--output", "junit"}, exitUsage, "\"junit\": want text or json"},
		{[]string{incident}, exitUsage, "behind --config"},
		{[]string{"--config", incident, "--output-file", "/nonexistent/audit.txt"}, exitOwn, "/nonexistent/audit.txt"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			t.Parallel()
			r := perch(t.Context(), nil, append([]string{"audit"}, tt.args...)...)
			if r.code != tt.code {
				t.Errorf("exit status %d, want %d\n%s", r.code, tt.code, r.stderr)
			}
			want(t, "the output", strings.Join(strings.Fields(r.stdout+r.stderr), " "), tt.says)
		})
	}
}

// TestAuditOutputFile: plain text into the file, nothing on stdout, and PERCH_
// names stand for flags.
func TestAuditOutputFile(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "audit.txt")
	r := perch(t.Context(), map[string]string{"PERCH_CONFIG": "../../examples/incident.yaml", "PERCH_OUTPUT_FILE": out}, "audit")
	if r.code != exitFindings || r.stdout != "" {
		t.Errorf("exit status %d, stdout %q; want 1 and nothing", r.code, r.stdout)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the file", string(b), "MISSED: ", noAnswer)
}

// TestAuditIsReadableAt80Columns: no line is cut by a terminal, but for a name
// that stands alone.
func TestAuditIsReadableAt80Columns(t *testing.T) {
	t.Parallel()
	r := perch(t.Context(), map[string]string{"COLUMNS": "80"}, "audit", "--config", "../../examples/incident.yaml")
	alone := regexp.MustCompile(`^ *(- )?\S+$`)
	for line := range strings.Lines(r.stdout) {
		line = strings.TrimRight(line, "\n")
		if len([]rune(line)) > 80 && !alone.MatchString(line) {
			t.Errorf("%d columns: %q", len(line), line)
		}
	}
	if strings.ContainsRune(r.stdout, '\x1b') {
		t.Error("control codes in a pipe")
	}
}

// TestAuditListsTheClients, without a config.
func TestAuditListsTheClients(t *testing.T) {
	t.Parallel()
	r := perch(t.Context(), nil, "audit", "--list")
	if r.code != exitOK || r.stderr != "" {
		t.Errorf("exit status %d\n%s", r.code, r.stderr)
	}
	r = perch(t.Context(), nil, "audit", "--list", "--output", "json")
	var known []struct{ Kind string }
	if err := json.Unmarshal([]byte(r.stdout), &known); err != nil || len(known) != len(clients.Kinds()) {
		t.Errorf("%v, %d clients, want %d", err, len(known), len(clients.Kinds()))
	}
	text := perch(t.Context(), nil, "audit", "--list").stdout
	for _, kind := range clients.Kinds() {
		want(t, "the list", text, "\n"+kind+"  ")
	}
}
