//go:build peers

package grafana

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// heldSeries are three idle probes: one with a keep_alive of 60 s, one that has
// none and was measured to close after 70.1 s, one of which nothing is known.
const heldSeries = `rule_files: []
tests:
  - interval: 1m
    input_series:
      - {series: 'perch_keep_alive_expected_seconds{perch="p",vantage="v",target="t",probe="told"}', values: '60x30'}
      - {series: 'perch_idle_timeout_seconds{perch="p",vantage="v",target="t",probe="told"}', values: '20x30'}
      - {series: 'perch_idle_timeout_seconds{perch="p",vantage="v",target="t",probe="seen"}', values: '70.1x30'}
`

// TestHoldsAreToldApart: Prometheus itself says which rung was closed as
// expected, by the length that stands in a label.
func TestHoldsAreToldApart(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(heldSeries)
	var states, short, long strings.Builder
	for _, rung := range []struct {
		probe, hold, result string
		state               int
		beyond              bool
	}{
		{"told", "1.5", "survived", 1, false}, {"told", "59", "closed", 3, false}, {"told", "60", "closed", 3, false},
		{"told", "60.25", "closed", 2, true}, {"told", "120", "closed", 2, true}, {"told", "300", "died", 4, true}, {"told", "search", "closed", 3, false},
		{"seen", "70", "closed", 3, false}, {"seen", "100", "closed", 2, true}, {"seen", "150", "survived", 1, true}, {"blind", "30", "closed", 3, false},
	} {
		labels := fmt.Sprintf(`target="t",probe=%q,hold_seconds=%q`, rung.probe, rung.hold)
		share := 0
		for _, result := range []string{"survived", "closed", "died"} {
			values := "0x30"
			if result == rung.result {
				values = "0+1x30"
			}
			fmt.Fprintf(&text, "      - {series: 'perch_holds_total{perch=\"p\",vantage=\"v\",%s,result=%q}', values: '%s'}\n", labels, result, values)
		}
		if rung.result == "survived" {
			share = 1
		}
		fmt.Fprintf(&states, "          - {labels: '{%s}', value: %d}\n", labels, rung.state)
		into, called := &short, rung.hold+" s"
		if rung.beyond {
			into = &long
		}
		if rung.hold == "search" {
			called = "measured band"
		}
		fmt.Fprintf(into, "          - {labels: '{%s,v_hold=%q}', value: %d}\n", labels, called, share)
	}
	gauges := reuseHolds()[1].queries
	s := span{from: dawn(), to: dawn().Add(20 * time.Minute), scrape: time.Minute}
	text.WriteString("    promql_expr_test:\n")
	for _, each := range []struct{ expr, want string }{
		{holdState(), states.String()}, {gauges[0].expr, short.String()}, {gauges[1].expr, long.String()},
	} {
		expr := strings.ReplaceAll(s.fill(each.expr, 10*time.Minute), "'", "''")
		fmt.Fprintf(&text, "      - expr: '%s'\n        eval_time: 25m\n        exp_samples:\n%s", strings.ReplaceAll(expr, "\n", " "), each.want)
	}
	file := filepath.Join(t.TempDir(), "holds.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	promtool(t, "test", "rules", file)
}
