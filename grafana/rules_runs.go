package grafana

import (
	"fmt"
	"time"
)

// What these rules rest on: a pushed series is a staircase that rises once a
// run, and a scraped one of `perch serve` is the same. So a run is counted by
// its step, with changes() and differences of raw values. increase() would
// guess beyond the first and last sample of its range, and an age in seconds
// would need to know the schedule, which perch itself does not.

// ruleMemory is how far back the steps of runs are looked for, and ruleStep how
// often: of a CronJob that runs each minute every second run is seen, of others all.
const (
	ruleMemory = 24 * time.Hour
	ruleStep   = 2 * time.Minute
)

// judgedRuns is of how many runs rules judge.
const judgedRuns = 7

// perchLabels are those of one perch; shard is there where it is sharded. Pods and
// scrapes come and go: what is counted goes on across them.
const perchLabels = "perch, vantage, shard"

const probeLabels = perchLabels + ", target, probe"

// runsTotal counts runs. It rises by one with each.
const runsTotal = "perch:runs:total"

// runsLatest is runsTotal, an hour longer than a Pushgateway that forgot.
const runsLatest = "perch:runs:latest"

func (o RuleOptions) runsRules() []Rule {
	return []Rule{
		{Record: runsTotal, Expr: fmt.Sprintf("sum by (%s) (max by (%s, verdict) (perch_runs_total))", perchLabels, perchLabels)},
		{Record: runsLatest, Expr: fmt.Sprintf("last_over_time(%s[%s])", runsTotal, o.span(time.Hour))},
	}
}

// within keeps the samples of the last runs: from the one before the first of
// them, so that its step is seen, to the newest. What counted further than now
// was another life of the counters, before a state was lost.
func (o RuleOptions) within(series string) string {
	return fmt.Sprintf(`(
    %s
    and on (%s) ((%s >= (%s @ end() - %d)) <= %s @ end())
  )[%s:%s]`, series, perchLabels, runsTotal, runsLatest, judgedRuns, runsLatest, o.span(ruleMemory), o.span(ruleStep))
}

// risen counts in how many of the last runs a counter rose.
func (o RuleOptions) risen(counter string) string {
	return "changes(" + o.within(fmt.Sprintf("max by (%s) (%s)", perchLabels, counter)) + ")"
}

// alive keeps what is of a perch that completed a run within a day. A
// Pushgateway keeps the series of a perch that is gone, or sits under another
// vantage now, for good.
func (o RuleOptions) alive() string {
	return fmt.Sprintf("and on (%[1]s) time() - max by (%[1]s) (last_over_time(perch_run_last_completed_timestamp_seconds[%[2]s])) < %[3]s",
		perchLabels, o.span(time.Hour), o.number(ruleMemory))
}
