//go:build peers

package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const countedTarget = `
  - name: %s
    url: %s
    rate_limit: 50/s
    share: 100%%
    probes:
      - {name: get, kind: http, path: ""}
      - {name: hold, kind: idle, path: "", keep_alive: 1500ms, holds: [400ms, 800ms]}
`

const countedConfig = `
version: 1
name: shop
vantage: peers
metrics: {push: {url: %q}}
state: {file: %q}
targets:
`

// TestPrometheusSeesWhatTwentyRunsDid: a CronJob's runs, each a process of its
// own, push to a Pushgateway that a Prometheus scrapes. After each run the
// counters and buckets have grown by what its report says, none was ever reset,
// though the gateway forgets everything on the way, and what the config no
// longer has is gone.
func TestPrometheusSeesWhatTwentyRunsDid(t *testing.T) {
	t.Parallel()
	const runs, forgetsAfter, removedAfter = 20, 8, 14
	peer := Start(t, "nginx", 10*time.Second, false)
	g := &pushgateway{address: fmt.Sprintf("127.0.0.1:%d", freePort(t, nil, "127.0.0.1"))}
	g.start(t)
	classic := startPrometheus(t, g.address)
	native := startPrometheus(t, g.address, "--enable-feature=native-histograms")

	dir := t.TempDir()
	config := filepath.Join(dir, "perch.yaml")
	head := fmt.Sprintf(countedConfig, "http://"+g.address, filepath.Join(dir, "state"))
	kept := head + fmt.Sprintf(countedTarget, "stock-api", peer.URL)
	both := kept + fmt.Sprintf(countedTarget, "old-api", peer.URL)
	// The first run takes longer: its zeros have to be scraped before its counts are pushed.
	write(t, config, strings.ReplaceAll(both, "holds: [400ms, 800ms]", "holds: [400ms, 3s]"))

	did := newCounted()
	before := did.attempts
	for n := 1; n <= runs; n++ {
		did.add(runCounted(t, config))
		await(t, fmt.Sprintf("run %d in Prometheus", n), func() error { return did.seenBy(classic, n) })
		await(t, fmt.Sprintf("run %d's native histograms", n), func() error { return did.seenNative(native, n) })
		if n == 1 {
			before = maps.Clone(did.attempts)
			write(t, config, both)
		}
		switch n {
		case forgetsAfter:
			g.restart(t)
			if body := get(t, "http://"+g.address+"/metrics"); strings.Contains(body, "perch_attempts_total") {
				t.Error("the gateway forgot nothing: the test shows less than it should")
			}
		case removedAfter:
			write(t, config, kept)
			did.forget("old-api")
		}
	}
	if len(before) == 0 || maps.Equal(before, did.attempts) {
		t.Fatalf("the runs did nothing: %v", did.attempts)
	}
	checkSamples(t, classic, did)
	if body := get(t, "http://"+g.address+"/metrics"); strings.Contains(body, "old-api") {
		t.Error("the gateway still holds the removed target")
	}
}

// checkSamples looks at every raw sample that Prometheus took.
func checkSamples(t *testing.T, p prometheus, did *counted) {
	t.Helper()
	for _, name := range []string{"perch_attempts_total", "perch_attempt_duration_seconds_bucket", "perch_attempt_duration_seconds_count",
		"perch_attempt_duration_seconds_sum", "perch_phase_duration_seconds_bucket", "perch_runs_total", "perch_requests_total"} {
		resets := p.query(t, fmt.Sprintf("resets(%s[1h])", name))
		if len(resets) == 0 {
			t.Errorf("no series of %s", name)
		}
		for series, n := range resets {
			if n.value != 0 {
				t.Errorf("%s%s was reset %v times", name, series, n.value)
			}
		}
	}
	first, last := 0, 0
	for series, samples := range p.samples(t, `perch_attempts_total{target="stock-api"}[1h]`) {
		if samples[0] != 0 {
			t.Errorf("%s begins at %v: the zeros were not pushed first", series, samples[0])
		}
		first++
		if got, want := samples[len(samples)-1]-samples[0], did.attempts[series]; got != want {
			t.Errorf("%s grew by %v, the reports say %v", series, got, want)
		}
		if samples[len(samples)-1] > 0 {
			last++
		}
	}
	if first < 50 || last < 3 {
		t.Errorf("%d series, %d of them counted: want those of both probes", first, last)
	}
}

// reported is what these tests read of a JSON report.
type reported struct {
	Outcomes []struct {
		Target, Probe string
		Attempts      []struct {
			Connection, Reason string
			Status             int
			Elapsed            float64 `json:"elapsed_seconds"`
		}
	}
	Problems []string
}

func runCounted(t *testing.T, config string) reported {
	t.Helper()
	path, err := buildPerch()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "run", "--all", "--config", config, "--output", "json")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("perch run: %v\n%s%s", err, out.String(), errs.String())
	}
	var r reported
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("reading the report: %v\n%s", err, out.String())
	}
	if len(r.Problems) > 0 {
		t.Fatalf("perch says %q", r.Problems)
	}
	return r
}
