package metrics

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestShardOfAPush: each shard replaces a group of its own, and never another's;
// in one scrape and in one folder of text files its series are its own, too.
func TestShardOfAPush(t *testing.T) {
	g := &gateway{status: http.StatusOK}
	srv := httptest.NewServer(g)
	defer srv.Close()
	o := shop(t)
	o.Shard = "2"
	m := New(o)
	m.Observe(incident())
	if err := m.Push(t.Context(), srv.URL, nil, srv.Client()); err != nil {
		t.Fatal(err)
	}
	group := strings.TrimPrefix(g.path, "/metrics") + "/"
	for _, label := range [][]string{{"job", "perch"}, {"perch", "shop"}, {"vantage", "prod-tokyo"}, {"shard", "2"}} {
		if !strings.Contains(group, "/"+label[0]+"/"+label[1]+"/") {
			t.Errorf("the group %s has no %s=%s", group, label[0], label[1])
		}
	}
	for name, f := range g.families {
		for _, s := range f.GetMetric() {
			for _, l := range s.GetLabel() {
				if l.GetName() == "shard" {
					t.Errorf("%s carries the group's label shard", name)
				}
			}
		}
	}
	for line := range strings.Lines(exposition(t, m)) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, `shard="2"`) {
			t.Fatalf("a scrape sees %s, without its shard", line)
		}
	}
}
