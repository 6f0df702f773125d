package grafana

// overview answers what the engineer on call asks first.
func overview() board {
	return board{
		file: "overview.json", uid: "perch", title: "Overview", from: "now-24h",
		about: "Is the API healthy, is connection reuse safe, what is firing? Begin here, then follow the links at the top.",
		sections: []section{
			{"Now", overviewNow()},
			{"Over time", overviewStates()},
			{"Runs, retries and budget", overviewCounts()},
		},
	}
}

func overviewNow() []panel {
	return []panel{
		{
			look: lookStat, title: "Is the API healthy?", page: "reading-a-report", wide: 5, tall: 4, unit: "none", empty: "NO RUN YET",
			about:   "FAILING: a probe's last run failed, so the application is not served either. *Probes* below says which; the message in your channel says what to change.",
			queries: []query{{`min(perch_probe_success{` + ofProbe + `})`, "API"}},
			words:   []word{{0, "FAILING", bad}, {1, "HEALTHY", good}},
		},
		reuseSafe(5),
		{
			look: lookStat, title: "Incidents open", page: "alerts", wide: 4, tall: 4, unit: "none", empty: "NO STATE",
			about:   "Each is one trouble of one target. *Incidents* below shows which family since when. NO STATE: without state perch cannot know of incidents.",
			queries: []query{{`sum(max by (perch, vantage, target, family) (perch_incident_open{` + ofTarget + `}))`, "open"}},
			words:   []word{{0, "NONE", good}}, steps: []step{{0, good}, {1, bad}},
		},
		{
			look: lookStat, title: "Served", wide: 3, tall: 4, unit: "percentunit", decimals: new(1.0), empty: "NO RUN YET",
			about: "Share of judged outcomes that were not a fail, in the time shown. Below 99%: look at *Outcomes by verdict* for when, and at *Connection reuse* and *Latency* for why.",
			queries: []query{{within("", "perch_outcomes_total", ofProbe+`,verdict=~"pass|degraded"`) +
				" / " + within("", "perch_outcomes_total", ofProbe+`,verdict=~"pass|degraded|fail"`), "of outcomes, time shown"}},
			steps: []step{{0, bad}, {0.95, warn}, {0.99, good}}, style: style{names: true},
		},
		{
			look: lookStat, title: "Saved by a retry", page: "audit", wide: 3, tall: 4, unit: "short", decimals: new(0.0), empty: "NO RETRY SET",
			about:   "Failures that a second try on a fresh connection made good, in the time shown. The application has these only if it retries, too: run `perch audit`.",
			queries: []query{{`round(sum(increase(perch_retries_total{` + ofProbe + `,result="recovered"}[$__range])` + notHeld + `))`, "failures, time shown"}},
			words:   []word{{0, "NONE", good}}, steps: []step{{0, good}, {1, warn}}, style: style{names: true},
		},
		lastCompleted(4),
	}
}

// reuseSafe joins what was found about reuse with whether the application
// feels it: found and failed is 2, found and served is 1.
func reuseSafe(wide uint32) panel {
	const of = "(perch, vantage, target, probe)"
	return panel{
		look: lookStat, title: "Is connection reuse safe?", page: "connection-reuse", wide: wide, tall: 4, unit: "none", empty: "NOT MEASURED",
		about: "NOT SAFE: connections end while the application still keeps them. AT RISK: they do, and it is served by luck or by a retry. " +
			"*Connection reuse* shows after how long; then set the client's max idle below the measured timeout.",
		queries: []query{{`max(max by ` + of + ` (perch_finding{` + ofProbe +
			`,diagnosis=~"early_close|stale_connection|undeclared_close|silent_drop|stalled|proxy_stale"}` + held + ")" +
			"\n  * (2 - min by " + of + ` (perch_probe_success{` + ofProbe + `})))`, "reuse"}},
		words: []word{{0, "SAFE", good}, {1, "AT RISK", warn}, {2, "NOT SAFE", bad}},
	}
}

// lastCompleted is the perch that was silent for longest.
func lastCompleted(wide uint32) panel {
	return panel{
		look: lookStat, title: "Since perch's last run", page: "deploy", wide: wide, tall: 4, unit: "s", decimals: new(0.0), empty: "NEVER RAN",
		about: "Of the perch that was silent for longest. When it is old, all else here is old, too: look at the CronJob's last Job or the Deployment's Pod, then at *perch itself*. " +
			"A perch that was removed stays on a Pushgateway until its group is deleted there.",
		queries: []query{{`max(time() - max by (perch, vantage, shard) (perch_run_last_completed_timestamp_seconds{` + ofPerch + `}))`, "ago"}},
		steps:   []step{{0, good}, {1800, warn}, {7200, bad}},
	}
}

func overviewStates() []panel {
	return []panel{
		{
			look: lookStates, title: "Probes", wide: 12, tall: 8, unit: "none", empty: "no run yet",
			about: "What each probe's last run found. DEGRADED: served, but only by luck or by a second try. For a FAIL read the message in your channel. " +
				"To check now: `perch idle URL` and `perch path URL` from the same path; beside a CronJob, not beside `perch serve`, also `perch run --only TARGET/PROBE --all`.",
			queries: []query{{`clamp_min(2 * min by (target, probe) (perch_probe_success{` + ofProbe +
				`}) - max by (target, probe) (perch_finding{` + ofProbe + `}), 0)`, "{{target}} / {{probe}}"}},
			words: []word{{0, "FAIL", bad}, {1, "DEGRADED", warn}, {2, "PASS", good}},
		},
		{
			look: lookStates, title: "Incidents", page: "alerts", wide: 12, tall: 8, unit: "none", empty: "none was open",
			about: "The incidents that were open in the time shown, by target and family. Each opened with one message that says what to change.",
			queries: []query{{`max by (target, family) (perch_incident_open{` + ofTarget + `})` +
				"\n  and on (target, family) (max_over_time(perch_incident_open{" + ofTarget + `}[$__range] @ end()) > 0)`, "{{target}} {{family}}"}},
			words: []word{{0, "none", light}, {1, "OPEN", bad}},
		},
		{
			look: lookStat, title: "Found by the last runs", page: "reading-a-report", wide: 16, tall: 5, unit: "short", decimals: new(0.0), empty: "NOTHING",
			about:   "How many probes have each diagnosis now. docs/reading-a-report.md says what each means and what to change; an outage of the API itself is `service_down` or `unreachable`.",
			queries: []query{{`sum by (diagnosis) (max by (perch, vantage, target, probe, diagnosis) (perch_finding{` + ofProbe + `})) > 0`, "{{diagnosis}}"}},
			steps:   []step{{0, good}, {1, bad}}, style: style{names: true, plain: true},
		},
		{
			look: lookGauges, title: "Certificates expire in", wide: 8, tall: 5, unit: "s", decimals: new(0.0), empty: "no target with TLS",
			about:   "Until the earliest certificate seen expires. Within 21 days: tell the API's owner. Within 7 days it is an incident.",
			queries: []query{{`sort(min by (target) (perch_tls_certificate_expiry_timestamp_seconds{` + ofTarget + `}) - time())`, "{{target}}"}},
			steps:   []step{{0, bad}, {7 * day, warn}, {21 * day, good}}, min: new(0.0), max: new(90.0 * day),
		},
	}
}

const day = 24 * 60 * 60 // seconds

func overviewCounts() []panel {
	return []panel{
		{
			look: lookSeries, title: "Outcomes by verdict", page: "reading-a-report", wide: 8, tall: 8, unit: "short", decimals: new(0.0), min: new(0.0),
			about:   "How many outcomes each 10 minutes brought: one a rung of an idle probe, else one a run. Many `incomplete` mean that perch was hindered: see *perch itself*.",
			queries: []query{{each("verdict", "perch_outcomes_total", ofProbe), "{{verdict}}"}},
			inks:    verdictInks(), style: style{bars: true, least: "10m"},
		},
		{
			look: lookSeries, title: "Retries", page: "audit", wide: 8, tall: 8, unit: "short", decimals: new(0.0), min: new(0.0), empty: "no probe has a second try",
			about:   "Second tries on a fresh connection, without the controls of held ones. `recovered` saved the call. `failed`: the API itself has the trouble. `unsafe` was not tried: it may have been executed.",
			queries: []query{{`sum by (result) (increase(perch_retries_total{` + ofProbe + `}[$__rate_interval])` + notHeld + `)`, "{{result}}"}},
			inks:    []ink{{"recovered", good, false}, {"failed", bad, false}, {"unsafe", warn, false}}, style: style{bars: true, least: "10m"},
		},
		{
			look: lookSeries, title: "Budget in use", page: "safety", wide: 8, tall: 8, unit: "percentunit", decimals: new(0.0), min: new(0.0), max: new(1.0),
			about: "Requests that perch sent, against what its share of the API's limit allows. Near 100% nothing is left for second tries: raise `share`, or probe less often.",
			queries: []query{{`sum by (target) (rate(perch_requests_total{` + ofTarget + `}[$window])) / sum by (target) (perch_budget_limit_requests_per_second{` + ofTarget + `})`,
				"{{target}}"}},
			steps: []step{{0, good}, {0.8, warn}, {1, bad}}, style: style{lines: true},
		},
	}
}

// Only idle probes count holds. Only they say something about reuse; and their
// controls count as retries, though a rung that is meant to outlive the
// connection always has one.
const (
	held    = ` and on (perch, vantage, target, probe) perch_holds_total`
	notHeld = ` unless on (perch, vantage, target, probe) perch_holds_total`
)

func verdictInks() []ink {
	return []ink{{"pass", good, false}, {"degraded", warn, false}, {"fail", bad, false}, {"incomplete", purple, false}, {"skipped", neutral, false}}
}
