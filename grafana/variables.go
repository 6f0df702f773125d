package grafana

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// tag finds perch's dashboards, for the links between them.
const tag = "perch"

// docs is where perch's documentation lies. It is a variable of each dashboard,
// so that a team can let it point to a copy of its own.
const docs = "https://perch.example/docs"

// What a query selects, by the reader's choice. The names of the variables are
// those that notices put into their link to a dashboard.
const (
	ofPerch  = `perch=~"$perch",vantage=~"$vantage"`
	ofTarget = ofPerch + `,target=~"$target"`
	ofProbe  = ofTarget + `,probe=~"$probe"`
)

// variables are the same on every dashboard, so that a link takes the choice
// along.
func variables() []cog.Builder[dashboard.VariableModel] {
	return []cog.Builder[dashboard.VariableModel]{
		dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus"),
		choice("vantage", "Vantage", `label_values(perch_build_info, vantage)`),
		choice("perch", "Perch", `label_values(perch_build_info{vantage=~"$vantage"}, perch)`),
		choice("target", "Target", `label_values(perch_requests_total{`+ofPerch+`}, target)`),
		choice("probe", "Probe", `label_values(perch_outcomes_total{`+ofTarget+`}, probe)`),
		window(),
		dashboard.NewConstantVariableBuilder("docs").Label("Documentation").
			Value(dashboard.StringOrMap{String: new(docs)}),
	}
}

// choice is a variable of which several values, or all, can be chosen. All is
// any value at all: a URL that names none stays short.
func choice(name, label, query string) cog.Builder[dashboard.VariableModel] {
	return dashboard.NewQueryVariableBuilder(name).Label(label).
		Datasource(source()).
		Query(dashboard.StringOrMap{Map: map[string]any{"query": query, "refId": "PrometheusVariableQueryEditor-VariableQuery"}}).
		Definition(query).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).
		Sort(dashboard.VariableSortAlphabeticalAsc).
		Multi(true).IncludeAll(true).AllValue(".*").
		Current(option("All", "$__all"))
}

// window is how far back each point of a rate or a quantile looks. Grafana's
// own $__rate_interval follows how often Prometheus scrapes. What perch counts
// grows once a run: in a window of a minute most points would have nothing to
// show. An hour holds twelve runs of a probe that is due every 5 minutes.
func window() cog.Builder[dashboard.VariableModel] {
	return dashboard.NewIntervalVariableBuilder("window").Label("Window").
		Description("How far back each point of a rate or quantile looks. Take at least three times the longest `every` of the probes shown.").
		Values(dashboard.StringOrMap{String: new("15m,30m,1h,3h,6h,12h,1d")}).
		Current(option("1h", "1h"))
}

func option(text, value string) dashboard.VariableOption {
	return dashboard.VariableOption{
		Selected: new(true),
		Text:     dashboard.StringOrArrayOfString{String: new(text)},
		Value:    dashboard.StringOrArrayOfString{String: new(value)},
	}
}

// incidents marks on every graph when incidents were open.
func incidents() cog.Builder[dashboard.AnnotationQuery] {
	expr := `max by (target, family) (perch_incident_open{` + ofTarget + `}) == 1`
	return dashboard.NewAnnotationQueryBuilder().
		Name("Incidents").Datasource(source()).Enable(true).IconColor(bad).
		Expr(expr).
		Target(prometheus.NewDataqueryBuilder().RefId("Anno").Expr(expr).Range().Datasource(source())).
		TitleFormat("Incident open").TextFormat("{{target}}: {{family}}").TagKeys("target,family").
		Step("60s")
}

// links lead to the other dashboards, with the same choice and time, and to
// the documentation.
func links() []cog.Builder[dashboard.DashboardLink] {
	return []cog.Builder[dashboard.DashboardLink]{
		dashboard.NewDashboardLinkBuilder("perch").Type(dashboard.DashboardLinkTypeDashboards).
			Tags([]string{tag}).IncludeVars(true).KeepTime(true).
			Tooltip("The other dashboards of perch, with the same choice and time"),
		dashboard.NewDashboardLinkBuilder("How to read this").Type(dashboard.DashboardLinkTypeLink).
			Icon("doc").Url("${docs}/dashboards.md").TargetBlank(true).Tooltip("What the dashboards are for"),
	}
}
