package report

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// The guide quotes golden files. With -update it is rewritten like they are;
// its sentences around them must then be read again.
func TestGuideQuotesTheGoldenFiles(t *testing.T) {
	guide := filepath.Join("..", "docs", "reading-a-report.md")
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
	for _, name := range []string{"incident.txt", "silent_drop.txt", "service_down.txt", "pass.txt", "incomplete.txt", "idle.txt"} {
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
