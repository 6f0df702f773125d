//go:build peers

package grafana

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// discovery is how the page finds Pods. Distributions build promtool without
// Kubernetes; all but this is checked by whichever there is.
const discovery = `    kubernetes_sd_configs:
      - role: pod
        namespaces: {names: [shop]}
`

// TestScrapeConfigsOfTheDocs: those that docs/metrics.md shows are such that a
// Prometheus starts with.
func TestScrapeConfigsOfTheDocs(t *testing.T) {
	raw, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```yaml\n(# prometheus\\.yml\n.*?)```").FindAllSubmatch(raw, -1)
	if len(found) != 1 {
		t.Fatalf("docs/metrics.md shows %d files prometheus.yml, want 1", len(found))
	}
	text := string(found[0][1])
	if strings.Count(text, discovery) != 1 {
		t.Fatalf("Pods are not found by\n%s, which this test leaves out, in\n%s", discovery, text)
	}
	path := filepath.Join(t.TempDir(), "prometheus.yml")
	if err := os.WriteFile(path, []byte(strings.Replace(text, discovery, "    static_configs: [{targets: [perch:9877]}]\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "config", "--syntax-only", path)
}
