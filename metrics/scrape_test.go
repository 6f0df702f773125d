package metrics

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"perch.example/probes"
)

// scrape asks the handler as a scraper does.
func scrape(t *testing.T, m *Metrics, accept string) (header http.Header, body []byte) {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", accept)
	m.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Header(), w.Body.Bytes()
}

func scrapable() (*Metrics, probes.Run) {
	s := probes.Spec{Target: "api", Probe: "p", Kind: probes.KindHTTP, Method: http.MethodGet}
	m := New(Options{Name: "shop", Vantage: "here", Targets: []probes.Target{{Name: "api", Probes: []probes.Spec{s}, RateLimit: 20, Share: 0.05}}})
	a := probes.Attempt{Connection: probes.ConnectionFresh, Reason: probes.ReasonOK, Status: 200, Elapsed: 30 * time.Millisecond}
	at := time.Unix(1_800_000_000, 0)
	return m, probes.Run{
		Started: at, Finished: at.Add(time.Second), Budget: []probes.BudgetUse{{Target: "api", Requests: 1}},
		Outcomes: []probes.Outcome{{Target: "api", Probe: "p", Kind: probes.KindHTTP, Verdict: probes.VerdictPass, Attempts: []probes.Attempt{a}}},
	}
}

// The scraper says in which form it reads the series.
func TestHandlerForms(t *testing.T) {
	m, run := scrapable()
	m.Observe(run)
	for accept, want := range map[string]struct{ kind, holds string }{
		"":           {"text/plain", "perch_requests_total{perch=\"shop\",target=\"api\",vantage=\"here\"} 1\n"},
		"*/*":        {"text/plain", "# TYPE perch_requests_total counter\n"},
		"text/plain": {"text/plain", "perch_probe_success{"},
		"application/openmetrics-text;version=1.0.0": {"application/openmetrics-text", "# TYPE perch_requests counter\n"},
	} {
		header, body := scrape(t, m, accept)
		if kind, _, err := mime.ParseMediaType(header.Get("Content-Type")); err != nil || kind != want.kind {
			t.Errorf("%q: got %q, %v", accept, header.Get("Content-Type"), err)
		}
		if !strings.Contains(string(body), want.holds) {
			t.Errorf("%q: no %q in\n%s", accept, want.holds, body)
		}
		if om := want.kind != "text/plain"; om != strings.HasSuffix(string(body), "# EOF\n") {
			t.Errorf("%q: ends with %q", accept, body[len(body)-20:])
		}
	}
}

// Protocol buffers hold the native histograms.
func TestHandlerNativeHistograms(t *testing.T) {
	m, run := scrapable()
	m.Observe(run)
	header, body := scrape(t, m, "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
	decoder := expfmt.NewDecoder(bytes.NewReader(body), expfmt.ResponseFormat(header))
	native := 0
	for {
		var f dto.MetricFamily
		err := decoder.Decode(&f)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, series := range f.GetMetric() {
			if len(series.GetHistogram().GetPositiveSpan()) > 0 {
				native++
			}
		}
	}
	if native == 0 {
		t.Error("no histogram has native buckets")
	}
}

// A scrape sees none of a run, or all of it, whenever it comes.
func TestHandlerSeesWholeRuns(t *testing.T) {
	m, run := scrapable()
	const runs = 300
	var writing sync.WaitGroup
	writing.Go(func() {
		for range runs {
			m.Observe(run)
		}
	})
	for done := false; !done; {
		_, body := scrape(t, m, "")
		counts := map[string]string{}
		for line := range strings.Lines(string(body)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
			counts[name] = value
		}
		of := `{perch="shop",target="api",vantage="here"`
		requests := counts["perch_requests_total"+of]
		outcomes := counts[`perch_outcomes_total{perch="shop",probe="p",target="api",vantage="here",verdict="pass"`]
		total := counts[`perch_runs_total{perch="shop",vantage="here",verdict="pass"`]
		if requests == "" || requests != outcomes || requests != total {
			t.Fatalf("a scrape saw %q requests, %q outcomes and %q runs", requests, outcomes, total)
		}
		done = requests == "300"
	}
	writing.Wait()
}

// While not all that is counted is saved, scrapes see counters as they were saved, and
// gauges, and what perch could not do, as they are.
func TestScrapesSeeWhatIsSaved(t *testing.T) {
	m, run := scrapable()
	m.Observe(run)
	raw, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	m.ShowSaved(func() *Metrics {
		saved, _ := scrapable()
		if err := saved.Restore(raw); err != nil {
			t.Error(err)
		}
		return saved
	})
	_, before := scrape(t, m, "")
	run.Outcomes[0].Verdict, run.Outcomes[0].Attempts[0].Status = probes.VerdictFail, 503
	run.Outcomes[0].Attempts[0].Reason = probes.ReasonStatus
	m.Observe(run)
	m.Problem(probes.PartState)
	_, body := scrape(t, m, "")
	holds := func(body []byte, all ...string) {
		t.Helper()
		for _, want := range all {
			if !strings.Contains(string(body), want) {
				t.Errorf("no %s in\n%s", want, body)
			}
		}
	}
	const requests, success = `perch_requests_total{perch="shop",target="api",vantage="here"} `, `perch_probe_success{perch="shop",probe="p",target="api",vantage="here"} `
	holds(before, requests+"1", success+"1")
	holds(body, requests+"1", success+"0", `perch_problems_total{part="state",perch="shop",vantage="here"} 1`)
	if strings.Count(string(before), "# TYPE") != strings.Count(string(body), "# TYPE") {
		t.Error("a family is gone")
	}
	m.ShowSaved(nil)
	_, body = scrape(t, m, "")
	holds(body, requests+"2", success+"0")
}
