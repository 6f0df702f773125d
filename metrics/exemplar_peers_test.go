//go:build peers

package metrics

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// TestPrometheusStoresTheExemplars lets a real Prometheus scrape perch serve's
// /metrics, as text with OpenMetrics and as protocol buffers, and asks it for the
// traces.
func TestPrometheusStoresTheExemplars(t *testing.T) {
	for name, features := range map[string]string{"OpenMetrics": "exemplar-storage", "protocol buffers": "exemplar-storage,native-histograms"} {
		t.Run(name, func(t *testing.T) {
			m, run := traced()
			m.Observe(run)
			var asked atomic.Value
			mux := http.NewServeMux()
			mux.Handle("GET /metrics", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Store(r.Header.Get("Accept"))
				m.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(w, r)
			}))
			server := httptest.NewServer(mux)
			t.Cleanup(server.Close)
			prometheus := startPrometheus(t, strings.TrimPrefix(server.URL, "http://"), "--enable-feature="+features)
			for series, trace := range map[string]string{
				`perch_attempt_duration_seconds_bucket{probe="p"}`:  "a",
				`perch_phase_duration_seconds_bucket{phase="wait"}`: "a", `perch_phase_duration_seconds_bucket{phase="connect"}`: "c",
				`perch_attempts_total{reason="reset"}`: "c", `perch_attempts_total{reason="refused"}`: "e",
			} {
				if strings.Contains(features, "native") { // they are one series, without buckets
					series = strings.Replace(series, "_bucket", "", 1)
				}
				want := strings.Repeat(trace, 32)
				await(t, series+" to have an exemplar", func() error {
					if got := storedTraces(t, prometheus, series); strings.Join(got, " ") != want {
						return fmt.Errorf("exemplars of %q, want of %q", got, want)
					}
					return nil
				})
			}
			if first, _, _ := strings.Cut(asked.Load().(string), ";"); strings.Contains(features, "native") != strings.Contains(first, "protobuf") {
				t.Errorf("it asked for %q", asked.Load())
			}
		})
	}
}

// storedTraces are the trace ids of a series' exemplars, as Prometheus has them.
func storedTraces(t *testing.T, prometheus, series string) (traces []string) {
	t.Helper()
	body, err := get("http://" + prometheus + "/api/v1/query_exemplars?start=1790000000&end=1810000000&query=" + url.QueryEscape(series))
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Data []struct {
			Exemplars []struct{ Labels map[string]string }
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	for _, each := range answer.Data {
		for _, e := range each.Exemplars {
			traces = append(traces, e.Labels["trace_id"])
		}
	}
	return traces
}
