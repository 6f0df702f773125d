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
	all, err := m.labelled.Gather()
	if m.saved == nil || err != nil {
		return all, err
	}
	saved, err := m.saved().labelled.Gather()
	if err != nil {
		return nil, err
	}
	return m.asSaved(all, saved), nil
}

// asSaved is what a scrape shows while not all that was counted is saved.
func (m *Metrics) asSaved(all, saved []*dto.MetricFamily) []*dto.MetricFamily {
	counted := map[string]*dto.MetricFamily{}
	for _, f := range saved {
		counted[f.GetName()] = f
	}
	shown := all[:0]
	for _, f := range all {
		if f.GetType() != dto.MetricType_GAUGE && f.GetName() != m.vectors.problems.name {
			if f = counted[f.GetName()]; f == nil {
				continue
			}
		}
		shown = append(shown, f)
	}
	return shown
}

// ShowSaved has scrapes see counters and histograms as they are in saved, until it is
// called with nil: what is counted meanwhile could go back, should the process be killed,
// which Prometheus takes for a restart. Gauges, and what perch itself could not do, are
// shown as they are. saved is asked at each scrape.
func (m *Metrics) ShowSaved(saved func() *Metrics) { m.Whole(func() { m.saved = saved }) }

// Whole makes several changes that a scrape sees together. change must not wait
// for anything.
func (m *Metrics) Whole(change func()) {
	m.whole.Lock()
	defer m.whole.Unlock()
	change()
}
