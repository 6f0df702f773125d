package grafana

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// TestWindowsHoldRuns: what perch counts grows once a run, so no query looks
// back less far than the reader chose, the whole time shown, or a bar of ten
// minutes.
func TestWindowsHoldRuns(t *testing.T) {
	window := regexp.MustCompile(`\[([^\]]*)\]`)
	eachPanel(t, func(t *testing.T, p dashboard.Panel) {
		for _, q := range queriesOf(p) {
			for _, found := range window.FindAllStringSubmatch(strings.ReplaceAll(q.Expr, "[0-9", ""), -1) {
				switch {
				case found[1] == "$window", found[1] == "$__range", found[1] == ".":
				case found[1] == "$__rate_interval" && p.Interval != nil && *p.Interval == "10m":
				default:
					t.Errorf("looks back %s: %s", found[1], q.Expr)
				}
			}
		}
	})
}

// expressions are all that a dashboard asks of Prometheus, by where.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, b := range boards(t) {
		for _, p := range b.Panels {
			if p.Panel == nil {
				continue
			}
			for _, q := range queriesOf(*p.Panel) {
				all[b.File+"/"+*p.Panel.Title+"/"+*q.RefId] = q.Expr
			}
		}
		for _, v := range b.Templating.List {
			if v.Definition != nil {
				all[b.File+"/$"+v.Name] = *v.Definition
			}
		}
		all[b.File+"/annotations"] = *b.Annotations.List[0].Expr
	}
	return all
}

// TestQueriesKnowTheirMetrics: each name and each label that a query uses is
// one that perch exposes.
func TestQueriesKnowTheirMetrics(t *testing.T) {
	known := exposed(t)
	selector := regexp.MustCompile(`(perch_[a-z_]+)(\{[^}]*\})?`)
	matcher := regexp.MustCompile(`([a-z_]+)(=~|!~|!=|=)"`)
	used := map[string]bool{}
	for where, expr := range expressions(t) {
		for _, found := range selector.FindAllStringSubmatch(expr, -1) {
			name := found[1]
			if strings.HasSuffix(name, "_") { // a pattern of names
				continue
			}
			labels, base := known[name], strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
			if labels == nil {
				labels = known[base]
			}
			if labels == nil {
				t.Errorf("%s: perch has no metric %s", where, name)
				continue
			}
			used[base] = true
			for _, m := range matcher.FindAllStringSubmatch(found[2], -1) {
				if !slices.Contains(labels, m[1]) {
					t.Errorf("%s: %s has no label %s, only %q", where, name, m[1], labels)
				}
			}
		}
		for _, by := range regexp.MustCompile(`(?:by|on) \(([^)]*)\)`).FindAllStringSubmatch(expr, -1) {
			for label := range strings.SplitSeq(by[1], ", ") {
				if !anyHas(known, label) {
					t.Errorf("%s: no metric has the label %q", where, label)
				}
			}
		}
	}
	for name := range known {
		if strings.HasPrefix(name, "perch_") && !used[name] {
			t.Errorf("no dashboard shows %s", name)
		}
	}
}

func anyHas(known map[string][]string, label string) bool {
	if label == "le" || label == "shard" || label == "" {
		return true
	}
	for _, labels := range known {
		if slices.Contains(labels, label) {
			return true
		}
	}
	return false
}

// exposed are the labels of every metric that a run of every kind exposes.
func exposed(t *testing.T) map[string][]string {
	t.Helper()
	const enough = 20 // runs: until all has happened that is counted
	families, err := storyEnd(t, enough).Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, f := range families {
		for _, label := range f.GetMetric()[0].GetLabel() {
			all[f.GetName()] = append(all[f.GetName()], label.GetName())
		}
	}
	if len(all) < 30 {
		t.Fatalf("the story exposes only %d metrics", len(all))
	}
	return all
}
