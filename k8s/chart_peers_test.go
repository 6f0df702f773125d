//go:build peers

package k8s

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"perch.example/internal/cluster"
)

// helm is what `helm template` says of a release of the chart with a text as its
// perch.yaml; empty: the values' own.
func helm(t *testing.T, release, text string, set ...string) (string, error) {
	t.Helper()
	args := []string{"template", release, "chart"}
	if text != "" {
		file := filepath.Join(t.TempDir(), "perch.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--set-file=config="+file)
	}
	for _, s := range set {
		args = append(args, "--set="+s)
	}
	out, err := exec.Command(cluster.Program(t, "helm"), args...).CombinedOutput()
	return string(out), err
}

// TestTheChartTakesTheConfigAsItIs: from an editor on Windows, as JSON, with a first
// line that is indented. What is mounted is what was given, but for the marks of such
// an editor.
func TestTheChartTakesTheConfigAsItIs(t *testing.T) {
	as := func(line string) string { return strings.Replace(small, "state: {configmap: perch-state}", line, 1) }
	for what, c := range map[string]struct{ text, want string }{
		"as it is":         {text: small},
		"CRLF":             {text: strings.ReplaceAll(small, "\n", "\r\n"), want: small},
		"a byte order":     {text: "\ufeff" + small, want: small},
		"indented":         {text: "      # team shop\n  # and another\n" + small},
		"indented by far":  {text: strings.ReplaceAll(small, "\n", "\n     ")},
		"JSON":             {text: `{"version":1,"name":"shop","vantage":"prod","targets":[],"state":{"configmap":"perch-state"}}`},
		"over two lines":   {text: as("state:\n  file: \"\"\n  configmap: 'perch-state'")},
		"an anchor":        {text: as("state: &s\n  configmap: perch-state")},
		"lines at its end": {text: small + "\n\n  \n# the end"},
	} {
		if c.want == "" {
			c.want = c.text
		}
		out, err := helm(t, "perch", c.text)
		if err != nil {
			t.Errorf("%s: %v, %s", what, err, out)
			continue
		}
		checked(t, out)
		data := normal(t, out)["ConfigMap/perch"].(map[string]any)["data"].(map[string]any)["perch.yaml"].(string)
		if data != strings.TrimSpace(c.want) { // normal trims, too
			t.Errorf("%s: mounted is\n%q\nwant\n%q", what, data, c.want)
		}
	}
}

// TestTheChartsNamesAreNames: what YAML takes for a number, too.
func TestTheChartsNamesAreNames(t *testing.T) {
	for _, release := range []string{"123", "true", "1e5", "null"} {
		for _, set := range [][]string{
			{"networkPolicy.enabled=true", "dashboards.enabled=true", "rules.health.enabled=true"},
			{"kind=indexed-job", "shards=2"},
			{"kind=deployment", "podMonitor.enabled=true", "secretEnv[0]=NO", "image.pullPolicy=Always"},
		} {
			out, err := helm(t, release, strings.Replace(small, "perch-state", release+"-state", 1), set...)
			if err != nil {
				t.Errorf("%s: %v, %s", release, err, out)
				continue
			}
			if release != "null" { // it looks for this word
				checked(t, out)
			}
			for id, object := range normal(t, out) {
				meta := object.(map[string]any)["metadata"].(map[string]any)
				name, _ := meta["name"].(string)
				labels, _ := meta["labels"].(map[string]any)
				if !strings.HasPrefix(name, release) || labels["app.kubernetes.io/instance"] != release {
					t.Errorf("%s: %s is called %v, labels %v", release, id, meta["name"], labels)
				}
			}
		}
	}
	long := strings.Repeat("a", 39) + "--" + strings.Repeat("b", 12)
	if out, err := helm(t, long, ""); err != nil || !strings.Contains(out, "name: \""+strings.Repeat("a", 39)+"\"\n") {
		t.Errorf("a long release: %v, %s", err, out)
	}
}

// TestTheChartsImage: a digest decides; a tag beside it is only read by people.
func TestTheChartsImage(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	for want, set := range map[string][]string{
		"perch:0.1.0":                 nil,
		"r.example:5000/tools/p:v1_2": {"image.repository=r.example:5000/tools/p", "image.tag=v1_2"},
		"perch@" + digest:             {"image.digest=" + digest},
		"perch:v2@" + digest:          {"image.digest=" + digest, "image.tag=v2"},
	} {
		if out, err := helm(t, "perch", "", set...); err != nil || !strings.Contains(out, `image: "`+want+`"`) {
			t.Errorf("%v: %v, want %s in %s", set, err, want, out)
		}
	}
}

// TestTheChartRefusesWhatItCannotMake, in words.
func TestTheChartRefusesWhatItCannotMake(t *testing.T) {
	with := func(line string) string { return strings.Replace(small, "state: {configmap: perch-state}", line, 1) }
	for _, c := range []struct {
		what, release, text, says string
		set                       []string
	}{
		{what: "a name that is no host's", release: "a.b", says: `would be called "a.b", as the release is: want small letters, digits and - alone`},
		{what: "a Service's name", release: "1a", says: "a Service's name begins with a letter", set: []string{"kind=deployment", "serviceMonitor.enabled=true"}},
		{what: "the policy's name", release: "perch-policy", says: "policyConfigMap perch-policy: a ConfigMap of the chart's own"},
		{what: "the policy as a state", says: "policyConfigMap perch-state: a ConfigMap of the chart's own", set: []string{"policyConfigMap=perch-state"}},
		{what: "a comment", text: with("# state: {configmap: perch-state}"), says: "want state: {configmap: perch-state}"},
		{what: "a state elsewhere", text: with("x: {configmap: perch-state}"), says: "want state: {configmap: perch-state}"},
		{what: "a state of another", text: with("state: {configmap: perch-state2}"), says: "want state: {configmap: perch-state}"},
		{what: "a state that is a word", text: with("state: configmap"), says: "want state: {configmap: perch-state}"},
		{what: "a file elsewhere", text: with("state: {file: /var/lib/perch/../other/state}"), says: "want state: {file: /var/lib/perch/state}", set: []string{"state.kind=file"}},
		{what: "a state without its objects", text: small, says: "state.kind is none", set: []string{"state.kind=none"}},
		{what: "no YAML", text: "version: [1", says: "the config cannot be read"},
		{what: "too many shards", text: small, says: "shards is 3, and a target is in one shard, whole: the config has 2", set: []string{"kind=indexed-job"}},
		{what: "too many shards, in values", says: "shards is 3", set: []string{"kind=indexed-job"}},
		{what: "another port", text: small, says: `metrics.listen is ":9877" in the config, and metricsPort 9000`, set: []string{"kind=deployment", "metricsPort=9000"}},
		{what: "another port in the config", text: small + "metrics: {listen: \":9000\"}\n", says: `metrics.listen is ":9000" in the config, and metricsPort 9877`, set: []string{"kind=deployment"}},
		{what: "a port that ends alike", text: small + "metrics: {listen: \":19877\"}\n", says: `metrics.listen is ":19877"`, set: []string{"kind=deployment"}},
		{what: "on loopback", text: small + "metrics: {listen: \"127.0.0.1:9877\"}\n", says: "want :9877", set: []string{"kind=deployment"}},
		{what: "a digest as a tag", says: "tag", set: []string{"image.tag=sha256:abc"}},
		{what: "half a digest", says: "digest", set: []string{"image.digest=sha256:abc"}},
		{what: "a scheme", says: "repository", set: []string{"image.repository=https://r.example/perch"}},
	} {
		release := c.release
		if release == "" {
			release = "perch"
		}
		if out, err := helm(t, release, c.text, c.set...); err == nil || !strings.Contains(out, c.says) {
			t.Errorf("%s: %v, want %q in %s", c.what, err, c.says, out)
		}
	}
}
