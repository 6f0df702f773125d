package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// spring is the incident's client.
func spring(layer probes.RetryLayer, errors ...string) probes.Client {
	return probes.Client{
		Kind: "apache-httpclient-4.5", WrappedBy: "spring-resttemplate", AutomaticRetries: probes.SwitchNone,
		Retry: &probes.RetryPolicy{Layer: layer, Attempts: 3, Errors: errors},
	}
}

func audited(decl probes.Client, targets ...string) probes.Audit {
	a := clients.Audit(decl, clients.AuditMethods())
	a.Targets = targets
	return a
}

// audits are real ones: what the catalog says today.
func audits() map[string]probes.Audits {
	const web = "org.springframework.web.client."
	whole := func(all ...probes.Audit) probes.Audits {
		return probes.Audits{Version: "0.1.0", Name: "shop", Audits: all}
	}
	inside := audited(spring("inside", web+"HttpServerErrorException", web+"ResourceAccessException"), "stock-api")
	misspelt := whole(audited(spring("around", web+"HttpServerErrorException", web+"ResourceAccesException"), "stock-api"))
	needed := slices.Concat(inside.Missing, inside.Answers)
	getOnly := spring("inside", needed...)
	getOnly.Retry.Methods = []string{"GET", "HEAD"}
	misspelt.Doubts = []string{`perch.yaml:14: targets[0].client.retry.errors[1]: gives no error called "` + web + `ResourceAccesException"; did you mean "` + web + `ResourceAccessException"?`}
	several := whole(inside, audited(probes.Client{Kind: "go-net-http"}, "rates", "prices"))
	several.Undeclared = []string{"legacy"}
	return map[string]probes.Audits{
		"audit":             whole(inside),
		"audit_around":      whole(audited(spring("around", web+"HttpServerErrorException", web+"ResourceAccessException"), "stock-api")),
		"audit_misspelt":    misspelt,
		"audit_several":     several,
		"audit_own_retries": whole(audited(probes.Client{Kind: "go-net-http", Retry: &probes.RetryPolicy{Layer: "inside", Attempts: 2, Errors: []string{"*url.Error", "429", "5xx"}}}, "rates")),
		"audit_unsafe":      whole(audited(spring("inside", needed...), "stock-api")),
		"audit_get_only":    whole(audited(getOnly, "stock-api")),
		"audit_h2": {
			Version: "0.1.0", Audits: []probes.Audit{audited(probes.Client{Kind: "go-net-http", HTTP2: true, Retry: &probes.RetryPolicy{Layer: "inside", Attempts: 2, Errors: []string{"*url.Error"}}}, "stock")},
			Unjudged: []string{"stock over gRPC: the clients of the catalog are HTTP's"},
		},
		"audit_h2_unknown": whole(audited(probes.Client{Kind: "okhttp", HTTP2: true, Retry: &probes.RetryPolicy{Layer: "inside", Attempts: 2, Errors: []string{"java.io.IOException"}}}, "stock")),
		"audit_nothing":    {Version: "0.1.0", Undeclared: []string{"legacy", "old"}},
	}
}

func auditPage(t *testing.T, all probes.Audits, s Style) string {
	t.Helper()
	var b bytes.Buffer
	if err := Audit(&b, all, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAuditGolden(t *testing.T) {
	for name, all := range audits() {
		t.Run(name, func(t *testing.T) {
			golden(t, name+".txt", []byte(auditPage(t, all, Style{})))
			if name != "audit" && name != "audit_nothing" {
				return // the keys are tested below, and JSON is long
			}
			var b bytes.Buffer
			if err := AuditJSON(&b, all); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", b.Bytes())
		})
	}
}

func TestClientsGolden(t *testing.T) {
	known := []probes.KnownClient{
		{Kind: "a-client", Name: "A Client, Java", Versions: "1 and later", Measured: "1.2", Idle: "none of its own", Looks: "from 2 s of idleness on (a read)", Retries: "once", Wrappers: []string{"one", "two"}},
		{Kind: "b-client", Name: "B Client, Go", Versions: "all", Idle: "90 s", Looks: "always (a read)", Retries: "none"},
	}
	var text, doc bytes.Buffer
	if err := errors.Join(Clients(&text, known, Style{}), ClientsJSON(&doc, known)); err != nil {
		t.Fatal(err)
	}
	golden(t, "audit_list.txt", text.Bytes())
	golden(t, "audit_list.json", doc.Bytes())
}

// TestAuditFitsTheTerminal: no line is longer than asked for, but for a name
// that cannot be broken; without colour there is no escape code.
func TestAuditFitsTheTerminal(t *testing.T) {
	for name, all := range audits() {
		for _, columns := range []int{80, 100} {
			for line := range strings.Lines(auditPage(t, all, Style{Width: columns})) {
				line = strings.TrimRight(line, "\n")
				words := strings.Fields(strings.TrimLeft(line, " -"))
				if width(line) > columns && len(words) > 2 {
					t.Errorf("%s at %d columns: %d in %q", name, columns, width(line), line)
				}
				if strings.ContainsRune(line, '\x1b') {
					t.Errorf("%s: an escape code in %q", name, line)
				}
			}
		}
		if !strings.Contains(auditPage(t, all, Style{Color: true}), "\x1b[") {
			t.Errorf("%s: no colour where it is wanted", name)
		}
	}
}

// TestAuditTableIsWhole: every row stands in exactly one group.
func TestAuditTableIsWhole(t *testing.T) {
	for name, all := range audits() {
		for _, a := range all.Audits {
			for _, r := range a.Rows {
				in := 0
				for _, s := range auditSections(a) {
					if r.Method == s.method && s.in(r) {
						in++
					}
				}
				if silent := r.Method == "POST" && (r.Result == probes.AuditNoticed || r.Result == probes.AuditUnknown); in != 1 && (in != 0 || !silent) {
					t.Errorf("%s: %s %s (%s) stands in %d groups", name, r.Method, r.Reason, r.Result, in)
				}
			}
		}
	}
}

// TestAuditListIsYAML: what is to be added can be pasted as it stands.
func TestAuditListIsYAML(t *testing.T) {
	for name, all := range audits() {
		if len(all.Audits) != 1 || len(all.Audits[0].Missing)+len(all.Audits[0].Answers) == 0 {
			continue
		}
		_, block, found := strings.Cut(auditPage(t, all, Style{}), addTitle(all.Audits[0])+"\n")
		if !found {
			t.Fatalf("%s has no list", name)
		}
		block, _, _ = strings.Cut(block, "\n\n")
		var got []string
		if err := yaml.Unmarshal([]byte(block), &got); err != nil {
			t.Fatalf("%s: %v in\n%s", name, err, block)
		}
		if want := slices.Concat(all.Audits[0].Missing, all.Audits[0].Answers); !slices.Equal(got, want) {
			t.Errorf("%s: the list reads as %q, want %q", name, got, want)
		}
	}
}

// TestAuditJSONKeysAreDocumented: docs/audit.md names every key, and no null is
// ever written.
func TestAuditJSONKeysAreDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "docs", "audit.md"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, all := range audits() {
		var b bytes.Buffer
		if err := AuditJSON(&b, all); err != nil {
			t.Fatal(err)
		}
		keys(decoded(t, b.Bytes()), "", got, t)
	}
	var list bytes.Buffer
	if err := ClientsJSON(&list, []probes.KnownClient{{Kind: "k", Versions: "v", Measured: "m", Idle: "i", Looks: "l", Retries: "r"}}); err != nil {
		t.Fatal(err)
	}
	var known []any
	if err := json.Unmarshal(list.Bytes(), &known); err != nil {
		t.Fatal(err)
	}
	keys(known, "", got, t)
	if len(got) < 20 {
		t.Errorf("only %d keys", len(got))
	}
	for key := range got {
		last := key[strings.LastIndexByte(key, '.')+1:]
		if !bytes.Contains(doc, []byte("`"+last+"`")) {
			t.Errorf("docs/audit.md does not explain `%s`", last)
		}
	}
}

func TestAuditVerdictIsTheWorst(t *testing.T) {
	for _, tt := range []struct {
		all  []probes.Audit
		want string
	}{
		{nil, "unknown"},
		{[]probes.Audit{audited(spring("around", "java.lang.Exception"))}, "covered"},
		{[]probes.Audit{audited(spring("around", "java.lang.Exception")), audited(probes.Client{Kind: "okhttp"})}, "unknown"},
		{[]probes.Audit{audited(probes.Client{Kind: "okhttp"}), audited(spring("around", "java.lang.Exception"))}, "unknown"},
		{[]probes.Audit{audited(spring("inside")), audited(probes.Client{Kind: "okhttp"}), audited(spring("around", "java.lang.Exception"))}, "missed"},
	} {
		var b bytes.Buffer
		if err := AuditJSON(&b, probes.Audits{Audits: tt.all}); err != nil {
			t.Fatal(err)
		}
		if got := decoded(t, b.Bytes())["verdict"]; got != tt.want {
			t.Errorf("%d audits: %v, want %s", len(tt.all), got, tt.want)
		}
	}
}

// TestAuditGuideQuotesTheGoldenFiles, as the guide to reports does.
func TestAuditGuideQuotesTheGoldenFiles(t *testing.T) {
	guide := filepath.Join("..", "docs", "audit.md")
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	quote := regexp.MustCompile("(?s)<!-- golden: ([a-z_]+\\.txt) -->\n```text\n(.*?)```\n")
	quotes := 0
	want := quote.ReplaceAllFunc(text, func(block []byte) []byte {
		name := string(quote.FindSubmatch(block)[1])
		quotes++
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return []byte("<!-- golden: " + name + " -->\n```text\n" + string(content) + "```\n")
	})
	if quotes == 0 {
		t.Errorf("%s quotes nothing", guide)
	}
	if bytes.Equal(text, want) {
		return
	}
	if !updating() {
		t.Fatalf("%s quotes another audit than perch prints; read it again and run the tests with -update", guide)
	}
	if err := os.WriteFile(guide, want, 0o644); err != nil {
		t.Fatal(err)
	}
}
