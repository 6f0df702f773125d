package metrics

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"perch.example/probes"
)

// told is what docs/metrics.md says of a metric beside its own description.
type told struct {
	unit, absent, query string
}

// TestMetricsDocument keeps docs/metrics.md in step with the metrics. With
// -update it writes what stands between the marks anew.
func TestMetricsDocument(t *testing.T) {
	path := filepath.Join("..", "docs", "metrics.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := string(raw)
	for name, part := range map[string]string{"list": documentList(), "each": documentEach(t)} {
		begin, end := "<!-- generated: "+name+" -->\n", "<!-- end: "+name+" -->"
		before, rest, found := strings.Cut(want, begin)
		_, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s has no place for the part %q", path, name)
		}
		want = before + begin + part + end + after
	}
	if updating(t) {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Errorf("%s is not what the metrics say: go test ./metrics -run TestMetricsDocument -update", path)
	}
}

// documentList is the table of all metrics.
func documentList() string {
	var b strings.Builder
	b.WriteString("| metric | type | labels, beside `perch` and `vantage` | |\n|---|---|---|---|\n")
	all := newVectors()
	for _, v := range all.all() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s |\n", v.name, v.name, typeName(v.kind), quoted(v.labels), v.help)
	}
	return b.String()
}

// documentEach is a section for each metric.
func documentEach(t *testing.T) string {
	var b strings.Builder
	all, about := newVectors(), documented()
	for _, v := range all.all() {
		d, known := about[v.name]
		if !known || d.unit == "" || d.absent == "" || !strings.Contains(d.query, v.name) {
			t.Errorf("%s is not documented: its unit, when it is absent, a query that holds its name", v.name)
		}
		delete(about, v.name)
		fmt.Fprintf(&b, "### %s\n%s\n\n- %s, %s.", v.name, v.help, strings.ToUpper(typeName(v.kind)[:1])+typeName(v.kind)[1:], d.unit)
		if v.kind == dto.MetricType_HISTOGRAM {
			fmt.Fprintf(&b, " Classic buckets up to %s.", bounds(v.bounds))
		}
		b.WriteString("\n")
		for _, l := range v.labels {
			fmt.Fprintf(&b, "- `%s`: %s.\n", l, labelValues(t, v.name, l))
		}
		fmt.Fprintf(&b, "- Absent: %s.\n\n```promql\n%s\n```\n\n", d.absent, d.query)
	}
	for name := range about {
		t.Errorf("%s is documented, and no metric", name)
	}
	return b.String()
}

func bounds(all []float64) string {
	var out []string
	for _, b := range all {
		out = append(out, fmt.Sprint(b))
	}
	return strings.Join(out, ", ")
}

func quoted[T ~string](all []T) string {
	var out []string
	for _, one := range all {
		out = append(out, "`"+string(one)+"`")
	}
	return strings.Join(out, ", ")
}

// labelValues says what a label can be.
func labelValues(t *testing.T, metric, label string) string {
	switch label {
	case "target", "probe":
		return "its name in the config"
	case "client":
		return "the client that the target declares"
	case "destination":
		return "where notices go: `slack`, `webhook`, `alertmanager`"
	case "verdict":
		if metric == "perch_runs_total" {
			return quoted(runVerdicts())
		}
		return quoted(probes.Verdicts())
	case "connection":
		return quoted([]probes.Connection{probes.ConnectionFresh, probes.ConnectionReused, probes.ConnectionControl})
	case "reason":
		if metric == "perch_retry_gap" {
			return quoted(gapReasons(probes.Spec{URL: &url.URL{Scheme: "https"}, Protocol: probes.ProtocolAuto}))
		}
		return "what the wire showed ([reasons.md](reasons.md)), of those that the probe can end in: " + quoted(probes.Reasons())
	case "phase":
		if metric == "probe_http_duration_seconds" {
			return quoted([]string{"resolve", phaseConnect, phaseTLS, "processing", phaseTransfer})
		}
		return quoted([]string{phaseDNS, phaseConnect, phaseTLS, phaseWait, phaseTransfer})
	case "result":
		switch metric {
		case "perch_retries_total":
			return quoted([]probes.RetryResult{probes.RetryRecovered, probes.RetryFailed, probes.RetryUnsafe})
		case "perch_burst_calls_total":
			return "`fresh` (answered, on a connection of its own), `reused` (answered, on one of the pool's), `dead` (it drew a connection that had ended), `failed` (for another cause)"
		case "perch_holds_total":
			return "`survived` (a whole answer came), `closed` (the other side had ended it, or did), `died` (neither: silence, or half an answer)"
		case "perch_notices_total":
			return quoted(noticeResults())
		}
	case "calls":
		return "`shape` (those that the probe declares) or `file` (those of its `calls`)"
	case "hold_seconds":
		return "in seconds, such as `59` or `0.5`: a hold of the config, or a rung of the ladder that follows from it; " +
			"`search` where its length follows from what was measured"
	case "diagnosis":
		return quoted(probes.Diagnoses())
	case "family":
		return quoted(slices.DeleteFunc(probes.Families(), func(f probes.Family) bool { return f == probes.FamilyOwn }))
	case "bound":
		return "`from`, `to`"
	case "part":
		return quoted(probes.Parts())
	case "version", "goversion", "revision":
		return "of the program"
	}
	t.Errorf("%s: the values of its label %s are not documented", metric, label)
	return ""
}
