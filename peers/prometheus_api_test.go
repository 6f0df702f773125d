//go:build peers

package peers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// pushgateway is a real one that keeps nothing on disk.
type pushgateway struct {
	address string
	cmd     *exec.Cmd
}

func (g *pushgateway) start(t *testing.T) {
	t.Helper()
	g.cmd = exec.Command("prometheus-pushgateway", "--web.listen-address="+g.address, "--persistence.file=")
	run(t, nil, "prometheus-pushgateway", g.cmd)
	awaitReady(t, "http://"+g.address+"/-/ready")
}

func (g *pushgateway) restart(t *testing.T) {
	t.Helper()
	if err := g.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	await(t, "the gateway to be gone", func() error {
		conn, err := net.Dial("tcp", g.address)
		if err != nil {
			return nil
		}
		_ = conn.Close()
		return errors.New("it still answers")
	})
	g.start(t)
}

// prometheus is the address of a real one.
type prometheus string

func startPrometheus(t *testing.T, gateway string, args ...string) prometheus {
	t.Helper()
	dir := worldDir(t)
	config := write(t, filepath.Join(dir, "prometheus.yml"), fmt.Sprintf("global: {scrape_interval: 200ms}\nscrape_configs:\n"+
		"  - {job_name: gateway, honor_labels: true, static_configs: [{targets: [%q]}]}\n", gateway))
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t, nil, "127.0.0.1"))
	run(t, nil, "prometheus", exec.Command("prometheus", append(args, "--config.file="+config,
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)...))
	awaitReady(t, "http://"+address+"/-/ready")
	p := prometheus(address)
	await(t, "Prometheus to scrape the gateway", func() error { // it looks for targets some seconds after its start
		for _, up := range p.query(t, "up") {
			if up.value == 1 {
				return nil
			}
		}
		return errors.New("no scrape yet")
	})
	return p
}

// sample is a series' last value: a number or a native histogram.
type sample struct {
	value  float64
	native *nativeHistogram
}

type nativeHistogram struct {
	count   float64
	buckets []nativeBucket
}

type nativeBucket struct{ from, to, count float64 }

// result is one series of an answer.
type result struct {
	Metric    map[string]string
	Value     []any
	Values    [][2]any
	Histogram []json.RawMessage
}

// series are the labels that perch itself gave.
func (r result) series() string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(r.Metric)) {
		switch name {
		case "__name__", "job", "instance", "perch", "vantage":
		default:
			pairs = append(pairs, name, r.Metric[name])
		}
	}
	return labels(pairs...)
}

func (p prometheus) results(query string) ([]result, error) {
	resp, err := http.Get("http://" + string(p) + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data struct{ Result []result }
	}
	if err := json.Unmarshal(body, &answer); err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d: %.300s", query, resp.StatusCode, body)
	}
	return answer.Data.Result, nil
}

// ask returns the last value of each series.
func (p prometheus) ask(query string) (map[string]sample, error) {
	results, err := p.results(query)
	if err != nil {
		return nil, err
	}
	all := map[string]sample{}
	for _, r := range results {
		if len(r.Histogram) == 2 {
			h, err := readNative(r.Histogram[1])
			if err != nil {
				return nil, err
			}
			all[r.series()] = sample{native: h}
			continue
		}
		if len(r.Value) == 2 {
			all[r.series()] = sample{value: number(fmt.Sprint(r.Value[1]))}
		}
	}
	return all, nil
}

func (p prometheus) query(t *testing.T, query string) map[string]sample {
	t.Helper()
	all, err := p.ask(query)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// samples returns every raw sample of each series, in order.
func (p prometheus) samples(t *testing.T, query string) map[string][]float64 {
	t.Helper()
	results, err := p.results(query)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]float64{}
	for _, r := range results {
		for _, v := range r.Values {
			all[r.series()] = append(all[r.series()], number(fmt.Sprint(v[1])))
		}
	}
	return all
}

// scraped says whether the last push of the nth run was scraped.
func (p prometheus) scraped(n int) error {
	held, err := p.ask("sum(perch_runs_total)")
	if err != nil {
		return err
	}
	if got := held[""].value; got != float64(n) {
		return fmt.Errorf("it knows of %v runs, want %d", got, n)
	}
	return nil
}

// readNative reads buckets as the API writes them: which ends belong to it,
// from, to, count.
func readNative(raw json.RawMessage) (*nativeHistogram, error) {
	var h struct {
		Count   string
		Buckets [][4]any
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return nil, fmt.Errorf("reading a native histogram: %w: %s", err, raw)
	}
	out := &nativeHistogram{count: number(h.Count)}
	for _, b := range h.Buckets {
		out.buckets = append(out.buckets, nativeBucket{number(fmt.Sprint(b[1])), number(fmt.Sprint(b[2])), number(fmt.Sprint(b[3]))})
	}
	return out, nil
}

// number reads a value as Prometheus writes it; one that is none equals nothing.
func number(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return -1
	}
	return f
}

// await asks again until there is no error.
func await(t *testing.T, what string, try func() error) {
	t.Helper()
	end := time.Now().Add(readyWithin)
	err := try()
	for err != nil && time.Now().Before(end) {
		time.Sleep(50 * time.Millisecond)
		err = try()
	}
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}
