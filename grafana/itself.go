package grafana

// itself shows whether perch can be believed.
func itself() board {
	return board{
		file: "perch-itself.json", uid: "perch-itself", title: "perch itself", from: "now-24h",
		about:    "Does perch run, on time and to the end, and do its messages arrive? Look here when another dashboard seems too good, or has stopped.",
		sections: []section{{"Now", itselfNow()}, {"Runs", itselfRuns()}, {"Notices and problems", itselfNotices()}, {"perch serve", itselfServe()}, {"What perch costs", itselfCosts()}},
	}
}

func itselfNow() []panel {
	const of = "(perch, vantage, target, probe)"
	return []panel{
		lastCompleted(4),
		{
			look: lookStat, title: "Probes overdue", wide: 4, tall: 4, unit: "none", decimals: new(0.0), empty: "NO PERCH",
			about: "Probes whose last request is older than three times their `every`. Look at *Runs by verdict* and at the budget: after repeated failures perch tries less, by intent.",
			queries: []query{{`count(time() - max by ` + of + ` (perch_probe_last_run_timestamp_seconds{` + ofProbe + `}) > 3 * max by ` + of +
				` (perch_probe_interval_seconds{` + ofProbe + `}))` + "\nor 0 * count(perch_build_info{" + ofPerch + "})", "overdue"}},
			words: []word{{0, "NONE", good}}, steps: []step{{0, good}, {1, warn}},
		},
		{
			look: lookStat, title: "Runs cut short", wide: 4, tall: 4, unit: "none", decimals: new(0.0), empty: "NO RUN YET",
			about:   "Incomplete runs in the time shown. Raise the deadline: `perch plan` says how long a run needs.",
			queries: []query{{"round(" + within("", "perch_runs_total", ofPerch+`,verdict="incomplete"`) + ")", "incomplete"}},
			words:   []word{{0, "NONE", good}}, steps: []step{{0, good}, {1, warn}},
		},
		{
			look: lookStat, title: "Problems", wide: 4, tall: 4, unit: "none", decimals: new(0.0), empty: "NO RUN YET",
			about:   "What perch itself could not do, in the time shown. *Problems by part* says which part; perch's log says why.",
			queries: []query{{"round(" + within("", "perch_problems_total", ofPerch) + ")", "problems"}},
			words:   []word{{0, "NONE", good}}, steps: []step{{0, good}, {1, bad}},
		},
		{
			look: lookStat, title: "Notices pending", page: "alerts", wide: 4, tall: 4, unit: "none", decimals: new(0.0), empty: "NO DESTINATION",
			about:   "Messages that wait to be delivered. Nothing is lost: they go out first in the next run. When it stays: check the token, the channel, and the way out to the destination.",
			queries: []query{{`sum(max by (perch, vantage, shard, destination) (perch_notices_pending{` + ofPerch + `}))`, "pending"}},
			words:   []word{{0, "NONE", good}}, steps: []step{{0, good}, {1, warn}},
		},
		{
			look: lookStat, title: "Perches", wide: 4, tall: 4, unit: "none", decimals: new(0.0), empty: "NO PERCH",
			about:   "How many perches there are, of those chosen. Fewer than you deployed: one never ran, or its metrics do not arrive.",
			queries: []query{{`count(count by (perch, vantage) (perch_build_info{` + ofPerch + `}))`, "perches"}},
			steps:   []step{{0, info}}, style: style{plain: true},
		},
	}
}

func itselfRuns() []panel {
	return []panel{
		{
			look: lookSeries, title: "Runs by verdict", wide: 8, tall: 8, unit: "short", decimals: new(0.0), min: new(0.0),
			about:   "How many runs each 10 minutes brought. A hole is a time without perch: look at the CronJob's events. `incomplete` was cut short, by its deadline or by a signal.",
			queries: []query{{each("verdict", "perch_runs_total", ofPerch), "{{verdict}}"}},
			inks:    verdictInks(), style: style{bars: true, least: "10m"},
		},
		{
			look: lookSeries, title: "Duration of a run", page: "deploy", wide: 8, tall: 8, unit: "s", min: new(0.0), empty: "no run yet",
			about: "The last run of each perch, and how often its most frequent probe is due. Above 40% of that runs come late: use a Deployment with `perch serve`.",
			queries: []query{
				{`max by (perch, vantage) (perch_run_duration_seconds{` + ofPerch + `})`, "{{perch}} {{vantage}}"},
				{`min by (perch, vantage) (perch_probe_interval_seconds{` + ofProbe + `})`, "{{perch}} {{vantage}} is due each"},
			},
			inks: []ink{{"/is due each$/", neutral, true}},
		},
		{
			look: lookSeries, title: "Since the last completed run", wide: 8, tall: 8, unit: "s", min: new(0.0), empty: "no run yet",
			about:   "A saw whose teeth are as high as the schedule is long. One that only grows is a perch that stopped: look at its Job, then at the Pushgateway.",
			queries: []query{{`time() - max by (perch, vantage, shard) (perch_run_last_completed_timestamp_seconds{` + ofPerch + `})`, "{{perch}} {{vantage}} {{shard}}"}},
			steps:   []step{{0, good}, {7200, bad}}, style: style{lines: true},
		},
		{
			look: lookSeries, title: "Scheduling delay", wide: 12, tall: 8, unit: "s", empty: "not measured",
			about: "How late perch itself woke. Above 10 ms its own Pod is too slow to be believed about latency: take away a CPU limit, should there be one, or move it to a calmer node.",
			queries: []query{
				{quantile(0.5, "", "perch_scheduling_delay_seconds", ofPerch), "50%"}, {quantile(0.99, "", "perch_scheduling_delay_seconds", ofPerch), "99%"},
			},
			inks: []ink{{"50%", light, false}, {"99%", purple, false}}, steps: []step{{0, good}, {0.01, bad}}, style: style{lines: true, log: true},
		},
		{
			look: lookHeat, title: "Scheduling delay, all of it", wide: 12, tall: 8, unit: "s", empty: "not measured",
			about:   "Each column is 10 minutes; the darker, the more wakings. Dark cells high up at one time are stalls of that time: do not judge the API by it.",
			queries: []query{{spread("perch_scheduling_delay_seconds", ofPerch), "{{le}}"}}, style: style{least: "10m"},
		},
	}
}

func itselfNotices() []panel {
	return []panel{
		{
			look: lookSeries, title: "Deliveries", page: "alerts", wide: 6, tall: 8, unit: "short", decimals: new(0.0), min: new(0.0), empty: "no destination",
			about:   "Tries to deliver, each 10 minutes. `failed` is tried again in the next run; when it goes on, the destination refuses: read perch's log.",
			queries: []query{{each("destination, result", "perch_notices_total", ofPerch), "{{destination}} {{result}}"}},
			inks:    deliveryInks(), style: style{bars: true, least: "10m"},
		},
		{
			look: lookSeries, title: "Pending", page: "alerts", wide: 6, tall: 8, unit: "short", decimals: new(0.0), min: new(0.0), empty: "no destination",
			about:   "Messages that wait, by destination. A line that does not come down needs you: `perch alert test` shows what the destination says.",
			queries: []query{{`max by (perch, destination) (perch_notices_pending{` + ofPerch + `})`, "{{perch}} {{destination}}"}},
		},
		{
			look: lookStat, title: "Oldest notice waits for", page: "alerts", wide: 6, tall: 8, unit: "s", decimals: new(1.0), empty: "NONE WAITS",
			about:   "By destination. Older than an hour: somebody was not told of an incident; look at *Overview* for which is open.",
			queries: []query{{`time() - min by (perch, destination) (perch_notices_oldest_pending_timestamp_seconds{` + ofPerch + `})`, "{{perch}} {{destination}}"}},
			steps:   []step{{0, warn}, {3600, bad}}, style: style{names: true, plain: true},
		},
		{
			look: lookSeries, title: "Problems by part", wide: 6, tall: 8, unit: "short", decimals: new(0.0), min: new(0.0),
			about:   "`state`: its file or ConfigMap; `push`: the Pushgateway; `notices`: a destination; `config`: what is configured; `internal`: a bug in perch, please report it.",
			queries: []query{{each("part", "perch_problems_total", ofPerch), "{{part}}"}},
			style:   style{bars: true, least: "10m"},
		},
	}
}

// deliveryInks tell destinations apart, and what failed from what did not.
func deliveryInks() []ink {
	return []ink{
		{"slack delivered", good, false}, {"webhook delivered", info, false}, {"alertmanager delivered", light, false},
		{"slack failed", bad, false}, {"webhook failed", warn, false}, {"alertmanager failed", purple, false},
	}
}

// itselfServe is of `perch serve` alone: a CronJob's Pod reads its config anew
// each time, and needs no leader.
func itselfServe() []panel {
	return []panel{
		{
			look: lookStates, title: "Config", page: "serve", wide: 7, tall: 6, unit: "none", empty: "no perch serve",
			about:   "Whether perch took its config in when it last changed. *refused*: the one before it runs on, and a restart would not come up. Its log says each mistake with its line.",
			queries: []query{{`min by (perch, vantage, shard) (perch_config_last_reload_successful{` + ofPerch + `})`, "{{perch}} {{vantage}} {{shard}}"}},
			words:   []word{{1, "taken in", good}, {0, "refused", bad}}, steps: []step{{0, bad}, {1, good}},
		},
		{
			look: lookStat, title: "Age of the config", page: "serve", wide: 5, tall: 6, unit: "s", decimals: new(1.0), empty: "NO PERCH SERVE",
			about:   "How long ago perch took in the config that runs now: at its start, or since a change. Older than your last change: perch refused that, or the ConfigMap has not reached the Pod, which takes a minute or two.",
			queries: []query{{`time() - max by (perch, vantage) (perch_config_last_reload_success_timestamp_seconds{` + ofPerch + `})`, "{{perch}} {{vantage}}"}},
			steps:   []step{{0, info}}, style: style{names: true, plain: true},
		},
		{
			look: lookSeries, title: "Replicas", page: "deploy", wide: 6, tall: 6, unit: "short", decimals: new(0.0), min: new(0.0), empty: "no replicas",
			about: "Of replicas that elect a leader, one probes and the others stand by. No leader for longer than 20 seconds: nothing is probed, see `/readyz` of each. None stands by: the next node that fails stops perch until its Pod is moved.",
			queries: []query{
				{`sum by (perch, vantage, shard) (perch_leader{` + ofPerch + `})`, "{{perch}} {{vantage}} {{shard}} leads"},
				{`sum by (perch, vantage, shard) (1 - perch_leader{` + ofPerch + `})`, "{{perch}} {{vantage}} {{shard}} stands by"},
			},
			inks: []ink{{"/ leads$/", good, false}, {"/ stands by$/", light, true}},
		},
		{
			look: lookSeries, title: "Ticks missed", page: "serve", wide: 6, tall: 6, unit: "short", decimals: new(0.0), min: new(0.0), empty: "no perch serve",
			about:   "How often each 10 minutes a probe did not run though it was due: its last wave was not over. Make its `every` longer, or its holds fewer. All probes at one time: perch itself was held up, see *Scheduling delay*.",
			queries: []query{{each("target, probe", "perch_ticks_missed_total", ofProbe), "{{target}} / {{probe}}"}},
			style:   style{bars: true, least: "10m"},
		},
	}
}

func itselfCosts() []panel {
	return []panel{
		{
			look: lookSeries, title: "Requests sent", page: "safety", wide: 6, tall: 8, unit: "reqps", min: new(0.0),
			about:   "Every request, controls and second tries included. It must stay below the API's limit times `share`: *Budget in use* on *Overview* compares the two.",
			queries: []query{{`sum by (target) (rate(perch_requests_total{` + ofTarget + `}[$window]))`, "{{target}}"}},
		},
		{
			look: lookSeries, title: "Waited for budget", page: "safety", wide: 6, tall: 8, unit: "s", min: new(0.0),
			about:   "Time that requests waited at the last gate, in the window. The plan makes it 0: if it is not, holds were longer than said. Please report it.",
			queries: []query{{`sum by (target) (increase(perch_budget_wait_seconds_total{` + ofTarget + `}[$window]))`, "{{target}}"}},
		},
		{
			look: lookSeries, title: "Series", page: "metrics", wide: 6, tall: 8, unit: "short", decimals: new(0.0), min: new(0.0),
			about:   "How many series each perch has in Prometheus. `metrics.max_series` bounds it; `perch plan` says what they are for.",
			queries: []query{{`count by (perch, vantage) ({__name__=~"perch_.+",` + ofPerch + `})`, "{{perch}} {{vantage}}"}},
		},
		{
			look: lookStat, title: "Versions", wide: 6, tall: 8, unit: "none", empty: "NO PERCH",
			about:   "How many perches run each version, with the Go that built it and its revision. Several for long: a rollout is stuck.",
			queries: []query{{`count by (version, goversion, revision) (perch_build_info{` + ofPerch + `})`, "{{version}} {{goversion}} {{revision}}"}},
			steps:   []step{{0, info}}, style: style{names: true, plain: true},
		},
	}
}
