package grafana

// reuse shows after how long the path ends idle connections, and what the
// application's client makes of it.
func reuse() board {
	return board{
		file: "connection-reuse.json", uid: "perch-connection-reuse", title: "Connection reuse", from: "now-24h",
		about: "Which idle connections can still be used, after how long the path ends them, and whether the client and its retry policy cope.",
		sections: []section{
			{"Now", reuseNow()},
			{"Held idle, then used again", reuseHolds()},
			{"How long an idle connection lives", reuseTimeouts()},
			{"What the wire showed", reuseReasons()},
			{"Retries", reuseRetries()},
		},
	}
}

func reuseNow() []panel {
	return []panel{
		reuseSafe(5),
		{
			look: lookStat, title: "Shortest idle timeout", wide: 5, tall: 4, unit: "s", empty: "NOTHING CLOSED",
			about:   "The shortest idle age at which a connection was seen to end. Set the client's max idle below it, less a second or two. NOTHING CLOSED: all rungs lived; hold for longer to find the end.",
			queries: []query{{`min(perch_idle_timeout_seconds{` + ofProbe + `})`, "measured"}},
			steps:   []step{{0, info}}, style: style{plain: true},
		},
		{
			look: lookStat, title: "Against the expected", wide: 4, tall: 4, unit: "percentunit", decimals: new(0.0), empty: "NOTHING TO COMPARE",
			about:   "The measured timeout against `keep_alive` of the config, where it is least. Below 95% the path does not keep what was promised: show this to the API's owner.",
			queries: []query{{`min(` + shareOfExpected() + `)`, "share"}},
			steps:   []step{{0, bad}, {0.95, good}},
		},
		{
			look: lookStat, title: "The client's danger band", page: "clients", wide: 6, tall: 4, unit: "s", empty: "NO BAND",
			about: "Idle ages at which the application's client would use a connection that the path has closed. No `to`: without end. Close it: max idle, or a check before reuse, below `from`.",
			queries: []query{
				{`min(perch_client_danger_band_seconds{` + ofProbe + `,bound="from"})`, "from"},
				{`max(perch_client_danger_band_seconds{` + ofProbe + `,bound="to"})`, "to"},
			},
			steps: []step{{0, warn}}, style: style{names: true, plain: true},
		},
		{
			look: lookStat, title: "Possible retry gaps", page: "audit", wide: 4, tall: 4, unit: "none", decimals: new(0.0), empty: "NO POLICY DECLARED",
			about: "Clients of targets whose declared retry policy has no entry for a failure that could safely be sent again. Nothing has failed for it: it is what the policy says. " +
				"*Retries* below names the clients; `perch audit` says what to add.",
			queries: []query{{`count(max by (target, client) (perch_retry_gap{` + ofProbe + `}) == 1) or 0 * count(perch_retry_gap{` + ofProbe + `})`, "clients"}},
			words:   []word{{0, "NONE", good}}, steps: []step{{0, info}}, style: style{plain: true},
		},
	}
}

// shareOfExpected is the measured timeout of each probe against the one that
// its config expects.
func shareOfExpected() string {
	return `min by (target, probe) (perch_idle_timeout_seconds{` + ofProbe + `}) / max by (target, probe) (perch_keep_alive_expected_seconds{` + ofProbe + `})`
}

func reuseTimeouts() []panel {
	of := func(metric, further, name string) query {
		return query{`min by (target, probe) (` + metric + `{` + ofProbe + further + `})`, "{{probe}} " + name}
	}
	return []panel{
		{
			look: lookSeries, title: "Idle timeout", page: "connection-reuse", wide: 16, tall: 10, unit: "s", min: new(0.0), empty: "no idle probe",
			about: "Measured: when the path was seen to end a connection. Expected: your config. Advertised: the API's own Keep-Alive header. Between `band from` and `band to` the client uses dead connections. " +
				"Choose one probe above. A measured line below the expected one is what to show to the API's owner.",
			queries: []query{
				of("perch_idle_timeout_seconds", "", "measured"),
				of("perch_keep_alive_expected_seconds", "", "expected"),
				of("perch_idle_advertised_seconds", "", "advertised"),
				of("perch_idle_survived_seconds", "", "longest that worked"),
				of("perch_idle_died_seconds", "", "shortest that failed"),
				of("perch_client_danger_band_seconds", `,bound="from"`, "band from"),
				of("perch_client_danger_band_seconds", `,bound="to"`, "band to"),
			},
			inks: []ink{
				{"/ measured$/", info, false}, {"/ expected$/", neutral, true}, {"/ advertised$/", purple, true},
				{"/ worked$/", good, false}, {"/ failed$/", bad, false}, {"/ band from$/", warn, true}, {"/ band to$/", warn, false},
			},
		},
		{
			look: lookGauges, title: "Measured against expected", wide: 8, tall: 10, unit: "percentunit", decimals: new(0.0), min: new(0.0), max: new(1.5), empty: "nothing to compare",
			about:   "For each probe. Below 95% connections end early: lower the client's max idle now, and ask the API's owner why. Above 100% there is room.",
			queries: []query{{`sort(` + shareOfExpected() + `)`, "{{target}} / {{probe}}"}},
			steps:   []step{{0, bad}, {0.95, good}},
		},
	}
}

func reuseReasons() []panel {
	const failed = `,reason!~"ok|canceled|skipped|no_keep_alive"`
	return []panel{
		{
			look: lookSeries, title: "Failures of reused connections", page: "reasons", wide: 12, tall: 8, unit: "short", decimals: new(0.0), min: new(0.0), empty: "none",
			about:   "By reason, each 10 minutes. Rungs beyond the promised time always fail: what matters is what comes on top. docs/reasons.md explains each; if the panel beside shows the same, it is not the reuse.",
			queries: []query{{each("reason", "perch_attempts_total", ofProbe+`,connection="reused"`+failed) + " > 0", "{{reason}}"}},
			style:   style{bars: true, least: "10m"},
		},
		{
			look: lookSeries, title: "Failures of fresh connections", page: "reasons", wide: 12, tall: 8, unit: "short", decimals: new(0.0), min: new(0.0), empty: "none",
			about:   "By reason, each 10 minutes: new connections and controls. What fails here is the API or the path, not the pool: stop looking at keep-alive settings.",
			queries: []query{{each("reason", "perch_attempts_total", ofProbe+`,connection=~"fresh|control"`+failed) + " > 0", "{{reason}}"}},
			style:   style{bars: true, least: "10m"},
		},
	}
}

func reuseRetries() []panel {
	return []panel{
		{
			look: lookGauges, title: "Let through by the retry policy, in the time shown", page: "audit", wide: 12, tall: 9, unit: "short", decimals: new(0.0), min: new(0.0), empty: "none",
			about: "How many failures of perch's reused connections, where the client has a danger band and the declared policy has a gap: within the band the application returns them as errors. " +
				"Add the entry that `perch audit` names, and close the band.",
			queries: []query{{letThrough(), "{{target}} {{reason}}"}},
			steps:   []step{{0, bad}},
		},
		{
			look: lookStates, title: "Possible retry gaps", page: "audit", wide: 12, tall: 9, unit: "none", empty: "none",
			about: "Clients whose declared retry policy has no entry for a failure that could safely be sent again, and since when: it is what the policy says, and counts before it is met. " +
				"`perch audit` names the failures, and says what to add in the client's own words.",
			queries: []query{{`max by (target, client) (perch_retry_gap{` + ofProbe + `}) == 1`, "{{target}} {{client}}"}},
			words:   []word{{1, "POSSIBLE GAP", info}},
		},
	}
}

// letThrough counts what the wire showed to probes whose client would have met
// it: a rung longer than the client keeps connections has no band, and hurts
// nobody.
func letThrough() string {
	return "sort_desc(round(sum by (target, reason) (increase(perch_attempts_total{" + ofProbe + `,connection="reused"}[$__range])` +
		"\n  and on (perch, vantage, target, probe) last_over_time(perch_client_danger_band_seconds{" + ofProbe + `,bound="from"}[$__range])))` +
		"\n  * on (target, reason) max by (target, reason) (perch_retry_gap{" + ofProbe + "}) > 0)"
}
