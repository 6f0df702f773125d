package metrics

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func TestTextfileRoundTrip(t *testing.T) {
	m := New(shop(t))
	m.Observe(incident())
	dir := t.TempDir()
	path := filepath.Join(dir, "perch.prom")
	for range 2 { // the second write replaces the first
		if err := m.WriteTextfile(path); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := exposition(t, m); got != string(raw) {
		t.Error("the file differs from what a scrape sees")
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatalf("reading the file back: %v", err)
	}
	if got := families["perch_budget_limit_requests_per_second"].GetMetric()[0].GetGauge().GetValue(); got != 2 {
		t.Errorf("the budget's limit read back is %v, want 2", got)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left in the folder: %v (%v), want the file alone", entries, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v (%v), want 0644: node_exporter runs as another user", info.Mode(), err)
	}
	if err := m.WriteTextfile(filepath.Join(dir, "missing", "perch.prom")); err == nil {
		t.Error("writing into a folder that is not there: no error")
	}
}

// gateway is a fake Pushgateway that keeps what was pushed.
type gateway struct {
	method, path, user, password string
	families                     map[string]*dto.MetricFamily
	status                       int
	answer                       string
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.method, g.path = r.Method, r.URL.Path
	g.user, g.password, _ = r.BasicAuth()
	g.families = map[string]*dto.MetricFamily{}
	dec := expfmt.NewDecoder(r.Body, expfmt.ResponseFormat(r.Header))
	for {
		var f dto.MetricFamily
		if err := dec.Decode(&f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		g.families[f.GetName()] = &f
	}
	w.WriteHeader(g.status)
	_, _ = io.WriteString(w, g.answer)
}

func TestPush(t *testing.T) {
	g := &gateway{status: http.StatusOK}
	srv := httptest.NewServer(g)
	defer srv.Close()
	m := New(shop(t))
	m.Observe(incident())
	if err := m.Push(t.Context(), srv.URL+"/prefix/", srv.Client()); err != nil {
		t.Fatal(err)
	}
	// The grouping labels may come in any order.
	if got := strings.TrimPrefix(g.path, "/prefix/metrics/job/perch/"); got != "perch/shop/vantage/prod-tokyo" && got != "vantage/prod-tokyo/perch/shop" {
		t.Errorf("pushed to %s, want the group job=perch, perch=shop, vantage=prod-tokyo", g.path)
	}
	if g.method != http.MethodPut {
		t.Errorf("method %s, want PUT: it replaces the group", g.method)
	}
	success := g.families["perch_probe_success"]
	if len(success.GetMetric()) != 2 {
		t.Fatalf("perch_probe_success was pushed with %d series, want 2", len(success.GetMetric()))
	}
	for name, f := range g.families {
		for _, s := range f.GetMetric() {
			if slices.ContainsFunc(s.GetLabel(), func(l *dto.LabelPair) bool {
				return slices.Contains([]string{"perch", "vantage", "job"}, l.GetName())
			}) {
				t.Errorf("%s carries a label of the group", name)
			}
		}
	}
	if h := g.families["perch_attempt_duration_seconds"].GetMetric()[0].GetHistogram(); h.Schema == nil {
		t.Error("the pushed histogram is not native")
	}
}

func TestPushFailuresHideTheCredentials(t *testing.T) {
	const user, password = "robot-name", "hunter2-secret"
	refusing := &gateway{status: http.StatusBadRequest, answer: "no, not with " + password + strings.Repeat("x", 10000)}
	srv := httptest.NewServer(refusing)
	defer srv.Close()
	elsewhere := httptest.NewServer(http.RedirectHandler(srv.URL, http.StatusMovedPermanently))
	defer elsewhere.Close()
	with := func(url string) string { return strings.Replace(url, "://", "://"+user+":"+password+"@", 1) }
	closed := httptest.NewServer(nil)
	closed.Close()
	m := New(shop(t))
	for name, c := range map[string]struct{ url, want string }{
		"refused by the gateway": {with(srv.URL) + "/path-token-hunter2-secret", "status 400"},
		"redirected":             {with(elsewhere.URL), "status 301"},
		"nobody there":           {with(closed.URL), "connection refused"},
		"with a query":           {with(srv.URL) + "/?token=" + password, "query"},
		"not a URL":              {with("http://host:port") + "/%zz", "not an http or https URL"},
		"of another scheme":      {with("ftp://host"), "not an http or https URL"},
		"without a host":         {password, "not an http or https URL"},
	} {
		t.Run(name, func(t *testing.T) {
			err := m.Push(t.Context(), c.url, nil)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q says nothing of %q", err, c.want)
			}
			if strings.Contains(err.Error(), password) || strings.Contains(err.Error(), user) {
				t.Errorf("error %q shows the credentials", err)
			}
			if len(err.Error()) > 2*maxRefusal {
				t.Errorf("the error is %d bytes long", len(err.Error()))
			}
		})
	}
	if refusing.user != user || refusing.password != password {
		t.Errorf("the gateway was told %q, %q: want the URL's credentials in the header", refusing.user, refusing.password)
	}
}

func TestPushEndsWithItsContext(t *testing.T) {
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer srv.Close()
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := New(shop(t)).Push(ctx, srv.URL, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's end", err)
	}
}
