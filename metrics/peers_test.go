//go:build peers

package metrics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"perch.example/internal/freeport"
	"perch.example/probes"
)

// The peers suite holds the series against the real Pushgateway, Prometheus
// and promtool. A missing one is a failure.

// TestRealPushgatewayAndPrometheusHoldTheRun pushes two perches of one name
// and different vantages, and reads every series back through a Prometheus
// that scrapes the gateway.
func TestRealPushgatewayAndPrometheusHoldTheRun(t *testing.T) {
	gateway := startGateway(t)
	prometheus := startPrometheus(t, gateway)
	m := New(shop(t))
	m.Observe(incident())
	other := shop(t)
	other.Vantage = "prod-osaka"
	for _, each := range []*Metrics{m, New(other)} {
		if err := each.Push(t.Context(), "http://"+gateway, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	want := exposed(t, m)
	await(t, "Prometheus to hold the run's series", func() error {
		return same(held(t, prometheus, "prod-tokyo"), want)
	})
	if n := len(held(t, prometheus, "prod-osaka")); n == 0 {
		t.Error("the second vantage's push is not there")
	}
	// A run that finds the fault gone takes its gauges out of the group.
	m.Observe(probes.Run{Started: moment(), Finished: moment().Add(time.Minute),
		Outcomes: []probes.Outcome{{Target: "stock-api", Probe: "idle", Kind: probes.KindIdle, Verdict: probes.VerdictPass}},
		Idle:     []probes.IdleResult{{Target: "stock-api", Probe: "idle", Survived: 120 * time.Second}}})
	if err := m.Push(t.Context(), "http://"+gateway, nil, nil); err != nil {
		t.Fatal(err)
	}
	want = exposed(t, m)
	await(t, "Prometheus to hold the second run's series", func() error {
		return same(held(t, prometheus, "prod-tokyo"), want)
	})
}

// TestPushedHistogramsAreNative reads a pushed histogram from a Prometheus that
// takes native ones.
func TestPushedHistogramsAreNative(t *testing.T) {
	gateway := startGateway(t)
	prometheus := startPrometheus(t, gateway, "--enable-feature=native-histograms")
	m := New(shop(t))
	m.Observe(incident())
	if err := m.Push(t.Context(), "http://"+gateway, nil, nil); err != nil {
		t.Fatal(err)
	}
	const native = `histogram_count(perch_attempt_duration_seconds{probe="idle", connection="fresh"})`
	await(t, "Prometheus to hold a native histogram", func() error {
		for _, value := range query(t, prometheus, native) {
			if value == "3" {
				return nil
			}
			return fmt.Errorf("it counts %s answers, want 3", value)
		}
		return fmt.Errorf("no answer to %s", native)
	})
}

// TestPromtoolFindsNothing runs the linter of Prometheus itself on the text
// file.
func TestPromtoolFindsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "perch.prom")
	if err := everything(shop(t)).WriteTextfile(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(installed(t, "promtool"), "check", "metrics")
	cmd.Stdin = bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

func startGateway(t *testing.T) (address string) {
	t.Helper()
	address = freeAddress(t)
	start(t, "prometheus-pushgateway", "--web.listen-address="+address, "--persistence.file=")
	await(t, "the Pushgateway to be ready", func() error { return ready("http://" + address + "/-/ready") })
	return address
}

func startPrometheus(t *testing.T, gateway string, args ...string) (address string) {
	t.Helper()
	dir := t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 200ms}\nscrape_configs:\n"+
		"  - {job_name: gateway, honor_labels: true, static_configs: [{targets: [%q]}]}\n", gateway)
	path := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	address = freeAddress(t)
	start(t, "prometheus", append(args, "--config.file="+path, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)...)
	await(t, "Prometheus to be ready", func() error { return ready("http://" + address + "/-/ready") })
	return address
}

// installed returns a program's path; the suite fails without it.
func installed(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("the peers suite needs %s: %v", name, err)
	}
	return path
}

// start runs a server until the test ends; its output is shown if the test
// failed.
func start(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(installed(t, name), args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it holds nothing that outlives the test
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", name, out.String())
		}
	})
}

// freeAddress returns a loopback address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(freeport.Loopback(t)))
}

// await asks again until there is no error, for as long as a busy machine may need.
func await(t *testing.T, what string, try func() error) {
	t.Helper()
	deadline := time.Now().Add(90 * time.Second)
	err := try()
	for err != nil && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
		err = try()
	}
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

func ready(url string) error {
	_, err := get(url)
	return err
}

func get(url string) ([]byte, error) {
	resp, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d, want 200: %s", resp.StatusCode, body)
	}
	return body, err
}

// held returns a vantage's series as Prometheus has them, in the form of
// exposed.
func held(t *testing.T, prometheus, vantage string) map[string]string {
	t.Helper()
	return query(t, prometheus, fmt.Sprintf(`{job="perch", perch="shop", vantage=%q, __name__=~"perch_.+"}`, vantage))
}

func query(t *testing.T, prometheus, query string) map[string]string {
	t.Helper()
	body, err := get("http://" + prometheus + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, r := range answer.Data.Result {
		name := r.Metric["__name__"]
		for _, own := range []string{"__name__", "job", "perch", "vantage"} {
			delete(r.Metric, own)
		}
		var labels []string
		for k, v := range r.Metric {
			labels = append(labels, fmt.Sprintf("%s=%q", k, v))
		}
		all[sorted(name+"{"+strings.Join(labels, ",")+"}")] = fmt.Sprint(r.Value[1])
	}
	return all
}

// same compares two sets of series by name, labels and value.
func same(got, want map[string]string) error {
	for key, value := range want {
		have, there := got[key]
		if !there {
			return fmt.Errorf("%s is missing (%d series, want %d)", key, len(got), len(want))
		}
		if number(have) != number(value) {
			return fmt.Errorf("%s: got %s, want %s", key, have, value)
		}
	}
	for key := range got {
		if _, there := want[key]; !there {
			return fmt.Errorf("%s is there and should not be", key)
		}
	}
	return nil
}

func number(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return -1
	}
	return f
}
