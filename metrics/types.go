package metrics

import "github.com/prometheus/client_golang/prometheus"

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// histogram is classic and native at once: a Prometheus that takes native
// histograms gets 8 buckets for each power of two, others the few classic
// ones. Beyond the bound the native one loses resolution; it is never reset,
// because a reset would empty the classic buckets too.
func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor:    1.1,
		NativeHistogramMaxBucketNumber: 100,
		NativeHistogramMaxExemplars:    -1,
	}, labels)
}

// The classic buckets, in seconds. Each is a series for every probe, so there
// are few: the answer of an API in detail, its phases by order of magnitude.

func attemptBuckets() []float64 { return []float64{.01, .025, .05, .1, .2, .3, .5, 1, 2.5, 5} }

func phaseBuckets() []float64 { return []float64{.01, .1, 1} }

func delayBuckets() []float64 { return []float64{.0001, .001, .01, .1, 1} }

// seriesOf returns how many series one classic histogram is: its buckets, the
// one without end, the sum and the count.
func seriesOf(buckets []float64) int { return len(buckets) + 3 }
