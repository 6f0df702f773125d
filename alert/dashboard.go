package alert

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"perch.example/probes"
)

// place is what a dashboard is to show.
type place struct {
	targets []string
	probe   string // of the one target; empty: all
	since   time.Time
}

func placeOf(i Incident, lead probes.Outcome) place {
	return place{targets: []string{i.Target}, probe: lead.Probe, since: i.Since}
}

// dashboard is the config's address with Grafana's variables and time range
// behind it: from an hour before, to see how it was, until now. What its query
// says already stays. The bare address where the whole is too long to be a
// link; empty where there is none.
func dashboard(o Options, run probes.Run, p place) string {
	u, err := url.Parse(o.DashboardURL)
	if err != nil || !webURL(o.DashboardURL) {
		return ""
	}
	said := u.Query()
	query := []string{}
	if u.RawQuery != "" {
		query = append(query, u.RawQuery)
	}
	add := func(name, value string) {
		if value != "" && !said.Has(name) {
			query = append(query, name+"="+url.QueryEscape(value))
		}
	}
	add("var-perch", run.Name)
	add("var-vantage", run.Vantage)
	for _, target := range p.targets {
		add("var-target", target)
	}
	add("var-probe", p.probe)
	if !p.since.IsZero() {
		add("from", strconv.FormatInt(p.since.Add(-time.Hour).UnixMilli(), 10))
		add("to", strconv.FormatInt(o.Now.UnixMilli(), 10))
	}
	u.RawQuery = strings.Join(query, "&")
	if whole := u.String(); webURL(whole) {
		return whole
	}
	return o.DashboardURL
}
