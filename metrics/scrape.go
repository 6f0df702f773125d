package metrics

import (
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// Handler answers scrapes as the scraper asks: text, OpenMetrics, or protocol
// buffers, which hold native histograms. A scrape waits for no run and sees none
// of one, or all of it. How many there may be at once, each with all series in
// memory, and how long one may take, is for the server to say.
func (m *Metrics) Handler(log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(prometheus.GathererFunc(m.gatherWhole), promhttp.HandlerOpts{
		EnableOpenMetrics: true,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // a scraper that went away is no news
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
