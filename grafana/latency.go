package grafana

// latency shows how long answers take, and in which phase.
func latency() board {
	return board{
		file: "latency.json", uid: "perch-latency", title: "Latency", from: "now-24h",
		about:    "How long answers take, in which phase the time goes, and what a fresh connection costs beside a reused one. Only attempts that were answered count.",
		sections: []section{{"Now", latencyNow()}, {"Answers", latencyAnswers()}, {"Phases", latencyPhases()}},
	}
}

const (
	answerTime = "perch_attempt_duration_seconds"
	phaseTime  = "perch_phase_duration_seconds"
)

func latencyNow() []panel {
	const fresh = ofProbe + `,connection="fresh"`
	number := func(title, expr, about string) panel {
		return panel{
			look: lookStat, title: title, wide: 6, tall: 4, unit: "s", empty: "NO ANSWER YET", about: about,
			queries: []query{{expr, title}}, steps: []step{{0, info}}, style: style{spark: true, plain: true},
		}
	}
	handshake := ofProbe + `,phase=~"dns|connect|tls"`
	connects := ofProbe + `,phase="connect"`
	return []panel{
		number("Half of the answers", quantile(0.5, "", answerTime, fresh),
			"On fresh connections: half took at most this. When it grows, all are slower: look at *Phases* for where."),
		number("95% of the answers", quantile(0.95, "", answerTime, fresh),
			"On fresh connections: 19 of 20 took at most this. Set the client's response timeout well above it."),
		number("95% on reused connections", quantile(0.95, "", answerTime, ofProbe+`,connection="reused"`),
			"What callers feel whose pool works. Near the time of fresh ones: nothing is gained by reuse, look at the server."),
		number("A new connection costs", "histogram_sum(sum(rate("+phaseTime+"{"+handshake+"}[$window]))) / histogram_count(sum(rate("+phaseTime+"{"+connects+"}[$window])))\n"+
			"or sum(rate("+phaseTime+"_sum{"+handshake+"}[$window])) / sum(rate("+phaseTime+"_count{"+connects+"}[$window]))",
			"Name, TCP and TLS together, on average: what each call pays that finds no connection in the pool."),
	}
}

func latencyAnswers() []panel {
	return []panel{
		{
			look: lookHeat, title: "Answers by how long they took", wide: 12, tall: 9, unit: "s", empty: "no answer yet",
			about:   "Each column is 10 minutes; the darker, the more answers. Two bands are two kinds of answers: a cache, or a slow server among several. Choose a probe above to tell them apart.",
			queries: []query{{spread(answerTime, ofProbe), "{{le}}"}}, style: style{least: "10m", traces: true},
		},
		{
			look: lookSeries, title: "Quantiles", wide: 12, tall: 9, unit: "s", min: new(0.0), empty: "no answer yet",
			about: "All answers; a point above the lines is one call, and leads to its trace. If only the highest line moves, few calls are hit: look for a slow server or lost packets. With classic histograms a value lies anywhere within its bucket.",
			queries: []query{
				{quantile(0.5, "", answerTime, ofProbe), "50%"}, {quantile(0.95, "", answerTime, ofProbe), "95%"}, {quantile(0.99, "", answerTime, ofProbe), "99%"},
			},
			inks: []ink{{"50%", light, false}, {"95%", info, false}, {"99%", purple, false}}, style: style{traces: true},
		},
		{
			look: lookSeries, title: "Fresh against reused", wide: 12, tall: 9, unit: "s", min: new(0.0), empty: "no answer yet",
			about: "95% of the answers, from the first request byte to the last byte of the answer, without the handshake. Reused far above fresh: connections age badly, see *Connection reuse*.",
			queries: []query{ // the dashed control comes last, over a line that it may cover
				{quantile(0.95, "connection", answerTime, ofProbe+`,connection!="control"`), "{{connection}}"},
				{quantile(0.95, "connection", answerTime, ofProbe+`,connection="control"`), "{{connection}}"},
			},
			inks: []ink{{"fresh", light, false}, {"reused", good, false}, {"control", purple, true}}, style: style{traces: true},
		},
		{
			look: lookSeries, title: "Targets", wide: 12, tall: 9, unit: "s", min: new(0.0), empty: "no answer yet",
			about:   "95% of the answers of each target. One alone that is slow is that API; all at once are the path, or perch's own node: see *perch itself*.",
			queries: []query{{quantile(0.95, "target", answerTime, ofProbe), "{{target}}"}}, style: style{traces: true},
		},
	}
}

func latencyPhases() []panel {
	return []panel{
		{
			look: lookSeries, title: "Where the time goes", wide: 12, tall: 9, unit: "s", min: new(0.0), empty: "no answer yet",
			about:   "Mean of each phase. `dns`: the resolver; `connect`, `tls`: the path and the server's edge; `wait`: the API thinks; `transfer`: the body. Take the widest to its owner.",
			queries: []query{{mean("phase", phaseTime, ofProbe), "{{phase}}"}},
			inks:    phaseInks(), style: style{stacked: true},
		},
		{
			look: lookSeries, title: "The slowest of each phase", wide: 12, tall: 9, unit: "s", empty: "no answer yet",
			about:   "95% of each phase took at most this. Classic histograms have three buckets here (10 ms, 100 ms, 1 s): read the order of magnitude, not the digits.",
			queries: []query{{quantile(0.95, "phase", phaseTime, ofProbe), "{{phase}}"}},
			inks:    phaseInks(), style: style{log: true, traces: true},
		},
	}
}

func phaseInks() []ink {
	return []ink{{"dns", purple, false}, {"connect", light, false}, {"tls", info, false}, {"wait", warn, false}, {"transfer", good, false}}
}
