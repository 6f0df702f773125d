//go:build peers

package grafana

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/prometheus"

	"perch.example/lab"
)

// liveConfig makes every panel have something to show: connections that end
// early, die, or are told to live for two seconds; a second try that works and
// one that does not; TLS; a client whose retries have gaps; a destination that
// takes notices, and one where nobody listens.
const liveConfig = `
version: 1
name: shop
vantage: %[1]s
metrics: {%[2]s}
state: {file: %[3]q}
alerts: {fire_after: 1, settle: none}
alertmanager: {url: %[4]q}
webhook: {url: %[5]q}
defaults: {every: 4s, timeouts: {response: 300ms}}
targets:
  - name: stock-api
    url: %[6]s
    rate_limit: 200/s
    share: 100%%
    daily_limit: 1000000
    client:
      kind: apache-httpclient-4.5
      wrapped_by: spring-resttemplate
      max_idle: 1800ms
      validate_after: never
      automatic_retries: none
      retry:
        layer: inside
        attempts: 3
        errors: [org.springframework.web.client.HttpServerErrorException, org.springframework.web.client.ResourceAccessException]
    probes:
      - {name: calendar, kind: http, path: "/flaky", retry: {attempts: 2, backoff: 100ms}}
      - {name: held, kind: idle, path: "/", keep_alive: 1600ms, holds: [300ms, 600ms, 1300ms, 1500ms, 1750ms]}
  - {name: lost, url: %[7]s, rate_limit: 200/s, share: 100%%, daily_limit: 1000000, probes: [{name: held, kind: idle, path: "/", holds: [300ms]}]}
  - {name: limited, url: %[8]s, rate_limit: 200/s, share: 100%%, daily_limit: 1000000, probes: [{name: get, kind: http, path: "/", retry: {attempts: 2, backoff: 100ms}}]}
  - {name: secure, url: %[9]s, tls: {ca_file: %[10]q}, rate_limit: 200/s, share: 100%%, daily_limit: 1000000, probes: [{name: get, kind: http, path: "/"}]}
`

// world is what the live perches meet.
type world struct {
	t             *testing.T
	dir, perch    string
	stock, lost   string
	limited, tls  string
	authority     string
	listens, dead string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), dead: "http://" + freePort(t) + "/notices"}
	w.perch = filepath.Join(w.dir, "perch")
	if out, err := exec.Command("go", "build", "-o", w.perch, "perch.example/cmd/perch").CombinedOutput(); err != nil {
		t.Fatalf("building perch: %v\n%s", err, out)
	}
	var calls atomic.Int64
	stock := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Keep-Alive", "timeout=2")
		if r.URL.Path == "/flaky" && calls.Add(1)%2 == 1 {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		_, _ = rw.Write([]byte("{}"))
	}))
	stock.Config.IdleTimeout = time.Second
	stock.Start()
	t.Cleanup(stock.Close)
	alertmanager := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(alertmanager.Close)
	w.stock, w.listens = stock.URL, alertmanager.URL
	w.lost = w.lab("no_response", lab.Options{Healthy: 1}).URL()
	w.limited = w.lab("rate_limited", lab.Options{}).URL()
	secure := w.lab("certificate_expiring", lab.Options{})
	w.tls = secure.URL()
	var err error
	if w.authority, err = secure.WriteCA(w.dir); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) lab(scenario string, o lab.Options) *lab.Server {
	w.t.Helper()
	s, err := lab.Start(context.Background(), scenario, o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

// config writes one perch's: its vantage, and where its metrics go.
func (w *world) config(vantage, metrics string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, vantage+".yaml")
	text := fmt.Sprintf(liveConfig, vantage, metrics, filepath.Join(w.dir, vantage+".state"), w.listens, w.dead,
		w.stock, w.lost, w.limited, w.tls, w.authority)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// run is one Job: it finds what is broken, so that its status is 1, or 4 for the
// webhook.
func (w *world) run(config string) {
	w.t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(w.perch, "run", "--all", "--config", config)
	cmd.Stdout, cmd.Stderr = &out, &out
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1 && exit.ExitCode() != 4) {
		w.t.Fatalf("perch run: %v\n%s", err, out.String())
	}
}

// TestEveryPanelHasData: a perch that serves and one that is run again and again
// and pushes, both scraped by a Prometheus with classic histograms and by one
// with native ones. Every query of every dashboard, its annotations' and its
// variables' too, returns data from each.
func TestEveryPanelHasData(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gateway, serving := freePort(t), freePort(t)
	launch(t, "prometheus-pushgateway", "--web.listen-address="+gateway, "--persistence.file=")
	await(t, "the Pushgateway", answers(gateway))
	config := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs:\n"+
		"  - {job_name: gateway, honor_labels: true, static_configs: [{targets: [%q]}]}\n"+
		"  - {job_name: perch, static_configs: [{targets: [%q]}]}\n", gateway, serving)
	began := time.Now()
	servers := map[string]server{
		"classic": startServer(t, config, t.TempDir()),
		"native":  startServer(t, config, t.TempDir(), "--enable-feature=native-histograms"),
	}
	launch(t, w.perch, "serve", "--config", w.config("serves", fmt.Sprintf("listen: %q", serving)))
	pushed := w.config("pushes", fmt.Sprintf(`push: {url: "http://%s"}`, gateway))
	for range 3 {
		w.run(pushed)
	}
	var empty map[string]string
	await(t, "every query to have data", func() error {
		w.run(pushed)
		empty = map[string]string{}
		for mode, p := range servers {
			for _, vantage := range []string{"serves", "pushes"} {
				s := span{from: began, to: time.Now(), scrape: time.Second, vantage: vantage}
				for where, why := range p.without(t, s) {
					empty[mode+" "+vantage+" "+where] = why
				}
			}
		}
		if len(empty) > 0 {
			return fmt.Errorf("%d have none", len(empty))
		}
		return nil
	}, func() {
		for _, where := range slices.Sorted(maps.Keys(empty)) {
			t.Logf("%s: %s", where, empty[where])
		}
	})
	for mode, p := range servers {
		p.checkMode(t, mode)
	}
}

// without are the queries that return nothing, or nothing but NaN, by where
// they stand.
func (p server) without(t *testing.T, s span) map[string]string {
	t.Helper()
	const points = 600
	empty := map[string]string{}
	check := func(where string, q prometheus.Dataquery, step time.Duration) {
		found, err := p.ask(q, s, step)
		if err != nil {
			empty[where] = err.Error()
			return
		}
		if !slices.ContainsFunc(found, func(c course) bool { _, known := c.last(); return known }) {
			empty[where] = s.fill(q.Expr, step)
		}
	}
	labelValues := regexp.MustCompile(`^label_values\((.*), ([a-z]+)\)$`)
	for _, b := range boards(t) {
		for _, each := range b.Panels {
			if each.Panel == nil {
				continue
			}
			for _, q := range queriesOf(*each.Panel) {
				if !exposes(s.vantage, q.Expr) {
					continue
				}
				check(b.File+"/"+*each.Panel.Title+"/"+*q.RefId, q, s.step(*each.Panel, points))
			}
		}
		for _, v := range b.Templating.List {
			if v.Definition != nil {
				parts := labelValues.FindStringSubmatch(*v.Definition)
				check(b.File+"/$"+v.Name, prometheus.Dataquery{
					Expr: "count by (" + parts[2] + ") (" + parts[1] + ")", Instant: new(true), LegendFormat: new(""),
				}, time.Second)
			}
		}
		check(b.File+"/annotations", prometheus.Dataquery{
			Expr: *b.Annotations.List[0].Expr, Instant: new(false), LegendFormat: new(""),
		}, time.Second)
	}
	return empty
}

// exposes reports whether one of these perches can have what a query asks for: what is
// pushed reads its config once and has no ticks of its own, and without a cluster none
// elects a leader (k8s' replicas do).
func exposes(vantage, expr string) bool {
	ofServe := strings.Contains(expr, "perch_config_last_reload") || strings.Contains(expr, "perch_ticks_missed")
	return !strings.Contains(expr, "perch_leader") && (vantage == "serves" || !ofServe)
}

// checkMode proves that a Prometheus keeps histograms in the way that the test
// is about, and in no other.
func (p server) checkMode(t *testing.T, mode string) {
	t.Helper()
	for _, metric := range []string{answerTime, answerTime + "_bucket"} {
		found, err := p.ask(prometheus.Dataquery{Expr: metric, Instant: new(true), LegendFormat: new("")}, span{to: time.Now(), scrape: time.Second}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if there, want := len(found) > 0, (mode == "classic") == strings.HasSuffix(metric, "_bucket"); there != want {
			t.Errorf("%s: %s is there: %t, want %t", mode, metric, there, want)
		}
	}
}
