package grafana

import "github.com/grafana/grafana-foundation-sdk/go/dashboard"

// named starts a dashboard that has perch's tag.
func named(title string) *dashboard.DashboardBuilder {
	return dashboard.NewDashboardBuilder("perch / " + title).Tags([]string{"perch"})
}
