package grafana

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

var update = flag.Bool("update", false, "write the dashboards and their pictures anew") //nolint:gochecknoglobals // a flag of the tests

func boards(t testing.TB) []Board {
	t.Helper()
	all, err := Dashboards()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestFilesAreTheDashboards: what people import is what the code says.
func TestFilesAreTheDashboards(t *testing.T) {
	var want []string
	for _, b := range boards(t) {
		raw, err := b.JSON()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("dashboards", b.File)
		want = append(want, path)
		if *update {
			if err := os.WriteFile(path, raw, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if held, err := os.ReadFile(path); err != nil || !bytes.Equal(held, raw) {
			t.Errorf("%s is not what the code says (%v); run go test ./grafana -run Files -update", path, err)
		}
	}
	held, err := filepath.Glob("dashboards/*")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	if !slices.Equal(held, want) {
		t.Errorf("the folder holds %q, want %q", held, want)
	}
}

// TestFilesDecodeStrictly: Grafana's own types know every field, and lose none.
func TestFilesDecodeStrictly(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	for _, b := range boards(t) {
		raw, err := b.JSON()
		if err != nil {
			t.Fatal(err)
		}
		// The SDK's strict decoders return a list of mistakes, also where it is
		// empty, and then keep nothing: what is kept is told by the others.
		var strict, kept classic
		var mistakes cog.BuildErrors
		if err := strict.UnmarshalJSONStrict(raw); err != nil && (!errors.As(err, &mistakes) || len(mistakes) > 0) {
			t.Errorf("%s: %v", b.File, err)
		}
		if err := json.Unmarshal(raw, &kept); err != nil {
			t.Fatalf("%s: %v", b.File, err)
		}
		again, err := Board{File: b.File, classic: kept}.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(sorted(t, again), sorted(t, raw)) {
			t.Errorf("%s is another one after it was decoded:\n%s", b.File, again)
		}
	}
}

// TestStrictDecodersFindMistakes: the test above would see one.
func TestStrictDecodersFindMistakes(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	for _, p := range []string{
		`{"type": "stat", "titel": "x"}`, `{"type": "stat", "gridPos": {"h": "tall"}}`,
		`{"type": "stat", "targets": [{"datasource": {"type": "prometheus"}, "expr": "up", "legend": "x"}]}`,
		`{"type": "stat", "options": {"graphMode": "none", "size": 3}}`,
	} {
		var d classic
		var mistakes cog.BuildErrors
		err := d.UnmarshalJSONStrict([]byte(`{"schemaVersion": 39, "templating": {}, "annotations": {}, "panels": [` + p + `]}`))
		if !errors.As(err, &mistakes) || len(mistakes) == 0 {
			t.Errorf("%s is taken", p)
		}
	}
}

// sorted is a document without the order of its fields.
func sorted(t *testing.T, raw []byte) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEachDashboardCanBeFound: a link from a notice or from another dashboard
// leads to an address that stays.
func TestEachDashboardCanBeFound(t *testing.T) {
	var uids []string
	for _, b := range boards(t) {
		uids = append(uids, *b.Uid)
		if b.SchemaVersion != schema || b.Id != nil || !slices.Contains(b.Tags, tag) || *b.Description == "" {
			t.Errorf("%s: schema %d, id %v, tags %q", b.File, b.SchemaVersion, b.Id, b.Tags)
		}
		var names []string
		for _, v := range b.Templating.List {
			names = append(names, v.Name)
		}
		// perch, vantage, target and probe are those of alert's links.
		if want := []string{"datasource", "vantage", "perch", "target", "probe", "window", "docs"}; !slices.Equal(names, want) {
			t.Errorf("%s has the variables %q, want %q", b.File, names, want)
		}
		if len(b.Annotations.List) != 1 || len(b.Links) != 2 {
			t.Errorf("%s: %d annotations, %d links", b.File, len(b.Annotations.List), len(b.Links))
		}
	}
	if want := []string{"perch", "perch-connection-reuse", "perch-latency", "perch-itself"}; !slices.Equal(uids, want) {
		t.Errorf("uids %q, want %q: people have bookmarks", uids, want)
	}
}

func eachPanel(t *testing.T, check func(t *testing.T, p dashboard.Panel)) {
	t.Helper()
	for _, b := range boards(t) {
		for _, p := range b.Panels {
			if p.Panel != nil {
				t.Run(b.File+"/"+*p.Panel.Title, func(t *testing.T) { check(t, *p.Panel) })
			}
		}
	}
}

// TestEachPanelSaysWhatToDo: a description that helps, a unit, words for
// colours, and the reader's own data source.
func TestEachPanelSaysWhatToDo(t *testing.T) {
	eachPanel(t, func(t *testing.T, p dashboard.Panel) {
		if said := *p.Description; len(said) < 60 || !strings.HasSuffix(said, ".") {
			t.Errorf("the description is no help: %q", said)
		}
		f := p.FieldConfig.Defaults
		if f.Unit == nil || *f.Unit == "" {
			t.Error("no unit")
		}
		if *p.Datasource.Uid != "${datasource}" || len(p.Targets) == 0 {
			t.Errorf("data source %v, %d queries", p.Datasource, len(p.Targets))
		}
		if (p.Type == string(lookStat) || p.Type == string(lookStates)) && f.NoValue == nil {
			t.Error("says nothing when there is nothing")
		}
		refs := map[string]bool{}
		for _, q := range queriesOf(p) {
			refs[*q.RefId] = true
			if *q.Datasource.Uid != "${datasource}" || *q.Instant == *q.Range || *q.LegendFormat == "" {
				t.Errorf("query %s: data source %v, instant %v, legend %q", *q.RefId, q.Datasource, *q.Instant, *q.LegendFormat)
			}
		}
		if len(refs) != len(p.Targets) {
			t.Errorf("%d names for %d queries", len(refs), len(p.Targets))
		}
	})
}

// TestDocumentationIsThere: links lead to pages that there are, and the page
// about the dashboards has each with its picture.
func TestDocumentationIsThere(t *testing.T) {
	about, err := os.ReadFile("../docs/dashboards.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range boards(t) {
		picture := "dashboards/" + strings.TrimSuffix(b.File, ".json") + ".png"
		for _, want := range []string{"`/d/" + *b.Uid + "`", "](" + picture + ")"} {
			if !strings.Contains(string(about), want) {
				t.Errorf("docs/dashboards.md does not have %s", want)
			}
		}
		if _, err := os.Stat("../docs/" + picture); err != nil {
			t.Error(err)
		}
	}
	linked := 0
	eachPanel(t, func(t *testing.T, p dashboard.Panel) {
		for _, l := range p.Links {
			linked++
			page, is := strings.CutPrefix(*l.Url, "${docs}/")
			if _, err := os.Stat("../docs/" + page); err != nil || !is {
				t.Errorf("leads to %s: %v", *l.Url, err)
			}
		}
	})
	if linked < 20 {
		t.Errorf("only %d panels link to a page", linked)
	}
}

func queriesOf(p dashboard.Panel) []prometheus.Dataquery {
	var all []prometheus.Dataquery
	for _, target := range p.Targets {
		switch q := target.(type) {
		case prometheus.Dataquery:
			all = append(all, q)
		case *prometheus.Dataquery:
			all = append(all, *q)
		}
	}
	return all
}

// TestPanelsHaveTheirPlaces: no id twice, nothing over something else or over
// the edge, no holes within a row.
func TestPanelsHaveTheirPlaces(t *testing.T) {
	const columns = 24
	for _, b := range boards(t) {
		ids := map[uint32]bool{}
		taken := map[[2]uint32]string{}
		for _, p := range b.Panels {
			id, at, title := uint32(0), dashboard.GridPos{}, ""
			if p.RowPanel != nil {
				id, at, title = p.RowPanel.Id, *p.RowPanel.GridPos, *p.RowPanel.Title
			} else {
				id, at, title = *p.Panel.Id, *p.Panel.GridPos, *p.Panel.Title
			}
			if id == 0 || ids[id] {
				t.Errorf("%s: %q has the id %d, as another has", b.File, title, id)
			}
			ids[id] = true
			if at.W == 0 || at.H == 0 || at.X+at.W > columns {
				t.Errorf("%s: %q is at %+v", b.File, title, at)
			}
			for x := at.X; x < at.X+at.W; x++ {
				for y := at.Y; y < at.Y+at.H; y++ {
					if under := taken[[2]uint32{x, y}]; under != "" {
						t.Fatalf("%s: %q lies over %q", b.File, title, under)
					}
					taken[[2]uint32{x, y}] = title
				}
			}
		}
		if len(taken)%columns != 0 {
			t.Errorf("%s has a hole: %d cells are taken", b.File, len(taken))
		}
	}
}
