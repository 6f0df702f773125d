package metrics

import (
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// mostScrapes is how many may be under way at once: each holds all series in
// memory while it writes them. More are refused with 503.
const mostScrapes = 4

// Handler answers scrapes as the scraper asks: text, OpenMetrics, or protocol
// buffers, which hold native histograms. A scrape waits for no run and sees none
// of one, or all of it. How long one may take is for the server to say.
func (m *Metrics) Handler(log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(prometheus.GathererFunc(m.gatherWhole), promhttp.HandlerOpts{
		EnableOpenMetrics: true, MaxRequestsInFlight: mostScrapes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), // a scraper that went away is no news
	})
}

func (m *Metrics) gatherWhole() ([]*dto.MetricFamily, error) {
	m.whole.RLock()
	defer m.whole.RUnlock()
	return m.labelled.Gather()
}

// Whole makes several changes that a scrape sees together. change must not wait
// for anything.
func (m *Metrics) Whole(change func()) {
	m.whole.Lock()
	defer m.whole.Unlock()
	change()
}
