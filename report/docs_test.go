package report

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// The guides quote golden files. With -update they are rewritten like those are;
// their sentences around them must then be read again.
func TestGuidesQuoteTheGoldenFiles(t *testing.T) {
	for guide, files := range map[string][]string{
		"reading-a-report.md": {"incident.txt", "silent_drop.txt", "service_down.txt", "pass.txt", "incomplete.txt", "idle.txt"},
		"same-path.md":        {"path_same.txt"},
	} {
		t.Run(guide, func(t *testing.T) { quotes(t, filepath.Join("..", "docs", guide), files) })
	}
}

func quotes(t *testing.T, guide string, files []string) {
	t.Helper()
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	quote := regexp.MustCompile("(?s)<!-- golden: ([a-z_]+\\.txt) -->\n```text\n(.*?)```\n")
	quoted := map[string]bool{}
	want := quote.ReplaceAllFunc(text, func(block []byte) []byte {
		name := string(quote.FindSubmatch(block)[1])
		quoted[name] = true
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return []byte("<!-- golden: " + name + " -->\n```text\n" + string(content) + "```\n")
	})
	for _, name := range files {
		if !quoted[name] {
			t.Errorf("%s does not quote %s", guide, name)
		}
	}
	if bytes.Equal(text, want) {
		return
	}
	if !updating() {
		t.Fatalf("%s quotes other reports than perch prints; read it again and run the tests with -update", guide)
	}
	if err := os.WriteFile(guide, want, 0o644); err != nil {
		t.Fatal(err)
	}
}
