package metrics

import (
	"fmt"
	"io"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// WriteTextfile writes the series for node_exporter's textfile collector, so
// that a reader sees the old file or the new one, never half of one. The name
// must end in .prom, or the collector passes it over.
func (m *Metrics) WriteTextfile(path string) error {
	if err := prometheus.WriteToTextfile(path, m.labelled); err != nil {
		return fmt.Errorf("writing metrics to %q: %w", path, err)
	}
	return nil
}

// Text writes the series in the text format, as a scrape would see them.
func (m *Metrics) Text(w io.Writer) error {
	families, err := m.labelled.Gather()
	if err != nil {
		return fmt.Errorf("gathering metrics: %w", err)
	}
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(w, f); err != nil {
			return fmt.Errorf("writing metrics: %w", err)
		}
	}
	return nil
}
