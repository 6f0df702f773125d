//go:build soak

package soak

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"perch.example/internal/freeport"
	"perch.example/internal/stood"
)

const (
	// compared targets are probed each second.
	compared = 200
	// mostShare of blackbox_exporter's processor time is what perch may take.
	mostShare = 1.0 / 3
	warmUp    = 10 * time.Second
)

var compareFor = flag.Duration("compare.for", 20*time.Second, "how long perch and blackbox_exporter are weighed; by hand a minute or more") //nolint:gochecknoglobals // a test's flag

// TestCheaperThanBlackbox weighs perch serve and blackbox_exporter in the same
// minute: 200 targets, each each second, on fresh connections. Both are scraped by a
// real Prometheus, the exporter for each probe, as it is made, perch each 15 s.
func TestCheaperThanBlackbox(t *testing.T) {
	for _, kept := range []bool{false, true} {
		name := map[bool]string{false: "without a state", true: "with a state"}[kept]
		t.Run(name, func(t *testing.T) { compare(t, kept) })
	}
}

func compare(t *testing.T, kept bool) {
	dir, plain := t.TempDir(), startPlain(t)
	exporter := startBlackbox(t, dir)
	perch := startPerch(t, write(t, filepath.Join(dir, "perch.yaml"), comparedConfig(plain, dir, kept)))
	startPrometheus(t, dir, comparedScrapes(plain, exporter.address, perch.address))
	time.Sleep(warmUp)

	machine := stood.Recorded(t, stalledFrom)
	began, before := time.Now(), plain.counted(t)
	cpus := [2]time.Duration{cpuOf(t, perch.pid()), cpuOf(t, exporter.pid())}
	time.Sleep(*compareFor)
	cpus[0], cpus[1] = cpuOf(t, perch.pid())-cpus[0], cpuOf(t, exporter.pid())-cpus[1]
	took, after := time.Since(began), plain.counted(t)
	ran := took - machine.During(began, time.Now())

	var per [2]float64
	for i, path := range []string{"/perch", "/blackbox"} {
		name, process := path[1:], []*process{perch.process, exporter.process}[i]
		probed := after[path] - before[path]
		if due := compared * ran.Seconds(); float64(probed) < 0.9*due {
			t.Errorf("%s made %d probes in %s, in which the machine ran for %s; want about %.0f", name, probed, took.Round(time.Millisecond), ran.Round(time.Millisecond), due)
		}
		per[i] = cpus[i].Seconds() / float64(probed) * 1000
		now, most := residentOf(t, process.pid())
		t.Logf("%-9s %6d probes in %s, %5.2f s of CPU: %.3f s for 1,000; %d MiB resident, %d at most",
			name, probed, took.Round(time.Millisecond), cpus[i].Seconds(), per[i], now>>20, most>>20)
	}
	if share := per[0] / per[1]; share > mostShare {
		t.Errorf("perch takes %.0f%% of blackbox_exporter's CPU, want a third at most", 100*share)
	} else {
		t.Logf("perch takes %.0f%% of blackbox_exporter's CPU", 100*share)
	}
	perch.checkLog(t)
}

func comparedConfig(plain *plainServer, dir string, kept bool) string {
	var text strings.Builder
	text.WriteString("version: 1\nname: weighed\nvantage: soak\nmetrics: {listen: \"127.0.0.1:0\", max_series: 100000}\n")
	if kept {
		fmt.Fprintf(&text, "state: {file: %q}\n", filepath.Join(dir, "state"))
	}
	text.WriteString("defaults: {rate_limit: 100/s, share: 50%, daily_limit: 1000000, every: 1s}\ntargets:\n")
	for i := range compared {
		fmt.Fprintf(&text, "  - {name: api-%d, url: %q, probes: [{name: get, kind: http, path: /perch}]}\n", i, plain.url(i, ""))
	}
	return text.String()
}

func comparedScrapes(plain *plainServer, exporter, perch string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "scrape_configs:\n"+
		"  - {job_name: perch, scrape_interval: 15s, static_configs: [{targets: [%q]}]}\n"+
		"  - job_name: blackbox\n    scrape_interval: 1s\n    scrape_timeout: 1s\n    metrics_path: /probe\n    params: {module: [http_2xx]}\n"+
		"    relabel_configs:\n      - {source_labels: [__address__], target_label: __param_target}\n"+
		"      - {source_labels: [n, __param_target], separator: \"\", target_label: instance}\n"+
		"      - {target_label: __address__, replacement: %q}\n    static_configs:\n", perch, exporter)
	for i := range compared {
		fmt.Fprintf(&text, "      - {targets: [%q], labels: {n: \"%d\"}}\n", plain.url(i, "/blackbox"), i)
	}
	return text.String()
}

// startBlackbox runs the exporter with its module for a web page, over IPv4.
func startBlackbox(t *testing.T, dir string) *listening {
	t.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", freeport.Loopback(t))
	config := write(t, filepath.Join(dir, "blackbox.yml"), "modules: {http_2xx: {prober: http, http: {preferred_ip_protocol: ip4}}}\n")
	p := startProcess(t, "prometheus-blackbox-exporter", "--config.file="+config, "--web.listen-address="+address)
	awaitAnswer(t, "http://"+address+"/-/healthy")
	return &listening{process: p, address: address}
}

func startPrometheus(t *testing.T, dir, scrapes string) *listening {
	t.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", freeport.Loopback(t))
	config := write(t, filepath.Join(dir, "prometheus.yml"), scrapes)
	p := startProcess(t, "prometheus", "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	awaitAnswer(t, "http://"+address+"/-/ready")
	return &listening{process: p, address: address}
}
