// Package grafana holds perch's dashboards and its Prometheus rules as code, and
// the files that they produce. Nothing of it is linked into perch.
package grafana
