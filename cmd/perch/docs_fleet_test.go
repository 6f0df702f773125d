package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// namedBlocks are the YAML blocks of a page whose first line names their file.
func namedBlocks(page string) map[string]string {
	files := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)```yaml\n# ([\\w./-]+\\.yaml)\\b[^\n]*\n(.*?)```").FindAllStringSubmatch(page, -1) {
		files[m[1]] = m[2]
	}
	return files
}

// ranBlock returns the answer that a page shows below a mark with its command.
func ranBlock(t *testing.T, page, command string) string {
	t.Helper()
	_, rest, _ := strings.Cut(page, "<!-- run: "+command+" -->\n```text\n")
	answer, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatalf("no answer of %q", command)
	}
	return answer
}

// TestFleetOfTheRollout: the fleet that docs/rollout.md shows passes its gate, as
// it says, and the gate's answer is the one that it shows. -update writes it anew.
func TestFleetOfTheRollout(t *testing.T) {
	t.Parallel()
	const doc, command = "../../docs/rollout.md", "perch plan --policy policy.yaml fleet/"
	page, dir := read(t, doc), t.TempDir()
	files := namedBlocks(page)
	_, listed, _ := strings.Cut(page, "```text\npolicy.yaml\nfleet/\n")
	listed, _, _ = strings.Cut(listed, "```")
	for name, text := range files {
		if rest, in := strings.CutPrefix(name, "fleet/"); in && !strings.Contains(listed, "  "+rest) {
			t.Errorf("%s is not in the list of files", name)
		}
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name), text)
	}
	if len(files) != 6 || strings.Count(listed, ".yaml") != 5 {
		t.Fatalf("%d files, want 6; %d listed, want 5", len(files), strings.Count(listed, ".yaml"))
	}
	policy, fleet := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "fleet")
	if r := perch(t.Context(), nil, "plan", "--check", "--policy", policy, fleet); r.code != exitOK || r.stderr != "" {
		t.Errorf("the gate: exit status %d\n%s", r.code, r.stderr)
	}
	r := perch(t.Context(), nil, "plan", "--policy", policy, fleet)
	i := strings.LastIndex(r.stdout, "\nhost ")
	if r.code != exitOK || i < 0 {
		t.Fatalf("exit status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	got := strings.ReplaceAll(r.stdout[i+1:], dir+"/", "")
	switch shown := ranBlock(t, page, command); {
	case shown == got:
	case updating():
		mark := "<!-- run: " + command + " -->\n```text\n"
		writeFile(t, doc, strings.Replace(page, mark+shown, mark+got, 1))
	default:
		t.Errorf("docs/rollout.md shows\n%s\nperch says\n%s", shown, got)
	}
	for _, class := range []string{"shop/partner", "pay/direct"} {
		args := []string{"manifest", "--config", filepath.Join(fleet, class), "--namespace", "shop", "--image", "registry.example/tools/perch:0.1.0"}
		if class == "shop/partner" {
			args = append(args, "--name", "perch-partner", "--like", likeObjects+"deployment.in.yaml", "--workload", "deploy/checkout")
		}
		if r := perch(t.Context(), nil, args...); r.code != exitOK || strings.Contains(r.stderr, "has no state") {
			t.Errorf("the manifest of %s: exit status %d\n%s", class, r.code, r.stderr)
		}
	}
}

// seriesOf are those that perch plan says of so many targets.
func seriesOf(t *testing.T, targets int, client string, probes ...string) int {
	t.Helper()
	var b strings.Builder
	b.WriteString("version: 1\nname: fleet\nvantage: prod\nmetrics: {max_series: 1000000}\ntargets:\n")
	for i := range targets {
		fmt.Fprintf(&b, "  - {name: t%d, url: 'https://api%d.partner.example', %sprobes: [%s]}\n", i, i, client, strings.Join(probes, ", "))
	}
	r := perch(t.Context(), nil, "plan", "--config", configFile(t, "", b.String()))
	m := regexp.MustCompile(`(?m)^time series +(\d+) of`).FindStringSubmatch(r.stdout)
	if r.code != exitOK || m == nil {
		t.Fatalf("exit status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// TestSeriesOfTheRollout: the counts of docs/rollout.md are those of perch plan.
func TestSeriesOfTheRollout(t *testing.T) {
	t.Parallel()
	const get, idle = "{name: get, kind: http}", "{name: idle, kind: idle, keep_alive: 60s, holds: [30s, 59s, 61s, 120s]}"
	const ladder = "{name: idle, kind: idle, keep_alive: 60s}"
	const client = "client: {kind: apache-httpclient-4.5, wrapped_by: spring-resttemplate, validate_after: 2s, automatic_retries: none, " +
		"retry: {layer: inside, attempts: 3, errors: [org.springframework.web.client.ResourceAccessException]}}, "
	page := read(t, "../../docs/rollout.md")
	per := func(client string, probes ...string) int {
		return seriesOf(t, 2, client, probes...) - seriesOf(t, 1, client, probes...)
	}
	for row, got := range map[string]int{
		"perch itself": seriesOf(t, 1, "", get) - per("", get), "a target over TLS with one `http` probe": per("", get),
		"... with one `idle` probe of four rungs beside it": per("", get, idle), "... and a declared client with its retry policy": per(client, get, idle),
		"... whose ladder perch makes, without `holds`": per(client, get, ladder),
		"200 services of that kind":                     seriesOf(t, 200, client, get, ladder),
	} {
		m := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(row) + ` \| (?:about )?([\d,]+) \|$`).FindStringSubmatch(page)
		if m == nil || strings.ReplaceAll(m[1], ",", "") != strconv.Itoa(got) {
			t.Errorf("%s: docs/rollout.md says %q, perch plan %d", row, m, got)
		}
	}
}

// TestSamePathShowsTheNotes: what docs/same-path.md quotes of a manifest's notes
// is what perch says of that input.
func TestSamePathShowsTheNotes(t *testing.T) {
	t.Parallel()
	const command = "perch manifest --config k8s/base/perch.yaml --like k8s/like/testdata/networkpolicies.in.yaml"
	args := strings.Fields(strings.ReplaceAll(command, "k8s/", "../../k8s/"))[1:]
	r := perch(t.Context(), nil, args...)
	if r.code != exitOK {
		t.Fatalf("exit status %d\n%s", r.code, r.stderr)
	}
	said := map[string]bool{}
	for line := range strings.Lines(r.stderr) {
		said[strings.TrimSpace(line)] = true
	}
	shown := strings.ReplaceAll(ranBlock(t, read(t, "../../docs/same-path.md"), command), "\n  ", " ")
	if strings.Count(shown, "\n") < 4 {
		t.Errorf("only this is shown:\n%s", shown)
	}
	for line := range strings.Lines(shown) {
		if line = strings.TrimSpace(line); !said[line] {
			t.Errorf("docs/same-path.md shows %q; perch says\n%s", line, r.stderr)
		}
	}
}
