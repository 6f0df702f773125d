package grafana

import (
	"encoding/json"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// schema is what Grafana 11 writes. Grafana 12 knows how to read it; the other
// way round an older Grafana would have to guess.
const schema = 39

// classic is the kind of dashboard that every Grafana imports; the one that the
// SDK prefers needs Grafana 12.
type classic = dashboard.Dashboard //nolint:staticcheck // see above

// Board is one dashboard and the name of its file.
type Board struct {
	File string // "overview.json"
	classic
}

// board is a dashboard as this package describes it.
type board struct {
	file, uid, title, about string
	from                    string // where its time range begins: "now-24h"
	sections                []section
}

// section is a row of panels under a title.
type section struct {
	title  string
	panels []panel
}

// Dashboards returns all of perch's, the first one to look at first. An error
// is a mistake of this package.
func Dashboards() ([]Board, error) {
	var all []Board
	for _, b := range []board{overview(), reuse(), latency(), itself()} {
		d, err := b.build()
		if err != nil {
			return nil, fmt.Errorf("building the dashboard %q: %w", b.title, err)
		}
		all = append(all, Board{File: b.file, classic: d})
	}
	return all, nil
}

// JSON is the dashboard as Grafana imports it.
func (b Board) JSON() ([]byte, error) {
	raw, err := json.MarshalIndent(b.classic, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", b.File, err)
	}
	return append(raw, '\n'), nil
}

func (b board) build() (classic, error) {
	//nolint:staticcheck // as classic
	d, err := dashboard.NewDashboardBuilder("perch / "+b.title).
		Uid(b.uid).Description(b.about).Tags([]string{tag}).
		Editable().Tooltip(dashboard.DashboardCursorSyncCrosshair).
		Time(b.from, "now").Refresh("1m").Timezone("browser").
		Variables(variables()).
		Annotations([]cog.Builder[dashboard.AnnotationQuery]{incidents()}).
		Links(links()).
		Build()
	if err != nil {
		return classic{}, err
	}
	visible(&d)
	d.SchemaVersion = schema
	d.Panels = place(b.sections)
	return d, nil
}

// visible says what the SDK's builders cannot: that documentation's address is
// for those who edit the dashboard, and that links and annotations stand at its
// top, where Grafana has no menu for them.
func visible(d *classic) {
	for i := range d.Templating.List {
		if d.Templating.List[i].Type == dashboard.VariableTypeConstant {
			d.Templating.List[i].Hide = new(dashboard.VariableHideHideVariable)
		}
	}
	for i := range d.Links {
		d.Links[i].Placement = nil
	}
	for i := range d.Annotations.List {
		d.Annotations.List[i].Placement = nil
	}
}

// place gives every panel its id and its place on a grid of 24 columns, from
// left to right and from top to bottom.
func place(sections []section) []dashboard.PanelOrRowPanel {
	const columns = 24
	var all []dashboard.PanelOrRowPanel
	id, y := uint32(1), uint32(0)
	for _, s := range sections {
		all = append(all, dashboard.PanelOrRowPanel{RowPanel: &dashboard.RowPanel{
			Type: "row", Title: new(s.title), Id: id, Panels: []dashboard.Panel{},
			GridPos: &dashboard.GridPos{X: 0, Y: y, W: columns, H: 1},
		}})
		id, y = id+1, y+1
		x, tall := uint32(0), uint32(0)
		for _, p := range s.panels {
			if x+p.wide > columns {
				x, y, tall = 0, y+tall, 0
			}
			built := p.build(id, dashboard.GridPos{X: x, Y: y, W: p.wide, H: p.tall})
			all = append(all, dashboard.PanelOrRowPanel{Panel: &built})
			id, x, tall = id+1, x+p.wide, max(tall, p.tall)
		}
		y += tall
	}
	return all
}

// source is the Prometheus that the reader chose.
func source() common.DataSourceRef {
	return common.DataSourceRef{Type: new("prometheus"), Uid: new("${datasource}")}
}
