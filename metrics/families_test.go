package metrics

import (
	"fmt"
	"testing"

	dto "github.com/prometheus/client_model/go"
)

// TestFamilies: the pieces are what a scrape sees, and whoever has enough gets no more.
func TestFamilies(t *testing.T) {
	m := New(Options{Name: "shop", Vantage: "tokyo"})
	for i := range 3 * piece {
		m.vectors.requests.add(float64(i), fmt.Sprint(i))
	}
	all, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{}
	for _, f := range all {
		want[f.GetName()] = len(f.GetMetric())
	}
	got, pieces := map[string]int{}, 0
	for f := range m.Families() {
		got[f.GetName()] += len(f.GetMetric())
		if f.GetName() == "perch_requests_total" {
			pieces++
			if f.GetType() != dto.MetricType_COUNTER || len(f.GetMetric()[0].GetLabel()) != 3 {
				t.Fatalf("%v", f.GetMetric()[0])
			}
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || pieces != 3 {
		t.Errorf("%v in %d pieces, want %v in 3", got, pieces, want)
	}
	for range m.Families() {
		pieces++
		break
	}
	if pieces != 4 {
		t.Errorf("%d pieces came after the first", pieces-4)
	}
}
