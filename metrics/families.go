package metrics

import (
	"errors"
	"iter"

	dto "github.com/prometheus/client_model/go"
)

// Families returns the series as Gatherer does, some at a time: a family may come in
// several pieces, each with its name, help and type. All at once, with 200 targets,
// would take more memory than the whole run.
func (m *Metrics) Families() iter.Seq[*dto.MetricFamily] {
	enough := errors.New("enough")
	return func(yield func(*dto.MetricFamily) bool) {
		for _, v := range m.labelled.vectors {
			err := v.pieces(m.labelled.shape, func(f *dto.MetricFamily) error {
				if !yield(f) {
					return enough
				}
				return nil
			})
			if err != nil {
				return
			}
		}
	}
}
