//go:build peers

package grafana

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"

	"perch.example/internal/freeport"
)

// readyWithin bounds every wait for another program, on a busy machine.
const readyWithin = 2 * time.Minute

// server is the address of a real Prometheus.
type server string

// launch starts a program that ends with the test. What it says is told when
// the test fails.
func launch(t *testing.T, name string, args ...string) {
	t.Helper()
	said, err := os.Create(filepath.Join(t.TempDir(), filepath.Base(name)))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", name, err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = said.Close()
		if out, err := os.ReadFile(said.Name()); t.Failed() && err == nil {
			t.Logf("%s says at its end:\n%s", name, out[max(0, len(out)-1500):])
		}
	})
}

func freePort(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(freeport.Loopback(t)))
}

// await asks again until there is no error; what more is known is told before
// it gives up.
func await(t *testing.T, what string, try func() error, tell ...func()) {
	t.Helper()
	end := time.Now().Add(readyWithin)
	err := try()
	for err != nil && time.Now().Before(end) {
		time.Sleep(50 * time.Millisecond)
		err = try()
	}
	if err == nil {
		return
	}
	for _, more := range tell {
		more()
	}
	t.Fatalf("waiting for %s: %v", what, err)
}

func answers(address string) func() error {
	return func() error {
		resp, err := http.Get("http://" + address + "/-/ready")
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", resp.StatusCode)
		}
		return nil
	}
}

// startServer starts a Prometheus with that configuration and folder of data.
func startServer(t *testing.T, config, data string, args ...string) server {
	t.Helper()
	file := filepath.Join(t.TempDir(), "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	address := freePort(t)
	launch(t, "prometheus", append(args, "--config.file="+file, "--storage.tsdb.path="+data,
		"--storage.tsdb.retention.time=100y", "--web.listen-address="+address)...)
	await(t, "Prometheus", answers(address))
	return server(address)
}

// span is the time that a dashboard shows.
type span struct {
	from, to time.Time
	scrape   time.Duration // how often Prometheus looks
	vantage  string        // whose series; empty: all
}

func (s span) long() time.Duration { return s.to.Sub(s.from) }

// step is how far apart the points of a panel are that is so many points wide,
// as Grafana chooses it.
func (s span) step(p dashboard.Panel, points float64) time.Duration {
	step := max(time.Duration(float64(s.long())/points).Round(time.Second), s.scrape)
	if p.Interval == nil {
		return step
	}
	least, err := time.ParseDuration(*p.Interval)
	if err != nil {
		return step
	}
	return max(step, least)
}

// fill puts values for Grafana's variables, and all for the reader's.
func (s span) fill(expr string, step time.Duration) string {
	long := func(d time.Duration) string {
		return strconv.FormatFloat(max(1, math.Ceil(d.Seconds())), 'f', 0, 64) + "s"
	}
	return strings.NewReplacer(
		"$__rate_interval", long(max(step+s.scrape, 4*s.scrape)), "$__interval", long(step), "$__range", long(s.long()),
		"$window", "1h", "$perch", ".*", "$vantage", cmp.Or(s.vantage, ".*"), "$target", ".*", "$probe", ".*",
	).Replace(expr)
}

// point is a value at a time, or the buckets of a native histogram.
type point struct {
	at      time.Time
	value   float64
	buckets []bucket
}

// bucket is one of a histogram: how many observations lie up to an end.
type bucket struct{ from, to, count float64 }

// course is one series of an answer.
type course struct {
	name   string // by the query's legend
	labels map[string]string
	points []point
}

// last is the latest value; false: there is none.
func (c course) last() (float64, bool) {
	for i := len(c.points) - 1; i >= 0; i-- {
		if !math.IsNaN(c.points[i].value) {
			return c.points[i].value, true
		}
	}
	return 0, false
}

// ask answers one query of a panel, as Grafana would ask it.
func (p server) ask(q prometheus.Dataquery, s span, step time.Duration) ([]course, error) {
	form := url.Values{"query": {s.fill(q.Expr, step)}}
	path := "query"
	if *q.Instant {
		form.Set("time", unix(s.to))
	} else {
		path = "query_range"
		form.Set("start", unix(s.to.Add(-(s.long() / step * step)))) // so that the last point is the end
		form.Set("end", unix(s.to))
		form.Set("step", strconv.FormatFloat(step.Seconds(), 'f', -1, 64))
	}
	resp, err := http.PostForm("http://"+string(p)+"/api/v1/"+path, form)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var answer struct{ Data struct{ Result []answered } }
	if err := json.Unmarshal(body, &answer); err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d: %.300s: %s", resp.StatusCode, body, form.Get("query"))
	}
	var all []course
	for _, a := range answer.Data.Result {
		c, err := a.course(*q.LegendFormat)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func unix(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1e3, 'f', 3, 64) }

// answered is one series as Prometheus writes it.
type answered struct {
	Metric     map[string]string
	Value      []any
	Values     [][]any
	Histogram  []json.RawMessage
	Histograms [][]json.RawMessage
}

func (a answered) course(legend string) (course, error) {
	c := course{name: legend, labels: a.Metric}
	c.name = strings.TrimSpace(regexp.MustCompile(`\{\{([a-z_]+)\}\}`).ReplaceAllStringFunc(legend, func(label string) string {
		return a.Metric[strings.Trim(label, "{}")]
	}))
	if len(a.Value) == 2 {
		a.Values = append(a.Values, a.Value)
	}
	if len(a.Histogram) == 2 {
		a.Histograms = append(a.Histograms, a.Histogram)
	}
	for _, v := range a.Values {
		at, known := v[0].(float64)
		value, err := strconv.ParseFloat(fmt.Sprint(v[1]), 64)
		if err != nil || !known {
			return c, errors.Join(err, fmt.Errorf("a value is %v", v))
		}
		c.points = append(c.points, point{at: moment(at), value: value})
	}
	for _, h := range a.Histograms {
		var at float64
		var held struct{ Buckets [][4]any }
		if err := errors.Join(json.Unmarshal(h[0], &at), json.Unmarshal(h[1], &held)); err != nil {
			return c, err
		}
		p := point{at: moment(at)}
		for _, b := range held.Buckets {
			from, err := strconv.ParseFloat(fmt.Sprint(b[1]), 64)
			to, err2 := strconv.ParseFloat(fmt.Sprint(b[2]), 64)
			count, err3 := strconv.ParseFloat(fmt.Sprint(b[3]), 64)
			if err := errors.Join(err, err2, err3); err != nil {
				return c, err
			}
			p.buckets, p.value = append(p.buckets, bucket{from, to, count}), p.value+count
		}
		c.points = append(c.points, p)
	}
	return c, nil
}

func moment(seconds float64) time.Time { return time.UnixMilli(int64(math.Round(seconds * 1e3))).UTC() }
