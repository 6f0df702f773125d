package metrics

import (
	"context"
	"encoding/base64"
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
	if err := m.Push(t.Context(), srv.URL+"/prefix/", nil, srv.Client()); err != nil {
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

// echo answers as a debugging proxy does: with all that it got.
func echo(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, strings.Repeat("x", maxRefusal-20)+r.RequestURI+" "+r.URL.Path+" Authorization: "+r.Header.Get("Authorization")+" "+strings.Repeat("x", 10000))
}

func TestPushFailuresHideWhatIsSecret(t *testing.T) {
	const token, path = "aHVudGVyMg+secret/=", "/in/path%2Dtoken\"x"
	header := http.Header{"Authorization": {"Basic " + token}}
	srv := httptest.NewServer(http.HandlerFunc(echo))
	defer srv.Close()
	short := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, r.RequestURI+" "+r.Header.Get("Authorization"), http.StatusForbidden)
	}))
	defer short.Close()
	elsewhere := httptest.NewServer(http.RedirectHandler(srv.URL, http.StatusMovedPermanently))
	defer elsewhere.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	m := New(shop(t))
	for name, c := range map[string]struct{ url, want string }{
		"echoed":            {srv.URL + path, "status 400"},
		"refused":           {short.URL + path, "status 403"},
		"redirected":        {elsewhere.URL + path, "status 301"},
		"nobody there":      {closed.URL + path, "connection refused"},
		"with a query":      {srv.URL + "/?token=" + token, "query"},
		"with a user":       {strings.Replace(srv.URL, "://", "://robot:"+token+"@", 1), "not an http or https URL"},
		"with a password":   {strings.Replace(srv.URL, "://", "://robot:path-token@", 1), "a user goes into a header"},
		"not a URL":         {"http://host:port/%zz" + token, "not an http or https URL"},
		"of another scheme": {"ftp://path-token", "not an http or https URL"},
		"without a host":    {token, "not an http or https URL"},
	} {
		t.Run(name, func(t *testing.T) {
			err := m.Push(t.Context(), c.url, header, nil)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q says nothing of %q", err, c.want)
			}
			for _, secret := range []string{token, token[:10], "path-token", "path%2Dtoken", "robot"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("error %q shows %q", err, secret)
				}
			}
			if len(err.Error()) > 2*maxRefusal {
				t.Errorf("the error is %d bytes long", len(err.Error()))
			}
		})
	}
}

// TestPushSendsItsHeader: a gateway behind a password is told it.
func TestPushSendsItsHeader(t *testing.T) {
	g := &gateway{status: http.StatusAccepted}
	srv := httptest.NewServer(g)
	defer srv.Close()
	header := http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("robot:hunter2"))}}
	for range 2 {
		if err := New(shop(t)).Push(t.Context(), srv.URL, header, srv.Client()); err != nil {
			t.Fatal(err)
		}
		if g.user != "robot" || g.password != "hunter2" || len(header) != 1 {
			t.Errorf("the gateway was told %q, %q, and the header is now %v", g.user, g.password, header)
		}
	}
}

func TestPushEndsWithItsContext(t *testing.T) {
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer srv.Close()
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := New(shop(t)).Push(ctx, srv.URL, nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's end", err)
	}
}
