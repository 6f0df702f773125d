// Package metrics turns runs into Prometheus series, for a scrape, a text file
// and a Pushgateway. It is the only importer of client_golang.
//
// A series whose value is not known is absent, never 0. What counts (counters
// and histograms) exists from the start, at zero, for everything that a
// probe's kind and protocol can produce, so that the first increase is seen.
package metrics
